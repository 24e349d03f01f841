"""A position as the search plays on it: by default the contract's own, or one that a game makes for speed."""

from collections.abc import Hashable
from typing import Any, Generic, TypeVar

from domain.game import Game, Outcome
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

    def evaluate(self, seat: int) -> int:
        """Return ``Game.evaluate``."""
        raise NotImplementedError

    def play(self, move: T) -> "SearchPosition[T]":
        """Return the position after a legal move."""
        raise NotImplementedError


class ContractPosition(SearchPosition[T]):
    """A position of the contract, and its game."""

    def __init__(self, game: Game[Any, T], position: Any) -> None:
        super().__init__(game.to_move(position))
        self._game = game
        self._position = position

    def key(self) -> Hashable:
        """Return the game's key."""
        key: Hashable = self._game.key(self._position)
        return key

    def outcome(self, repeated: bool) -> Outcome | None:
        """Return the game's outcome."""
        position = self._position
        return self._game.fast_outcome(position, (position, position) if repeated else ())

    def legal_moves(self) -> list[T]:
        """Return the game's moves."""
        return list(self._game.legal_moves(self._position))

    def unlisted_candidates(self, limit: int) -> list[T]:
        """Return the game's candidates."""
        return self._game.unlisted_candidates(self._position, limit)

    def is_forced(self) -> bool:
        """Return whether the game forces a move."""
        return self._game.is_forced(self._position)

    def noisy_moves(self) -> list[T]:
        """Return the game's noisy moves."""
        return list(self._game.noisy_moves(self._position))

    def gains(self, moves: list[T]) -> list[int]:
        """Return the game's gains."""
        return self._game.gains(self._position, moves)

    def evaluate(self, seat: int) -> int:
        """Return the game's evaluation."""
        return self._game.evaluate(self._position, seat)

    def play(self, move: T) -> "ContractPosition[T]":
        """Return the game's position after ``move``."""
        return ContractPosition(self._game, self._game.play(self._position, move))
