"""How a game of Towers ends (section 7)."""

from collections.abc import Hashable, Sequence

from domain.game import Outcome
from domain.history import occurrences
from domain.towers.board import MAX_PUSHES
from domain.towers.features import can_act, goal_reached, goals_reached_by
from domain.towers.position import Position


def outcome(position: Position, history: Sequence[Position]) -> Outcome | None:
    """Return how the game has ended, or None while it goes on; the first rule of section 7 that applies decides."""
    _, features, supplies, side, pushes = position
    players = len(supplies)
    mover = (side - 1) % players
    if goal_reached(features, players):
        for step in range(players):
            seat = (mover + step) % players
            castles, crowned_castles = goals_reached_by(features, players, seat)
            if castles or crowned_castles:
                return _won(players, seat, "castles" if castles else "crowned-castles")
    if not can_act(features, side, supplies[side]):
        return _won(players, mover, "no-moves")
    if occurrences(position, history, key) >= 2:
        return _drawn(players, "repetition")
    if pushes >= MAX_PUSHES:
        return _drawn(players, "no-progress")
    return None


def outcome_by_history(position: Position, history: Sequence[Position]) -> Outcome | None:
    """Return the same as ``outcome`` of a position that has a legal move: the other rules leave none."""
    return _drawn(len(position.supplies), "repetition") if occurrences(position, history, key) >= 2 else None


def key(position: Position) -> Hashable:
    """Return board, number of players and side: two positions are the same when these are (section 7, rule 3)."""
    return position.board, len(position.supplies), position.side


def _won(players: int, winner: int, reason: str) -> Outcome:
    return Outcome(tuple(1.0 if seat == winner else 0.0 for seat in range(players)), reason)


def _drawn(players: int, reason: str) -> Outcome:
    return Outcome((1.0 / players,) * players, reason)
