"""The position of The Tower Game and its string (rules, "Position notation")."""

from typing import Final, NamedTuple

from domain.errors import MalformedNotation
from domain.grid import with_runs
from domain.tower_game.board import (
    BETWEEN,
    BISHOP_LINES,
    CAPTAIN_SETS,
    CORNERS,
    CUBES,
    JESTER_SETS,
    KING_HOMES,
    KING_SETS,
    KNIGHT_SETS,
    MERCHANT_LINES,
    NAMES,
    NUMBERS,
    PAWN_CAPTURE_SETS,
    ROOK_LINES,
)

LETTERS: Final = "KRBMNCJFP"
KING: Final = 1
ROOK: Final = 2
BISHOP: Final = 3
MERCHANT: Final = 4
KNIGHT: Final = 5
CAPTAIN: Final = 6
JESTER: Final = 7
FOOL: Final = 8
PAWN: Final = 9
BLACK: Final = 9
"""Added to a White man's code to make it Black's. Code 0 is an empty cube."""
OCCUPIED: Final = (0, 19)
"""By side: the index of the set of all its men, beside the sets of each code."""
CODES: Final[dict[str, int]] = {letter: code for code, letter in enumerate(LETTERS + LETTERS.lower(), 1)}
MEN: Final[str] = " " + LETTERS + LETTERS.lower()


class Position(NamedTuple):
    """The men by cube (a byte each) and by code (a set of cubes each), and the other fields of the position string.

    ``men`` also has the sets of OCCUPIED. ``castling_rights`` has bit n for the n-th corner; ``en_passant`` is a cube,
    -1 for none.
    """

    board: bytes
    men: tuple[int, ...]
    side: int
    castling_rights: int
    en_passant: int
    halfmove_clock: int


def occupied(men: tuple[int, ...] | list[int], side: int) -> int:
    """Return the set of cubes held by the men of ``side``."""
    return men[OCCUPIED[side]]


def attacked(cube: int, men: tuple[int, ...] | list[int], by: int, blockers: int) -> bool:
    """Return whether a man of side ``by`` attacks ``cube`` while the men on ``blockers`` stand in the way of riders."""
    base = by * BLACK
    if (
        KNIGHT_SETS[cube] & men[base + KNIGHT]
        or CAPTAIN_SETS[cube] & men[base + CAPTAIN]
        or JESTER_SETS[cube] & men[base + JESTER]
        or KING_SETS[cube] & (men[base + KING] | men[base + FOOL])
        or PAWN_CAPTURE_SETS[1 - by][cube] & men[base + PAWN]
    ):
        return True
    riders = (
        ROOK_LINES[cube] & men[base + ROOK]
        | BISHOP_LINES[cube] & men[base + BISHOP]
        | MERCHANT_LINES[cube] & men[base + MERCHANT]
    )
    between = BETWEEN[cube]
    while riders:
        rider = riders & -riders
        if not between[rider.bit_length() - 1] & blockers:
            return True
        riders ^= rider
    return False


def in_check(position: Position) -> bool:
    """Return whether the King of the side to move stands on an attacked cube."""
    men, side = position.men, position.side
    king = men[side * BLACK + KING].bit_length() - 1
    return attacked(king, men, 1 - side, occupied(men, 0) | occupied(men, 1))


def en_passant_captures(men: tuple[int, ...], side: int, en_passant: int) -> list[int]:
    """Return the cubes of the Pawns of ``side`` that may legally capture en passant on ``en_passant`` [TG-12]."""
    candidates = PAWN_CAPTURE_SETS[1 - side][en_passant] & men[side * BLACK + PAWN]
    if not candidates:
        return []
    victim = 1 << (en_passant - 1 if side == 0 else en_passant + 1)
    everybody = occupied(men, 0) | occupied(men, 1)
    king = men[side * BLACK + KING].bit_length() - 1
    enemy_pawns = (1 - side) * BLACK + PAWN
    left = list(men)
    left[enemy_pawns] ^= victim
    captures = []
    while candidates:
        pawn = candidates & -candidates
        candidates ^= pawn
        if not attacked(king, left, 1 - side, everybody ^ pawn ^ victim | 1 << en_passant):
            captures.append(pawn.bit_length() - 1)
    return captures


def sets_of(board: bytes) -> tuple[int, ...]:
    """Return the set of cubes of each code, and of all men of each side."""
    men = [0] * 20
    for cube, code in enumerate(board):
        if code:
            men[code] |= 1 << cube
            men[OCCUPIED[code > BLACK]] |= 1 << cube
    return tuple(men)


def parse_position(text: str) -> Position:
    """Return the position that ``text`` describes; raises MalformedNotation with the place and the reason."""
    fields = text.split(" ")
    if len(fields) != 5:
        raise MalformedNotation("expected 5 fields separated by single spaces (men, side, castling, en passant, clock)")
    board = _parse_men(fields[0])
    men = sets_of(board)
    if fields[1] not in ("w", "b"):
        raise MalformedNotation("side to move must be 'w' or 'b'")
    side = "wb".index(fields[1])
    for owner, name in enumerate(("White", "Black")):
        kings = men[owner * BLACK + KING].bit_count()
        if kings != 1:
            raise MalformedNotation(f"{name} has {kings} Kings, not exactly one")
    castling_rights = _parse_castling(fields[2], board)
    if not (fields[4].isascii() and fields[4].isdigit() and len(fields[4]) <= 3) or (
        str(int(fields[4])) != fields[4] or int(fields[4]) > 100
    ):
        raise MalformedNotation("the clock must be a plain number from 0 to 100")
    halfmove_clock = int(fields[4])
    en_passant = _parse_en_passant(fields[3], board, men, side, halfmove_clock)
    everybody = occupied(men, 0) | occupied(men, 1)
    other_king = men[(1 - side) * BLACK + KING].bit_length() - 1
    if attacked(other_king, men, side, everybody):
        raise MalformedNotation(f"the King on {NAMES[other_king]} is in check although the other side is to move")
    return Position(board, men, side, castling_rights, en_passant, halfmove_clock)


def _parse_men(text: str) -> bytes:
    ranks = text.split("|")
    if len(ranks) != 8:
        raise MalformedNotation(f"expected 8 ranks separated by '|', got {len(ranks)}")
    board = bytearray(CUBES)
    for z, rank in zip(range(7, -1, -1), ranks, strict=True):
        rows = rank.split("/")
        if len(rows) != 5:
            raise MalformedNotation(f"rank {z + 1}: expected 5 rows separated by '/', got {len(rows)}")
        for y, row in zip(range(4, -1, -1), rows, strict=True):
            place = f"rank {z + 1}, row {'abcde'[y]}"
            x = 0
            digit_before = False
            for sign in row:
                if sign in "12345":
                    if digit_before:
                        raise MalformedNotation(f"{place}: two digits in succession")
                    x += int(sign)
                    digit_before = True
                elif sign in CODES:
                    if x < 5:
                        board[(x * 5 + y) * 8 + z] = CODES[sign]
                    x += 1
                    digit_before = False
                    if sign in "Pp" and z in (0, 7):
                        raise MalformedNotation(f"{place}: a Pawn cannot stand on rank {z + 1}")
                else:
                    raise MalformedNotation(f"{place}: unknown letter {sign!r}")
                if x > 5:
                    break
            if x != 5:
                raise MalformedNotation(f"{place}: has {'more than 5' if x > 5 else x} cubes, not 5")
    return bytes(board)


def _parse_castling(text: str, board: bytes) -> int:
    if text == "-":
        return 0
    castling_rights = 0
    last = -1
    for name in text.split(","):
        cube = NUMBERS.get(name)
        if cube is None or cube not in CORNERS:
            raise MalformedNotation(f"castling: {name[:10]!r} is no corner of rank 1 or 8")
        index = CORNERS.index(cube)
        if index <= last:
            raise MalformedNotation(f"castling: {name} is repeated or out of order")
        last = index
        owner = index // 4
        if board[KING_HOMES[owner]] != KING + owner * BLACK:
            raise MalformedNotation(f"castling: the King is not on {NAMES[KING_HOMES[owner]]}")
        if board[cube] != ROOK + owner * BLACK:
            raise MalformedNotation(f"castling: no Rook of that side stands on {name}")
        castling_rights |= 1 << index
    return castling_rights


def _parse_en_passant(text: str, board: bytes, men: tuple[int, ...], side: int, halfmove_clock: int) -> int:
    if text == "-":
        return -1
    en_passant = NUMBERS.get(text)
    rank = 5 if side == 0 else 2
    if en_passant is None or en_passant % 8 != rank:
        raise MalformedNotation(f"en passant: expected '-' or a cube of rank {rank + 1}, got {text[:10]!r}")
    if halfmove_clock:
        raise MalformedNotation("en passant: a double step has just been made, so the clock must be 0")
    forward = 1 if side == 0 else -1
    if board[en_passant] or board[en_passant + forward]:
        raise MalformedNotation(f"en passant: the cubes passed and left, {text} and behind it, must be empty")
    if board[en_passant - forward] != PAWN + (1 - side) * BLACK:
        raise MalformedNotation(f"en passant: no enemy Pawn has just passed {text}")
    if not en_passant_captures(men, side, en_passant):
        raise MalformedNotation(f"en passant: no Pawn may legally capture on {text} [TG-13]")
    return en_passant


def format_position(position: Position) -> str:
    """Return the one position string of ``position``."""
    signs = "".join([MEN[code] for code in position.board])
    board = "|".join(["/".join([signs[y * 8 + z :: 40] for y in range(4, -1, -1)]) for z in range(7, -1, -1)])
    castling = ",".join(NAMES[corner] for index, corner in enumerate(CORNERS) if position.castling_rights >> index & 1)
    en_passant = NAMES[position.en_passant] if position.en_passant >= 0 else "-"
    return f"{with_runs(board, 5)} {'wb'[position.side]} {castling or '-'} {en_passant} {position.halfmove_clock}"


def to_move(position: Position) -> int:
    """Return the seat whose turn it is: 0 is White."""
    return position.side
