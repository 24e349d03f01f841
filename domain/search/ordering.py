"""The order in which the search tries moves: those that have proved good elsewhere first."""

from collections.abc import Sequence
from operator import itemgetter
from typing import Final, Generic, TypeVar

from domain.game import NOISY_GAIN

T = TypeVar("T")

BY_WEIGHT: Final = itemgetter(0)
_TABLE_MOVE: Final = 1 << 60
_NOISY: Final = 1 << 50
_KILLER: Final = 1 << 49
_COUNTERMOVE: Final = 1 << 48
_HISTORY_SHIFT: Final = 12
QUIET: Final = 1 << 47
"""The weights of quiet moves without particular merits lie below."""
MAX_HISTORY: Final = 1 << 30


class Ordering(Generic[T]):
    """The results of a search with its quiet moves.

    Killers are the last moves that refuted another one at a ply, countermoves the last refutation of a move. The
    history heuristic adds up for each move how often, and how deep, it refuted another one; moves tried before it lose.
    """

    def __init__(self) -> None:
        self._killers: dict[int, T] = {}
        self._countermoves: dict[T, T] = {}
        self._history: dict[T, int] = {}

    def rank(
        self, moves: Sequence[T], gains: Sequence[int], ply: int, previous: T | None, table_move: T | None
    ) -> list[tuple[int, T]]:
        """Return weights and moves, the most promising first, equals as given."""
        killer = self._killers.get(ply)
        countermove = self._countermoves.get(previous) if previous is not None else None
        history = self._history
        ranked = []
        for number, move in enumerate(moves):
            gain = gains[number]
            weight = _NOISY + gain if gain >= NOISY_GAIN else (history.get(move, 0) << _HISTORY_SHIFT) + gain
            if move == table_move:
                weight = _TABLE_MOVE
            elif move == killer and weight < _NOISY:
                weight = _KILLER
            elif move == countermove and weight < _NOISY:
                weight = _COUNTERMOVE
            ranked.append((weight, move))
        if len(ranked) > 1:
            ranked.sort(key=BY_WEIGHT, reverse=True)
        return ranked

    def reward(self, ranked: Sequence[tuple[int, T]], number: int, depth: int, ply: int, previous: T | None) -> None:
        """Learn that the move with ``number`` among ``ranked`` has refuted the one before it."""
        weight, move = ranked[number]
        if weight >= _NOISY and weight != _TABLE_MOVE:
            return
        self._killers[ply] = move
        if previous is not None:
            self._countermoves[previous] = move
        history, bonus = self._history, depth * depth
        history[move] = min(history.get(move, 0) + bonus, MAX_HISTORY)
        for tried_weight, tried in ranked[:number]:
            if tried_weight < QUIET:
                history[tried] = max(history.get(tried, 0) - bonus, -MAX_HISTORY)

    def age(self) -> None:
        """Halve the counts of the history, so that later results count more."""
        self._history = {move: count // 2 for move, count in self._history.items()}
