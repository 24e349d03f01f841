"""How The Tower Game ends (rules, "End of the game and result")."""

from collections.abc import Hashable, Sequence
from typing import Final

from domain.game import Outcome
from domain.history import occurrences
from domain.tower_game.moves import MAX_HALFMOVE_CLOCK, any_move
from domain.tower_game.position import BLACK, KING, PAWN, Position, in_check, occupied

LONE_MEN: Final = range(KING + 1, PAWN - 1)
"""Rook, Bishop, Merchant, Knight, Captain and Jester: a King and one of them cannot mate [TG-23]."""


def key(position: Position) -> Hashable:
    """Return the first four fields of the position: the same for positions that count as the same [TG-22]."""
    return position[0], position[2], position[3], position[4]


def has_insufficient_material(position: Position) -> bool:
    """Return whether the men left are King against King, or King and one man other than Fool or Pawn against King."""
    if (occupied(position.men, 0) | occupied(position.men, 1)).bit_count() > 3:
        return False
    left = [code for code in position.board if code]
    return all(code in LONE_MEN or code - BLACK in LONE_MEN for code in left if code not in (KING, KING + BLACK))


def outcome(position: Position, history: Sequence[Position]) -> Outcome | None:
    """Return how the game has ended, or None; the first of the five conditions in the order of the rules [TG-24]."""
    side = position.side
    if not any_move(position):
        checkmate = in_check(position)
        own, other = (0.0, 1.0) if checkmate else (0.25, 0.75)
        return Outcome((own, other) if side == 0 else (other, own), "checkmate" if checkmate else "stalemate")
    if has_insufficient_material(position):
        return Outcome((0.5, 0.5), "insufficient-material")
    if occurrences(position, history, key) >= 2:
        return Outcome((0.5, 0.5), "repetition")
    if position.halfmove_clock >= MAX_HALFMOVE_CLOCK:
        return Outcome((0.5, 0.5), "no-progress")
    return None


def outcome_by_history(position: Position, history: Sequence[Position]) -> Outcome | None:
    """Return the same as ``outcome`` of a position that has a legal move: the other four conditions leave none."""
    return Outcome((0.5, 0.5), "repetition") if occurrences(position, history, key) >= 2 else None


def is_drawn(position: Position) -> bool:
    """Return whether the game is drawn by the position alone although moves exist (conditions 3 and 5)."""
    return position.halfmove_clock >= MAX_HALFMOVE_CLOCK or has_insufficient_material(position)
