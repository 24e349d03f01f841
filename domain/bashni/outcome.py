"""How a game of Bashni ends (section 7)."""

from collections.abc import Sequence

from domain.bashni.board import MAX_HALFMOVE_CLOCK
from domain.bashni.moves import can_move
from domain.bashni.position import Position
from domain.game import Outcome
from domain.history import occurrences

Key = tuple[int, int, int, tuple[str, ...], int]

_LOSSES = (Outcome((0.0, 1.0), "no-moves"), Outcome((1.0, 0.0), "no-moves"))
_NO_PROGRESS = Outcome((0.5, 0.5), "no-progress")
_REPETITION = Outcome((0.5, 0.5), "repetition")


def outcome(position: Position, history: Sequence[Position]) -> Outcome | None:
    """Return how the game has ended, or None while it goes on; the first condition of section 7 that holds decides."""
    if not can_move(position):
        return _LOSSES[position.side]
    if position.halfmove_clock >= MAX_HALFMOVE_CLOCK:
        return _NO_PROGRESS
    return _REPETITION if occurrences(position, history, key) >= 2 else None


def key(position: Position) -> Key:
    """Return board and side to move: two positions are the same when these are (section 7, condition 3)."""
    white, black, kings, below, side, _ = position
    return white, black, kings, below, side
