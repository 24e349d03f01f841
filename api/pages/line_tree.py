"""The conditional lines of the viewer as the page shows them: a tree of moves as they are spelled, and where it stands.

Only ever asked for the seat of the person who looks: lines are nobody else's.
"""

from typing import Any

from domain.game import RulesError
from domain.games import find_ruleset
from domain.match.lines import ANY, Line, Lines
from domain.match.state import MatchState


def describe_tree(state: MatchState, lines: Lines) -> list[dict[str, Any]]:
    """Return the tree of ``lines`` as JSON values.

    Each move has ``move`` in canonical form, ``spelled``, the ``seat`` that makes it (None: not known, after any move),
    ``then``, ``next``, and ``played``, which tells whether it has been played.
    """
    game = find_ruleset(state.game, state.ruleset)

    def shown(position: Any, first: tuple[Line, ...], played: tuple[str, ...] | None) -> list[dict[str, Any]]:
        named = {line.move for line in first}
        return [branch(position, line, named, played) for line in first]

    def branch(position: Any, line: Line, named: set[str], played: tuple[str, ...] | None) -> dict[str, Any]:
        latest = played[0] if played else None
        happened = latest is not None and (latest == line.move or (line.move == ANY and latest not in named))
        after, spelled, seat = None, line.move, None
        if position is not None:
            seat = game.to_move(position)
            try:
                move = game.parse_move(position, line.move)
            except RulesError:
                pass  # any move, or what follows it: where that leads is not known
            else:
                after, spelled = game.play(position, move), game.display_move(position, move)
        rest = played[1:] if played and happened else None
        return {
            "move": line.move,
            "spelled": spelled,
            "seat": seat,
            "then": line.then,
            "played": happened,
            "next": shown(after, line.next, rest),
        }

    begins = game.parse_position(lines.position)
    stood = (
        lines.ply <= len(state.play.moves)
        and game.format_position(state.play.position_after(lines.ply)) == lines.position
    )
    return shown(begins, lines.first, state.play.moves[lines.ply :] if stood else None)
