"""Random moves and random trees of conditional moves for simulated players."""

from itertools import islice
from random import Random
from typing import Any

from domain.game import AnyGame
from domain.games import find_ruleset
from domain.match.enums import LineAction
from domain.match.lines import ANY, Line
from domain.match.state import MatchState

FAMILIAR_MOVES = 3
"""Players mostly choose among the first few moves of a position, so that conditional moves are often met."""

MAX_CANDIDATES = 20


def random_move(state: MatchState, random: Random) -> str:
    """Return a random legal move of the seat to move, in canonical form."""
    game = find_ruleset(state.game, state.ruleset)
    return _text(game, state.play.position, _moves(game, state.play.position, 1, random)[0])


def random_lines(state: MatchState, seat: int, random: Random) -> tuple[Line, ...]:
    """Return random conditional moves of ``seat`` from the current position; may be empty."""
    game = find_ruleset(state.game, state.ruleset)
    if game.to_move(state.play.position) != seat and len(state.seats) == 2 and random.random() < 0.15:
        answer = _moves(game, state.play.position, 1, random)
        after = game.play(state.play.position, answer[0])
        if game.outcome(after, ()) is None:
            reply = _text(game, after, _moves(game, after, 1, random)[0])
            return (Line(move=ANY, then=None, next=(Line(move=reply),)),)
    return _random_tree(game, state.play.position, seat, random.randint(2, 5), random, root=True)


def _random_tree(
    game: AnyGame, position: Any, seat: int, depth: int, random: Random, root: bool = False
) -> tuple[Line, ...]:
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
            following = _random_tree(game, game.play(position, move), seat, depth - 1, random)
        lines.append(Line(move=_text(game, position, move), then=then, next=following))
    return tuple(lines)


def _moves(game: AnyGame, position: Any, most: int, random: Random) -> list[Any]:
    """Return 1 to ``most`` different legal moves of a position that is not over."""
    familiar = random.random() < 0.8
    seen = list(islice(game.legal_moves(position), FAMILIAR_MOVES if familiar else MAX_CANDIDATES)) or [
        game.any_unlisted_move(position)
    ]
    return random.sample(seen, min(most, len(seen)))


def _text(game: AnyGame, position: Any, move: Any) -> str:
    return game.format_move(position, move)
