"""A position as the search plays on it: the contract's own, or one that a game makes for speed."""

from collections.abc import Hashable
from typing import Generic, TypeVar

from domain.game import Outcome
from domain.machine_integers import i64

T = TypeVar("T")


class SearchPosition(Generic[T]):
    """A position that is never changed, with the operations of ``Game`` that a search needs, and the same moves.

    Of the same position, all kinds give the same moves in the same order, the same gains, values and outcomes.
    """

    def __init__(self, side: i64) -> None:
        self.side: i64 = side
        """The seat to move."""

    def key(self) -> Hashable:
        """Return a value that is the same of two positions when ``Game.key`` is."""
        raise NotImplementedError

    def outcome(self, repeated: bool) -> Outcome | None:
        """Return ``Game.fast_outcome`` without a history, or of a position that has occurred twice before."""
        raise NotImplementedError

    def legal_moves(self) -> list[T]:
        """Return ``Game.legal_moves``."""
        raise NotImplementedError

    def unlisted_candidates(self, limit: int) -> list[T]:  # noqa: ARG002 - most games list all moves
        """Return ``Game.unlisted_candidates``."""
        return []

    def is_forced(self) -> bool:
        """Return ``Game.is_forced``."""
        raise NotImplementedError

    def noisy_moves(self) -> list[T]:
        """Return ``Game.noisy_moves``."""
        raise NotImplementedError

    def gains(self, moves: list[T]) -> list[int]:
        """Return ``Game.gains``."""
        raise NotImplementedError

    def expected_move(self, moves: list[T], gains: list[int]) -> T:
        """Return ``Game.expected_move``."""
        return moves[gains.index(max(gains))]

    def evaluate(self, seat: int) -> int:
        """Return ``Game.evaluate``."""
        raise NotImplementedError

    def play(self, move: T) -> "SearchPosition[T]":
        """Return the position after a legal move."""
        raise NotImplementedError
