"""Pairs of games between two players within one process: the same opening of the book, with exchanged seats."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import combinations, product
from random import Random
from typing import Any, TypeVar

from domain.game import AnyGame
from domain.history import History
from domain.search import choose, node_budget
from domain.search.negamax import Choice, RootMove, Search
from tests.tuning.book import Opening

Player = Callable[[AnyGame, Any, History, int], Choice[Any]]
"""Returns its choice in a position with a history and a seed."""

MAX_PLIES = 500
"""Plies after which a game is drawn."""
NOISE = 10
"""The largest noise on the values of moves, as with the highest levels."""
CLAIM_PLIES = 6
"""Plies in a row in which both players must agree that one of two seats has won."""


class Claims:
    """The agreement of two players on who has won: that one of them leads by at least ``lead``; never when it is 0."""

    def __init__(self, lead: int) -> None:
        self._lead = lead
        self._claimed, self._plies = -1, 0

    def winner(self, seat: int, value: int) -> int | None:
        """Return the seat that has won, once ``seat`` has found ``value`` for itself; None as long as it is open."""
        claimed = -1 if not self._lead or abs(value) < self._lead else seat if value > 0 else 1 - seat
        self._plies = self._plies + 1 if claimed == self._claimed else 1
        self._claimed = claimed
        return claimed if claimed >= 0 and self._plies >= CLAIM_PLIES else None


def level_player(level: int, divisor: int = 1) -> Player:
    """Return the player of a level of the product, which visits that level's nodes divided by ``divisor``."""

    def move(game: AnyGame, position: Any, history: History, seed: int) -> Choice[Any]:
        return choose(game, position, history, level, seed, node_budget(game.id, level) // divisor)

    return move


def budget_player(changed: AnyGame, nodes: int) -> Player:
    """Return a player that visits ``nodes`` for a move and judges positions as the game ``changed`` does."""

    def move(game: AnyGame, position: Any, history: History, seed: int) -> Choice[Any]:
        moves = game.order(position, game.legal_moves(position))
        if len(moves) == 1:
            return Choice(moves[0], changed.evaluate(position, game.to_move(position)), 0, 0)
        chance = Random(f"{seed}/{len(moves)}")
        root_moves = [RootMove(candidate, chance.randrange(NOISE + 1)) for candidate in moves]
        search = Search(changed, game.to_move(position), game.seats_at(position), history, nodes)
        return search.best(position, root_moves, 64)

    return move


def play(game: AnyGame, players: Sequence[Player], position: Any, lead: int = 0, number: int = 0) -> tuple[float, ...]:
    """Return the scores of a game from ``position`` between the players of the seats, cut short by ``Claims``.

    Games of different ``number`` draw different moves to overlook.
    """
    history = History(game)
    claims = Claims(lead if len(players) == 2 else 0)
    for ply in range(MAX_PLIES):
        outcome = game.outcome(position, history)
        if outcome is not None:
            return outcome.scores
        seat = game.to_move(position)
        choice = players[seat](game, position, history, MAX_PLIES * number + ply)
        winner = claims.winner(seat, choice.value)
        if winner is not None:
            return (1.0 - winner, float(winner))
        history = history.with_position(position)
        position = game.play(position, choice.move)
    return (1 / len(players),) * len(players)


def player_score(scores: Sequence[float], seats: Collection[int]) -> float:
    """Return the score of the player who had ``seats``, half of all, in a game that ended with ``scores``.

    Of two seats it is the share of the points. Of four it is the share of the encounters with a seat of the other
    player in which the own one came out ahead, ties as halves: the points of one seat come partly from the partner.
    """
    if len(scores) == 2:
        return sum(scores[seat] for seat in seats) / sum(scores)
    others = [seat for seat in range(len(scores)) if seat not in seats]
    encounters = [(scores[own], scores[other]) for own, other in product(seats, others)]
    return sum((1 + (own > other) - (own < other)) / 2 for own, other in encounters) / len(encounters)


def play_game(
    game: AnyGame, opening: Opening, first: Player, second: Player, lead: int = 0, exchanged: bool = False
) -> float:
    """Return the score of the first player in a game that begins with ``opening``, with seats ``exchanged`` or not.

    Among four seats each of the two has two. A game of two ends when both agree on a lead of ``lead``, unless it is 0.
    """
    seats = range(game.seats_at(opening.position))
    divisions = [half for half in combinations(seats, len(seats) // 2) if 0 in half]
    half = divisions[opening.number % len(divisions)]
    own = [seat for seat in seats if (seat in half) != exchanged]
    players = [first if seat in own else second for seat in seats]
    return player_score(play(game, players, opening.position, lead, 2 * opening.number + exchanged), own)


def play_pair(game: AnyGame, opening: Opening, first: Player, second: Player, lead: int = 0) -> float:
    """Return the average score of the first player in both games that begin with ``opening``."""
    scores = [play_game(game, opening, first, second, lead, exchanged) for exchanged in (False, True)]
    return sum(scores) / 2


T = TypeVar("T")
R = TypeVar("R")


def in_processes(function: Callable[[T], R], tasks: Iterable[T], jobs: int) -> Iterator[R]:
    """Yield the results of ``tasks`` in order, computed in so many processes."""
    if jobs == 1:
        yield from map(function, tasks)
    else:
        with ProcessPoolExecutor(jobs) as executor:
            yield from executor.map(function, tasks)
