"""Generation, legality and application of moves (rules, "Pieces and moves" and "Special rules").

A move is an integer: from, capture mark, to, promotion, in this order of weight, so that moves sort as strings do.
"""

from domain.tower_game.board import (
    BETWEEN,
    BISHOP_LINES,
    BISHOP_RAYS,
    CAPTAIN_LEAPS,
    CAPTAIN_SETS,
    CORNERS,
    CUBES,
    HOMES,
    JESTER_LEAPS,
    JESTER_SETS,
    KING_SETS,
    KING_STEPS,
    KNIGHT_LEAPS,
    KNIGHT_SETS,
    MERCHANT_LINES,
    MERCHANT_RAYS,
    PASSED,
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
    PAWN,
    ROOK,
    Position,
    attacked,
    occupied,
    passing_captures,
)

CAPTURE = 1 << 12
PROMOTIONS = "BCFJMNR"
"""Promotion pieces in ASCII order; the n-th (from 1) is stored in the lowest bits of a move."""
PROMOTION_CODES = (0, BISHOP, CAPTAIN, FOOL, JESTER, MERCHANT, KNIGHT, ROOK)

QUIET_CLOCK = 100
"""Plies without a capture or a Pawn move after which the game is drawn [TG-21]."""

_RAYS = {ROOK: ROOK_RAYS, BISHOP: BISHOP_RAYS, MERCHANT: MERCHANT_RAYS}
_LEAPS = {KNIGHT: KNIGHT_LEAPS, CAPTAIN: CAPTAIN_LEAPS, JESTER: JESTER_LEAPS, FOOL: KING_STEPS}
_OWN, _ENEMY = 1, 2
_VIEWS = tuple(
    bytes([0, *([_OWN if side == 0 else _ENEMY] * 9), *([_ENEMY if side == 0 else _OWN] * 9)]).ljust(256, b"\0")
    for side in (0, 1)
)
"""By side: what stands on a cube as that side sees it (nothing, an own man, an enemy)."""
_LOST_RIGHTS = tuple(
    (0b1111 if cube == HOMES[0] else 0b11110000 if cube == HOMES[1] else 0)
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


def legal_moves(position: Position) -> list[int]:
    """Return all legal moves in ASCII order of their strings, by the movement and check rules alone."""
    board, men, side, _, passed, _ = position
    base = side * BLACK
    view = board.translate(_VIEWS[side])
    mine = occupied(men, side)
    theirs = occupied(men, 1 - side)
    everybody = mine | theirs
    king = men[base + KING].bit_length() - 1
    checkers, pins = checks_and_pins(men, side, king, mine, everybody)
    moves: list[int] = []
    _king_moves(moves, position, view, king, everybody, not checkers)
    if checkers & (checkers - 1):
        moves.sort()
        return moves
    if passed >= 0:
        for pawn in passing_captures(men, side, passed):
            moves.append(pawn << 13 | CAPTURE | passed << 4)
    others: list[int] = []
    pinned: list[int] = []
    free = ~0
    for cubes in pins:
        free ^= cubes[0]
    for kind, rays_of in _RAYS.items():
        riders = men[base + kind] & free
        while riders:
            rider = riders & -riders
            riders ^= rider
            _ride(others, view, rider.bit_length() - 1, rays_of)
    for kind, leaps_of in _LEAPS.items():
        leapers = men[base + kind] & free
        while leapers:
            leaper = leapers & -leapers
            leapers ^= leaper
            origin = leaper.bit_length() - 1
            start = origin << 13
            for target in leaps_of[origin]:
                there = view[target]
                if not there:
                    others.append(start | target << 4)
                elif there == _ENEMY:
                    others.append(start | CAPTURE | target << 4)
    _pawn_moves(others, men[base + PAWN] & free, view, side, theirs)
    for man, line in pins:
        own: list[int] = []
        origin = man.bit_length() - 1
        kind = board[origin] - base
        if kind in _RAYS:
            _ride(own, view, origin, _RAYS[kind])
        elif kind == PAWN:
            _pawn_moves(own, man, view, side, theirs)
        # A pinned leaper never stays on the line: no leap is a multiple of a unit vector. A Fool may.
        elif kind == FOOL:
            for target in KING_STEPS[origin]:
                if view[target] != _OWN:
                    own.append(encode(origin, target, view[target] == _ENEMY))
        pinned += [move for move in own if line >> (move >> 4 & 255) & 1]
    others += pinned
    if checkers:
        answers = checkers | BETWEEN[king][checkers.bit_length() - 1]
        others = [move for move in others if answers >> (move >> 4 & 255) & 1]
    moves += others
    moves.sort()
    return moves


def any_move(position: Position) -> bool:
    """Tell whether there is a legal move, without listing them where that is easily seen."""
    men, side = position.men, position.side
    base = side * BLACK
    mine = occupied(men, side)
    everybody = mine | occupied(men, 1 - side)
    king = men[base + KING].bit_length() - 1
    checkers, pins = checks_and_pins(men, side, king, mine, everybody)
    if not checkers:
        # A man that is not pinned may go wherever its movement takes it.
        free = ~0
        for pinned, _ in pins:
            free ^= pinned
        pawns = men[base + PAWN] & free
        if (pawns << 1 if side == 0 else pawns >> 1) & ~everybody:
            return True
        for kind, leaps_of in _LEAPS.items():
            leapers = men[base + kind] & free
            if leapers and any(not mine >> target & 1 for target in leaps_of[leapers.bit_length() - 1]):
                return True
    return bool(legal_moves(position))


def _ride(moves: list[int], view: bytes, origin: int, rays_of: tuple[tuple[tuple[int, ...], ...], ...]) -> None:
    start = origin << 13
    for ray in rays_of[origin]:
        for target in ray:
            there = view[target]
            if there:
                if there == _ENEMY:
                    moves.append(start | CAPTURE | target << 4)
                break
            moves.append(start | target << 4)


def _pawn_moves(moves: list[int], pawns: int, view: bytes, side: int, theirs: int) -> None:
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
                if origin & 7 == first and not view[ahead + forward]:
                    moves.append(start | (ahead + forward) << 4)
        if capture_sets[origin] & theirs:
            start |= CAPTURE
            for target in captures[origin]:
                if view[target] == _ENEMY:
                    if promotes:
                        moves.extend(range(start | target << 4 | 1, (start | target << 4) + 8))
                    else:
                        moves.append(start | target << 4)


def _king_moves(moves: list[int], position: Position, view: bytes, king: int, everybody: int, castling: bool) -> None:
    men, side = position.men, position.side
    without = everybody ^ 1 << king
    for target in KING_STEPS[king]:
        there = view[target]
        if there != _OWN and not attacked(target, men, 1 - side, without):
            moves.append(encode(king, target, there == _ENEMY))
    if castling and position.rights >> side * 4 & 0b1111:
        for index in range(side * 4, side * 4 + 4):
            corner = CORNERS[index]
            if position.rights >> index & 1 and may_castle(men, side, corner, everybody):
                moves.append(encode(king, corner, False))


def may_castle(men: tuple[int, ...], side: int, corner: int, everybody: int) -> bool:
    """Whether the passed cube is empty and neither it nor the corner is attacked; right and home are looked at before.

    [TG-16]: "not attacked in the position before castling", so all men stay where they are.
    """
    passed = PASSED[corner]
    return (
        not everybody >> passed & 1
        and not attacked(passed, men, 1 - side, everybody)
        and not attacked(corner, men, 1 - side, everybody)
    )


def checks_and_pins(
    men: tuple[int, ...], side: int, king: int, mine: int, everybody: int
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
        elif not blockers & (blockers - 1) and blockers & mine:
            pins.append((blockers, between | rider))
    return checkers, pins


def play(position: Position, move: int) -> Position:
    """Return the position after the legal move ``move``."""
    board, men, side, rights, passed, clock = position
    base = side * BLACK
    origin, target = move >> 13, move >> 4 & 255
    code = board[origin]
    cubes = bytearray(board)
    sets = list(men)
    cubes[origin] = 0
    sets[code] ^= 1 << origin
    captured = cubes[target]
    if code == base + KING and captured == base + ROOK:
        via = PASSED[target]
        cubes[via] = captured
        sets[captured] ^= 1 << target | 1 << via
        captured = 0
    elif captured:
        sets[captured] ^= 1 << target
    landing = code
    new_passed = -1
    if code == base + PAWN:
        clock = -1
        if move & 15:
            landing = base + PROMOTION_CODES[move & 15]
        elif move & CAPTURE:
            if target == passed:
                victim = passed - 1 if side == 0 else passed + 1
                cubes[victim] = 0
                sets[(1 - side) * BLACK + PAWN] ^= 1 << victim
        elif target - origin in (2, -2):
            new_passed = (origin + target) // 2
    elif captured:
        clock = -1
    cubes[target] = landing
    sets[landing] |= 1 << target
    if rights:
        rights &= ~(_LOST_RIGHTS[origin] | _LOST_RIGHTS[target])
    after = tuple(sets)
    # The en passant cube is part of the position only where a legal capture exists [TG-13].
    if new_passed >= 0 and not passing_captures(after, 1 - side, new_passed):
        new_passed = -1
    return Position(bytes(cubes), after, 1 - side, rights, new_passed, clock + 1)
