"""A player's conditional moves as the match page shows them: a tree of moves, the played ones marked.

Only for the seat of the viewer: conditional moves are private.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct

from domain.game import AnyGame, RulesError
from domain.games import find_ruleset
from domain.match.lines import ANY, Line, Lines
from domain.match.state import MatchState


class Node(Struct, frozen=True, kw_only=True):
    """A move of a tree: ``move`` in canonical form, and as players spell it.

    ``seat`` makes the move (None: unknown, after any other move). ``then`` is what follows the move beside ``next``.
    """

    move: str
    spelled: str
    seat: int | None
    then: str | None
    played: bool
    next: list["Node"]


def describe_tree(state: MatchState, lines: Lines) -> list[Node]:
    """Return the tree of ``lines``, with the moves marked that have been played since."""
    game = find_ruleset(state.game, state.ruleset)
    begins = game.parse_position(lines.position)
    follows = (
        lines.ply <= len(state.play.moves)
        and game.format_position(state.play.position_after(lines.ply)) == lines.position
    )
    return _nodes(game, begins, lines.first, state.play.moves[lines.ply :] if follows else ())


def _nodes(game: AnyGame, position: Any, lines: Iterable[Line], played: Sequence[str]) -> list[Node]:
    """Return the nodes of ``lines`` from ``position`` (None: unknown), after which ``played`` has been played."""
    lines = list(lines)
    listed = {line.move for line in lines}
    return [_node(game, position, line, listed, played) for line in lines]


def _node(game: AnyGame, position: Any, line: Line, listed: set[str], played: Sequence[str]) -> Node:
    happened = bool(played) and (line.move == played[0] or (line.move == ANY and played[0] not in listed))
    after, spelled = None, line.move
    if position is not None:
        try:
            move = game.parse_move(position, line.move)
        except RulesError:
            pass  # any other move, or the answer to it: the position after it is unknown
        else:
            after, spelled = game.play(position, move), game.display_move(position, move)
    return Node(
        move=line.move,
        spelled=spelled,
        seat=None if position is None else game.to_move(position),
        then=line.then,
        played=happened,
        next=_nodes(game, after, line.next, played[1:] if happened else ()),
    )
