"""Pairs of games between two players within one process: the same opening of the book, with exchanged seats."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import combinations
from random import Random
from typing import Any, TypeVar

from domain.game import AnyGame
from domain.history import History
from domain.search import choose, node_budget
from domain.search.negamax import RootMove, Search
from tests.tuning.book import Opening

Player = Callable[[AnyGame, Any, History, int], Any]
"""Returns the move that it chooses in a position with a history and a seed."""

MAX_PLIES = 500
"""Plies after which a game is drawn."""
NOISE = 10
"""The largest noise on the values of moves, as with the highest levels."""


def level_player(level: int, divisor: int = 1) -> Player:
    """Return the player of a level of the product, which visits that level's nodes divided by ``divisor``."""

    def move(game: AnyGame, position: Any, history: History, seed: int) -> Any:
        return choose(game, position, history, level, seed, node_budget(game.id, level) // divisor).move

    return move


def budget_player(changed: AnyGame, nodes: int) -> Player:
    """Return a player that visits ``nodes`` for a move and judges positions as the game ``changed`` does."""

    def move(game: AnyGame, position: Any, history: History, seed: int) -> Any:
        moves = game.order(position, game.legal_moves(position))
        if len(moves) == 1:
            return moves[0]
        chance = Random(f"{seed}/{len(moves)}")
        root_moves = [RootMove(candidate, chance.randrange(NOISE + 1)) for candidate in moves]
        search = Search(changed, game.to_move(position), game.seats_at(position), history, nodes)
        return search.best(position, root_moves, 64).move

    return move


def play(game: AnyGame, players: Sequence[Player], position: Any) -> tuple[float, ...]:
    """Return the scores of a game from ``position`` between the players of the seats."""
    history = History(game)
    for ply in range(MAX_PLIES):
        outcome = game.outcome(position, history)
        if outcome is not None:
            return outcome.scores
        move = players[game.to_move(position)](game, position, history, ply)
        history = history.with_position(position)
        position = game.play(position, move)
    return (1 / len(players),) * len(players)


def play_pair(game: AnyGame, opening: Opening, first: Player, second: Player) -> float:
    """Return the average share of the points of the first player in two games that begin with ``opening``.

    Among four seats each of the two has two.
    """
    position = opening.position
    seats = range(game.seats_at(position))
    divisions = [half for half in combinations(seats, len(seats) // 2) if 0 in half]
    half = divisions[opening.number % len(divisions)]
    shares = []
    for own in (half, tuple(seat for seat in seats if seat not in half)):
        scores = play(game, [first if seat in own else second for seat in seats], position)
        shares.append(sum(scores[seat] for seat in own) / sum(scores))
    return sum(shares) / 2


T = TypeVar("T")
R = TypeVar("R")


def in_processes(function: Callable[[T], R], tasks: Iterable[T], jobs: int) -> Iterator[R]:
    """Yield the results of ``tasks`` in order, computed in so many processes."""
    if jobs == 1:
        yield from map(function, tasks)
    else:
        with ProcessPoolExecutor(jobs) as executor:
            yield from executor.map(function, tasks)
