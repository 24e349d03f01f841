"""How Four Towers ends (rules, section 7)."""

from collections.abc import Hashable, Sequence
from typing import Final

from domain.errors import StepBudget
from domain.four_towers import compound_moves, multi_move_search
from domain.four_towers.board import SQUARES
from domain.four_towers.legal_moves import generator_of
from domain.four_towers.moves import MultiMove, Rearrangement
from domain.four_towers.position import MAX_HALFMOVE_CLOCK, NO_RETURN, Position
from domain.game import Outcome
from domain.history import occurrences

FAST_TRIALS: Final = 100
"""Trials of components of multi-moves after which ``fast_outcome`` gives up."""


def key(position: Position) -> Hashable:
    """Return the fields 1 to 5 of the position: the same for positions that count as the same [FT-26]."""
    return position[0], position[2], position[3], position[4], position[5]


def in_check(position: Position) -> bool:
    """Return whether the side to move is in check."""
    return generator_of(position).in_check()


def unlisted_move(
    position: Position, max_trials: int | None = None, budget: StepBudget | None = None
) -> MultiMove | Rearrangement | None:
    """Return a legal rearrangement or multi-move of a position, or None when there is none.

    Raises TrialsExceededError beyond ``max_trials`` trials of components, OutcomeUnknownError when ``budget`` is spent.
    """
    return compound_moves.find_rearrangement(position) or multi_move_search.find_multi_move(
        position, max_trials, budget
    )


def _has_insufficient_material(position: Position) -> bool:
    return position.returning == NO_RETURN and position.board.count(0) == SQUARES - 2


def is_drawn(position: Position) -> bool:
    """Return whether the game is drawn by the position alone although moves exist (conditions 3 and 5)."""
    return position.halfmove_clock >= MAX_HALFMOVE_CLOCK or _has_insufficient_material(position)


def outcome(
    position: Position, history: Sequence[Position], max_trials: int | None = None, budget: StepBudget | None = None
) -> Outcome | None:
    """Return how the game has ended, or None; five conditions in the rules' order. Raises as ``unlisted_move``."""
    if not generator_of(position).any_move() and unlisted_move(position, max_trials, budget) is None:
        if not in_check(position):
            return Outcome((0.5, 0.5), "stalemate")
        return Outcome((0.0, 1.0) if position.side == 0 else (1.0, 0.0), "checkmate")
    if _has_insufficient_material(position):
        return Outcome((0.5, 0.5), "insufficient-material")
    if occurrences(position, history, key) >= 2:
        return Outcome((0.5, 0.5), "repetition")
    if position.halfmove_clock >= MAX_HALFMOVE_CLOCK:
        return Outcome((0.5, 0.5), "no-progress")
    return None


def outcome_by_history(position: Position, history: Sequence[Position]) -> Outcome | None:
    """Return the same as ``outcome`` of a position that has a legal move: the other four conditions leave none."""
    return Outcome((0.5, 0.5), "repetition") if occurrences(position, history, key) >= 2 else None


def bounded_outcome(position: Position, history: Sequence[Position], budget: StepBudget) -> Outcome | None:
    """Return the same as ``outcome``; raises OutcomeUnknownError when the budget of trials is spent."""
    return outcome(position, history, budget=budget)


def fast_outcome(position: Position, history: Sequence[Position]) -> Outcome | None:
    """Return the same as ``outcome``, or None when that takes too many trials of multi-moves."""
    try:
        return outcome(position, history, FAST_TRIALS)
    except compound_moves.TrialsExceededError:
        return None
