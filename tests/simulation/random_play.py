"""What comes to the mind of a simulated player: a move to play, and lines of what might follow."""

from itertools import islice
from random import Random
from typing import Any

from domain.game import AnyGame
from domain.games import find_ruleset
from domain.match.enums import LineAction
from domain.match.lines import ANY, Line
from domain.match.state import MatchState

FAMILIAR = 3
"""So many of a position's moves everybody thinks of first: what one has laid down, the other may well play."""

SEEN = 20


def move_for(state: MatchState, random: Random) -> str:
    """Return a legal move of the seat to move, in canonical form."""
    game = find_ruleset(state.game, state.ruleset)
    return _text(game, state.position, _moves(game, state.position, 1, random)[0])


def lines_for(state: MatchState, seat: int, random: Random) -> tuple[Line, ...]:
    """Return lines of ``seat`` from where the match stands; none when nothing comes to mind."""
    game = find_ruleset(state.game, state.ruleset)
    if game.to_move(state.position) != seat and len(state.seats) == 2 and random.random() < 0.15:
        answer = _moves(game, state.position, 1, random)
        after = game.play(state.position, answer[0])
        if game.outcome(after, ()) is None:
            reply = _text(game, after, _moves(game, after, 1, random)[0])
            return (Line(move=ANY, then=None, next=(Line(move=reply),)),)
    return _grown(game, state.position, seat, random.randint(2, 5), random, root=True)


def _grown(game: AnyGame, position: Any, seat: int, depth: int, random: Random, root: bool = False) -> tuple[Line, ...]:
    if depth == 0 or game.outcome(position, ()) is not None:
        return ()
    own = game.to_move(position) == seat
    lines = []
    for move in _moves(game, position, 1 if own and not root else 2, random):
        then = None
        if not own and random.random() < 0.12:
            then = random.choice([LineAction.RESIGN, LineAction.ACCEPT_DRAW, LineAction.ACCEPT_DRAW, LineAction.WAIT])
        following: tuple[Line, ...] = ()
        if then in (None, LineAction.ACCEPT_DRAW):
            following = _grown(game, game.play(position, move), seat, depth - 1, random)
        lines.append(Line(move=_text(game, position, move), then=then, next=following))
    return tuple(lines)


def _moves(game: AnyGame, position: Any, most: int, random: Random) -> list[Any]:
    """Return at most that many different legal moves; at least one, which a position that is not over has."""
    familiar = random.random() < 0.8
    seen = list(islice(game.legal_moves(position), FAMILIAR if familiar else SEEN)) or [
        game.unlisted.any_move(position)
    ]
    return random.sample(seen, min(most, len(seen)))


def _text(game: AnyGame, position: Any, move: Any) -> str:
    return game.format_move(position, move)
