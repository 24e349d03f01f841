"""What an opponent plays and whether it takes a draw: pure functions of game, position, history, level and seed."""

from collections.abc import Collection, Sequence
from hashlib import sha256
from random import Random
from typing import Final, Generic, NamedTuple, TypeVar

from domain.game import Game, GameOver, M, P
from domain.search.levels import LEVELS
from domain.search.negamax import Candidate, Search
from domain.search.values import clamp_evaluation

T = TypeVar("T")

ENGINE: Final = 2
"""The version of the search. Anything that may change a choice raises it, so that a stored choice can be repeated."""

RARE: Final = 32
"""So many moves of the kinds that a game never lists are considered beside all others."""

CLEARLY_WORSE: Final = -150
"""An opponent accepts a draw from here down: a piece and a half of the smallest behind."""


class Choice(NamedTuple, Generic[T]):
    """A chosen move, its value for the seat that plays it, the plies looked ahead and the positions visited.

    The value is in hundredths of the smallest piece; beyond ``values.UNDECIDED`` it is the end of the game.
    """

    move: T
    value: int
    depth: int
    nodes: int


def choose(game: Game[P, M], position: P, history: Sequence[P], level: int, seed: int) -> Choice[M]:
    """Return the move of an opponent of ``level`` (1 to 8) for the seat to move.

    ``history`` is the earlier positions of the game, oldest first. The same arguments give the same choice on every
    machine; another ``seed`` may give another of several good moves. No more than the nodes of the level are visited.
    Raises GameOver when there is no move, KeyError for an unknown level.
    """
    strength = LEVELS[level]
    moves, rare = _root_moves(game, position)
    if not moves:
        raise GameOver("the game is over: there is no move to choose")
    seat = game.to_move(position)
    if len(moves) == 1:
        return Choice(moves[0], clamp_evaluation(game.evaluate(position, seat)), 0, 0)
    # Of all that it can draw, Random promises only the fractions to every later version of Python.
    fraction = Random(f"{ENGINE}/{seed}/{len(history)}").random  # noqa: S311
    seen = [move for move in moves if fraction() >= strength.overlooks] or [moves[int(fraction() * len(moves))]]
    candidates = [Candidate(move, int(fraction() * (strength.spread + 1)), move in rare) for move in seen]
    search = Search(game, seat, game.seats_at(position), history, strength.nodes)
    return Choice(*search.best(position, candidates, strength.depth))


def seed_for(match_seed: str, ply: int) -> int:
    """Return the seed of the search for a ply: 48 bits of the SHA-256 of the match's seed, "/" and the ply in decimal.

    It is public once the move is made, like the digest of the event that has the match's seed. That seed must
    therefore have far more bits than anybody can try.
    """
    return int.from_bytes(sha256(f"{match_seed}/{ply}".encode()).digest()[:6], "big")


def accepts_draw(game: Game[P, M], position: P, history: Sequence[P], level: int, seat: int) -> bool:
    """Tell whether an opponent of ``level`` on ``seat`` takes a draw: its search says that it stands clearly worse.

    It may be any seat's turn. Of an ended game the answer is no. Raises KeyError for an unknown level.
    """
    strength = LEVELS[level]
    moves, rare = _root_moves(game, position)
    if not moves:
        return False
    search = Search(game, seat, game.seats_at(position), history, strength.nodes)
    candidates = [Candidate(move, 0, move in rare) for move in moves]
    return search.best(position, candidates, strength.depth).value <= CLEARLY_WORSE


def _root_moves(game: Game[P, M], position: P) -> tuple[list[M], Collection[M]]:
    """Return the moves to choose from in the order of the game, and which of them are of kinds that it never lists."""
    rare = game.candidates(position, RARE)
    moves = game.order(position, [*game.legal_moves(position), *rare])
    if not moves and (last := game.unlisted_move(position)) is not None:
        moves = rare = [last]
    return moves, set(rare)
