"""How Four Towers ends (rules, section 7)."""

from collections.abc import Hashable, Sequence

from domain.four_towers import compound_moves, multi_move_search
from domain.four_towers.attacks import in_check
from domain.four_towers.board import SQUARES
from domain.four_towers.legal_moves import Turn
from domain.four_towers.moves import Multi, Rearrangement
from domain.four_towers.position import NEVER, QUIET_CLOCK, Position, occupied_by
from domain.game import Outcome, StepBudget
from domain.history import occurrences

GLANCE = 100
"""Trials of components of multi-moves after which an end is not seen at a glance."""


def key(position: Position) -> Hashable:
    """Return the fields 1 to 5 of the position: the same for positions that count as the same [FT-26]."""
    return position[0], position[2], position[3], position[4], position[5]


def checked(position: Position) -> bool:
    """Tell whether the side to move is in check."""
    white, black = position.memories
    occupied = occupied_by(position.men, 0) | occupied_by(position.men, 1)
    return in_check(position.men, position.side, white | black, occupied)


def unlisted_move(
    position: Position, most: int | None = None, budget: StepBudget | None = None
) -> Multi | Rearrangement | None:
    """Return a legal rearrangement or multi-move of a position, or None when there is none.

    Raises TrialsExceededError when the answer takes more than ``most`` trials of components, OutcomeUnknownError when
    it takes more than ``budget``.
    """
    return compound_moves.any_rearrangement(position) or multi_move_search.any_multi(position, most, budget)


def _bare(position: Position) -> bool:
    """Tell whether only the kings are left and nothing may return."""
    return position.returning == NEVER and position.board.count(0) == SQUARES - 2


def drawn(position: Position) -> bool:
    """Tell whether the game is drawn by the position alone although moves exist (conditions 3 and 5)."""
    return position.clock >= QUIET_CLOCK or _bare(position)


def outcome(
    position: Position, history: Sequence[Position], most: int | None = None, budget: StepBudget | None = None
) -> Outcome | None:
    """Return how the game has ended, or None; the first of the five conditions in the order of the rules.

    Raises as ``unlisted_move`` does.
    """
    if not Turn(position).any_move() and unlisted_move(position, most, budget) is None:
        if not checked(position):
            return Outcome((0.5, 0.5), "stalemate")
        return Outcome((0.0, 1.0) if position.side == 0 else (1.0, 0.0), "checkmate")
    if _bare(position):
        return Outcome((0.5, 0.5), "insufficient-material")
    if occurrences(position, history, key) >= 2:
        return Outcome((0.5, 0.5), "repetition")
    if position.clock >= QUIET_CLOCK:
        return Outcome((0.5, 0.5), "no-progress")
    return None


def outcome_by_history(position: Position, history: Sequence[Position]) -> Outcome | None:
    """Return the same as ``outcome`` of a position that has a legal move: the other four conditions leave none."""
    return Outcome((0.5, 0.5), "repetition") if occurrences(position, history, key) >= 2 else None


def fast_outcome(position: Position, history: Sequence[Position]) -> Outcome | None:
    """Return the same as ``outcome``, or None when that takes too many trials of multi-moves."""
    try:
        return outcome(position, history, GLANCE)
    except compound_moves.TrialsExceededError:
        return None
