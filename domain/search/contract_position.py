"""The contract's own position, as the search plays on it."""

from collections.abc import Hashable
from typing import Any, TypeVar

from domain.game import Game, Outcome
from domain.search_position import SearchPosition

T = TypeVar("T")


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

    def expected_move(self, moves: list[T], gains: list[int]) -> T:
        """Return the game's expected move."""
        return self._game.expected_move(self._position, moves, gains)

    def evaluate(self, seat: int) -> int:
        """Return the game's evaluation."""
        return self._game.evaluate(self._position, seat)

    def play(self, move: T) -> "ContractPosition[T]":
        """Return the game's position after ``move``."""
        return ContractPosition(self._game, self._game.play(self._position, move))
