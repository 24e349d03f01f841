"""Generation and application of the moves of Towers. ``features`` defines how moves are numbered."""

from collections.abc import Hashable, Iterable, Sequence
from itertools import chain
from operator import getitem
from typing import Final

from domain.game import Outcome
from domain.history import occurrences
from domain.towers.board import EMPTY, HEIGHT, MAX_PUSHES, RAYS, with_top
from domain.towers.features import FEATURES, FIRST_PUSH, can_act, goal_reached, goals_reached_by, legal_actions
from domain.towers.position import Position


def _moves_of_bytes(place: int) -> tuple[tuple[int, ...], ...]:
    moves: list[tuple[int, ...]] = [()]
    for move in range(8 * place, 8 * place + 8):
        moves += [(*lower, move) for lower in moves]
    return tuple(moves)


_MOVES_OF_BYTE: Final[tuple[tuple[tuple[int, ...], ...], ...]] = tuple(map(_moves_of_bytes, range(32)))
"""The moves that a byte of a set of actions stands for, by the place of the byte."""


def action_set(position: Position) -> int:
    """Return the legal moves as a set of bits; 0 when the game is over by rule 1, 2 or 4 of section 7."""
    _, features, supplies, side, pushes = position
    if pushes >= MAX_PUSHES or goal_reached(features, len(supplies)):
        return 0
    return legal_actions(features, side, supplies[side])


def legal_moves(position: Position) -> Iterable[int]:
    """Return the legal moves, in ASCII order of their strings; none when the game is over by position."""
    return moves_in(action_set(position))


def moves_in(action_set: int) -> Iterable[int]:
    """Return the moves of a set of bits, in ascending order, by a table lookup for each byte."""
    return chain.from_iterable(map(getitem, _MOVES_OF_BYTE, action_set.to_bytes(32, "little")))


def topple(board: tuple[int, ...], move: int) -> list[tuple[int, int]]:
    """Return the changes of a push in order, squares and towers (section 3.2); the first as it was if none can fall."""
    here = (move - FIRST_PUSH) >> 2
    falling = board[here]
    count = HEIGHT[falling]
    below = EMPTY
    ground = 0
    changed: list[tuple[int, int]] = []
    for there in RAYS[move - FIRST_PUSH]:
        tower = board[there]
        height = HEIGHT[tower]
        blocked = height - ground if height > ground else 1
        if blocked >= count:
            break
        shift = 2 * blocked
        stays = falling & (1 << shift) - 1 | 1 << shift
        changed.append((here, below + (stays - 1 << 2 * ground)))
        falling >>= shift
        count -= blocked
        here = there
        below = tower
        ground = height
    changed.append((here, below + (falling - 1 << 2 * ground)))
    return changed


def last_square(position: Position, push: int) -> int:
    """Return the last square that ``push`` reaches; its first square when nothing can fall."""
    return topple(position.board, push)[-1][0]


def play(position: Position, move: int) -> Position:
    """Return the position after the legal ``move``, players without a legal action skipped (section 4)."""
    board, features, supplies, side, pushes = position
    towers = list(board)

    # A build puts a piece of the supply on top of an own tower (section 3.1).
    if move < FIRST_PUSH:
        table = FEATURES[move]
        old = board[move]
        towers[move] = new = with_top(old, side)
        features += table[new] - table[old]
        supplies = (*supplies[:side], supplies[side] - 1, *supplies[side + 1 :])
        pushes = 0

    # A push topples a tower along a line (section 3.2); pushes in a row end the game (section 7, rule 4).
    else:
        for square, new in topple(board, move):
            table = FEATURES[square]
            features += table[new] - table[towers[square]]
            towers[square] = new
        pushes += 1

    # With two players no turn is skipped (section 4).
    if len(supplies) == 2:
        return Position(tuple(towers), features, supplies, 1 - side, pushes)
    return Position(tuple(towers), features, supplies, _next_side(features, supplies, side), pushes)


def _next_side(features: int, supplies: tuple[int, ...], side: int) -> int:
    """Return the seat after ``side`` that can act; simply the next one when rule 1 or 2 ends the game (section 8)."""
    players = len(supplies)
    following = (side + 1) % players
    if goal_reached(features, players):
        return following
    for step in range(1, players):
        seat = (side + step) % players
        if can_act(features, seat, supplies[seat]):
            return seat
    return following


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
