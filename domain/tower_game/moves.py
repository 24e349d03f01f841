"""Generation, legality and application of moves (rules, "Pieces and moves" and "Special rules").

A move is an integer: from, capture mark, to, promotion, in this order of weight, so that moves sort as strings do.
"""

from functools import lru_cache
from typing import Final, NamedTuple

from domain.tower_game.board import (
    BETWEEN,
    BISHOP_LINES,
    BISHOP_RAYS,
    CAPTAIN_LEAPS,
    CAPTAIN_SETS,
    CASTLING_PATHS,
    CORNERS,
    CUBES,
    JESTER_LEAPS,
    JESTER_SETS,
    KING_HOMES,
    KING_SETS,
    KING_STEPS,
    KNIGHT_LEAPS,
    KNIGHT_SETS,
    MERCHANT_LINES,
    MERCHANT_RAYS,
    PAWN_CAPTURE_SETS,
    PAWN_CAPTURES,
    ROOK_LINES,
    ROOK_RAYS,
)
from domain.tower_game.position import (
    BISHOP,
    BLACK,
    CAPTAIN,
    FOOL,
    JESTER,
    KING,
    KNIGHT,
    MERCHANT,
    OCCUPIED,
    PAWN,
    ROOK,
    Position,
    attacked,
    en_passant_captures,
    occupied,
)

CAPTURE: Final = 1 << 12
PROMOTION: Final = 15
"""The bits of a move that hold the promotion, for loops in which a call of ``promotion_of`` costs too much."""
PROMOTIONS: Final = "BCFJMNR"
"""Promotion pieces in ASCII order; the n-th (from 1) is stored in the lowest bits of a move."""
PROMOTION_CODES: Final[tuple[int, ...]] = (0, BISHOP, CAPTAIN, FOOL, JESTER, MERCHANT, KNIGHT, ROOK)

_ROOK_PROMOTION: Final = PROMOTION_CODES.index(ROOK)

MAX_HALFMOVE_CLOCK: Final = 100
"""Plies without a capture or a Pawn move after which the game is drawn [TG-21]."""

_RAYS: Final = {ROOK: ROOK_RAYS, BISHOP: BISHOP_RAYS, MERCHANT: MERCHANT_RAYS}
_LEAPS: Final = {KNIGHT: KNIGHT_LEAPS, CAPTAIN: CAPTAIN_LEAPS, JESTER: JESTER_LEAPS, FOOL: KING_STEPS}
LEAP_SETS: Final = {KNIGHT: KNIGHT_SETS, CAPTAIN: CAPTAIN_SETS, JESTER: JESTER_SETS, FOOL: KING_SETS}
LINES: Final = {ROOK: ROOK_LINES, BISHOP: BISHOP_LINES, MERCHANT: MERCHANT_LINES}
_OWN: Final = 1
_ENEMY: Final = 2
_VIEWS: Final = tuple(
    bytes([0, *([_OWN if side == 0 else _ENEMY] * 9), *([_ENEMY if side == 0 else _OWN] * 9)]).ljust(256, b"\0")
    for side in (0, 1)
)
"""By side: the occupant of a cube as that side sees it (none, an own man, an enemy)."""
_LOST_RIGHTS: Final = tuple(
    (0b1111 if cube == KING_HOMES[0] else 0b11110000 if cube == KING_HOMES[1] else 0)
    | (1 << CORNERS.index(cube) if cube in CORNERS else 0)
    for cube in range(CUBES)
)
"""By cube: the castling rights that end when a move begins or ends there."""


def encode(origin: int, target: int, capture: bool, promotion: int = 0) -> int:
    """Return the move from ``origin`` to ``target``; ``promotion`` counts PROMOTIONS from 1, 0 is none."""
    return origin << 13 | (CAPTURE if capture else 0) | target << 4 | promotion


def origin_of(move: int) -> int:
    """Return the cube that a move leaves."""
    return move >> 13


def target_of(move: int) -> int:
    """Return the cube that a move goes to."""
    return move >> 4 & 255


def promotion_of(move: int) -> int:
    """Return the piece that a Pawn becomes, counted as in PROMOTIONS from 1; 0 for none."""
    return move & PROMOTION


class KingSafety(NamedTuple):
    """The cubes of the men of the side to move and of its enemy, its King, the checkers and pins as sets of cubes."""

    own: int
    enemy: int
    king: int
    checkers: int
    pins: list[tuple[int, int]]


@lru_cache(maxsize=4)
def king_safety(position: Position) -> KingSafety:
    """Return how the King of the side to move stands: a search asks it several times in a row about a position."""
    men, side = position.men, position.side
    own, enemy = occupied(men, side), occupied(men, 1 - side)
    king = men[side * BLACK + KING].bit_length() - 1
    return KingSafety(own, enemy, king, *checks_and_pins(men, side, king, own, own | enemy))


def legal_moves(position: Position) -> list[int]:
    """Return all legal moves in ASCII order of their strings, by the movement and check rules alone."""
    return _moves(position, ~0)


def noisy_moves(position: Position) -> list[int]:
    """Return the legal captures and promotions to a Rook, in ASCII order of their strings."""
    moves = _moves(position, king_safety(position).enemy)
    return [move for move in moves if move & CAPTURE or move & PROMOTION == _ROOK_PROMOTION]


def _moves(position: Position, targets: int) -> list[int]:
    """Return the legal moves; those of men, other than Pawns, that reach none of ``targets`` may be missing."""
    board, men, side, _, en_passant, _ = position
    own, enemy, king, checkers, pins = king_safety(position)
    view = board.translate(_VIEWS[side])
    base = side * BLACK
    moves: list[int] = []
    _add_king_moves(moves, position, view, king, own | enemy, targets, not checkers)
    # In double check only the King can move.
    if not checkers & (checkers - 1):
        if en_passant >= 0:
            moves += [encode(pawn, en_passant, True) for pawn in en_passant_captures(men, side, en_passant)]
        others: list[int] = []
        free = ~0
        if pins:
            others = _pinned_moves(position, view, pins, enemy)
            free = _unpinned(pins)
        if checkers:
            targets &= checkers | BETWEEN[king][checkers.bit_length() - 1]
        _add_rider_moves(others, men, base, free, view, targets)
        _add_leaper_moves(others, men, base, free, view, targets)
        _add_pawn_moves(others, men[base + PAWN] & free, view, side, enemy)
        moves += _evasions(others, king, checkers) if checkers else others
    moves.sort()
    return moves


def any_move(position: Position) -> bool:
    """Return whether there is a legal move, without listing them where that is easily seen."""
    men, side = position.men, position.side
    base = side * BLACK
    own, enemy, _, checkers, pins = king_safety(position)
    if not checkers:
        # A man that is not pinned may go wherever its movement takes it.
        free = _unpinned(pins) if pins else ~0
        pawns = men[base + PAWN] & free
        if (pawns << 1 if side == 0 else pawns >> 1) & ~(own | enemy):
            return True
        for kind, sets_of in LEAP_SETS.items():
            leapers = men[base + kind] & free
            if leapers and sets_of[leapers.bit_length() - 1] & ~own:
                return True
    return bool(legal_moves(position))


def _unpinned(pins: list[tuple[int, int]]) -> int:
    free = ~0
    for pinned, _ in pins:
        free ^= pinned
    return free


# The generators below write the layout of ``encode`` out: calls of it took a fifth of their time.


def _add_rider_moves(moves: list[int], men: tuple[int, ...], base: int, free: int, view: bytes, targets: int) -> None:
    """Add the moves of the Rooks, Bishops and Merchants among the men ``free``; codes count from ``base``."""
    for kind, rays_of in _RAYS.items():
        riders = men[base + kind] & free
        lines = LINES[kind]
        while riders:
            rider = riders & -riders
            riders ^= rider
            origin = rider.bit_length() - 1
            if lines[origin] & targets:
                _add_rays(moves, origin, rays_of[origin], view)


def _add_rays(moves: list[int], origin: int, rays: tuple[tuple[int, ...], ...], view: bytes) -> None:
    start = origin << 13
    for ray in rays:
        for target in ray:
            there = view[target]
            if there:
                if there == _ENEMY:
                    moves.append(start | CAPTURE | target << 4)
                break
            moves.append(start | target << 4)


def _add_leaper_moves(moves: list[int], men: tuple[int, ...], base: int, free: int, view: bytes, targets: int) -> None:
    """Add the moves of the Knights, Captains, Jesters and Fools among the men ``free``; codes count from ``base``."""
    for kind, leaps_of in _LEAPS.items():
        leapers = men[base + kind] & free
        sets_of = LEAP_SETS[kind]
        while leapers:
            leaper = leapers & -leapers
            leapers ^= leaper
            origin = leaper.bit_length() - 1
            if not sets_of[origin] & targets:
                continue
            start = origin << 13
            for target in leaps_of[origin]:
                there = view[target]
                if not there:
                    moves.append(start | target << 4)
                elif there == _ENEMY:
                    moves.append(start | CAPTURE | target << 4)


def _add_pawn_moves(moves: list[int], pawns: int, view: bytes, side: int, enemy: int) -> None:
    """Add the steps, captures and promotions of the set ``pawns`` of ``side``, en passant captures excepted."""
    forward, first, last = (1, 1, 7) if side == 0 else (-1, 6, 0)
    captures, capture_sets = PAWN_CAPTURES[side], PAWN_CAPTURE_SETS[side]
    while pawns:
        pawn = pawns & -pawns
        pawns ^= pawn
        origin = pawn.bit_length() - 1
        start = origin << 13
        ahead = origin + forward
        promotes = ahead & 7 == last
        if not view[ahead]:
            if promotes:
                moves.extend(range(start | ahead << 4 | 1, (start | ahead << 4) + 8))
            else:
                moves.append(start | ahead << 4)
                # The double step [TG-11].
                if origin & 7 == first and not view[ahead + forward]:
                    moves.append(start | (ahead + forward) << 4)
        if capture_sets[origin] & enemy:
            start |= CAPTURE
            for target in captures[origin]:
                if view[target] == _ENEMY:
                    if promotes:
                        moves.extend(range(start | target << 4 | 1, (start | target << 4) + 8))
                    else:
                        moves.append(start | target << 4)


def _pinned_moves(position: Position, view: bytes, pins: list[tuple[int, int]], enemy: int) -> list[int]:
    """Return the moves of the pinned men: those that stay on the line of the pin."""
    pinned: list[int] = []
    for man, line in pins:
        moves: list[int] = []
        origin = man.bit_length() - 1
        kind = position.board[origin] - position.side * BLACK
        if kind in _RAYS:
            _add_rays(moves, origin, _RAYS[kind][origin], view)
        elif kind == PAWN:
            _add_pawn_moves(moves, man, view, position.side, enemy)
        # A pinned leaper never stays on the line: no leap is a multiple of a unit vector. A Fool's step may.
        elif kind == FOOL:
            moves = [encode(origin, to, view[to] == _ENEMY) for to in KING_STEPS[origin] if view[to] != _OWN]
        pinned += [move for move in moves if line >> (move >> 4 & 255) & 1]
    return pinned


def _evasions(moves: list[int], king: int, checkers: int) -> list[int]:
    """Return those of ``moves``, none by the King, that capture the only checker or block its line."""
    answers = checkers | BETWEEN[king][checkers.bit_length() - 1]
    return [move for move in moves if answers >> (move >> 4 & 255) & 1]


def _add_king_moves(
    moves: list[int], position: Position, view: bytes, king: int, everybody: int, targets: int, castling: bool
) -> None:
    """Add the King's steps to ``targets`` that are not attacked and, with ``castling``, its castlings."""
    men, side = position.men, position.side
    without = everybody ^ 1 << king
    for target in KING_STEPS[king] if KING_SETS[king] & targets else ():
        there = view[target]
        if targets >> target & 1 and there != _OWN and not attacked(target, men, 1 - side, without):
            moves.append(encode(king, target, there == _ENEMY))
    if castling and position.castling_rights >> side * 4 & 0b1111:
        for index in range(side * 4, side * 4 + 4):
            corner = CORNERS[index]
            if position.castling_rights >> index & 1 and may_castle(men, side, corner, everybody):
                moves.append(encode(king, corner, False))


def may_castle(men: tuple[int, ...], side: int, corner: int, everybody: int) -> bool:
    """Return whether the cube that the King crosses is empty and neither it nor the corner is attacked.

    The caller looks at the right and at the King's own cube. All men stay where they are for this: "not attacked in the
    position before castling" [TG-16].
    """
    crossed = CASTLING_PATHS[corner]
    return (
        not everybody >> crossed & 1
        and not attacked(crossed, men, 1 - side, everybody)
        and not attacked(corner, men, 1 - side, everybody)
    )


def checks_and_pins(
    men: tuple[int, ...], side: int, king: int, own: int, everybody: int
) -> tuple[int, list[tuple[int, int]]]:
    """Return the set of men that give check, and each pinned man (as a set) with the cubes it may go to."""
    enemy = (1 - side) * BLACK
    checkers = (
        KNIGHT_SETS[king] & men[enemy + KNIGHT]
        | CAPTAIN_SETS[king] & men[enemy + CAPTAIN]
        | JESTER_SETS[king] & men[enemy + JESTER]
        | KING_SETS[king] & men[enemy + FOOL]
        | PAWN_CAPTURE_SETS[side][king] & men[enemy + PAWN]
    )
    pins = []
    riders = (
        ROOK_LINES[king] & men[enemy + ROOK]
        | BISHOP_LINES[king] & men[enemy + BISHOP]
        | MERCHANT_LINES[king] & men[enemy + MERCHANT]
    )
    while riders:
        rider = riders & -riders
        riders ^= rider
        between = BETWEEN[king][rider.bit_length() - 1]
        blockers = between & everybody
        if not blockers:
            checkers |= rider
        elif not blockers & (blockers - 1) and blockers & own:
            pins.append((blockers, between | rider))
    return checkers, pins


def play(position: Position, move: int) -> Position:
    """Return the position after the legal move ``move``."""
    board, men, side, castling_rights, en_passant, halfmove_clock = position
    base = side * BLACK
    own, enemy = OCCUPIED[side], OCCUPIED[1 - side]
    origin, target = move >> 13, move >> 4 & 255
    code = board[origin]
    cubes = bytearray(board)
    sets = list(men)
    halfmove_clock += 1
    landing = code
    double_step_over = -1

    # The man leaves its cube.
    cubes[origin] = 0
    sets[code] ^= 1 << origin
    sets[own] ^= 1 << origin

    # Castling: the Rook goes from the corner to the cube that the King crosses [TG-15].
    captured = cubes[target]
    if code == base + KING and captured == base + ROOK:
        crossed = CASTLING_PATHS[target]
        cubes[crossed] = captured
        sets[captured] ^= 1 << target | 1 << crossed
        sets[own] |= 1 << crossed

    # A capture sets the clock back [TG-21].
    elif captured:
        sets[captured] ^= 1 << target
        sets[enemy] ^= 1 << target
        halfmove_clock = 0

    # Pawns: every move sets the clock back; promotion [TG-14], capture en passant [TG-12], double step [TG-11].
    if code == base + PAWN:
        halfmove_clock = 0
        if move & 15:
            landing = base + PROMOTION_CODES[move & 15]
        elif move & CAPTURE:
            if target == en_passant:
                victim = en_passant - 1 if side == 0 else en_passant + 1
                cubes[victim] = 0
                sets[(1 - side) * BLACK + PAWN] ^= 1 << victim
                sets[enemy] ^= 1 << victim
        elif target - origin in (2, -2):
            double_step_over = (origin + target) // 2

    # The man arrives.
    cubes[target] = landing
    sets[landing] |= 1 << target
    sets[own] |= 1 << target

    # Rights to castle end when the King or the Rook has moved or the Rook was captured [TG-18].
    if castling_rights:
        castling_rights &= ~(_LOST_RIGHTS[origin] | _LOST_RIGHTS[target])

    # The en passant cube is part of the position only where a legal capture exists [TG-13].
    after = tuple(sets)
    if double_step_over >= 0 and not en_passant_captures(after, 1 - side, double_step_over):
        double_step_over = -1
    return Position(bytes(cubes), after, 1 - side, castling_rights, double_step_over, halfmove_clock)
