"""The position of Four Towers and its string (rules, section 8)."""

import re
from typing import Final, NamedTuple

from domain.errors import MalformedNotation
from domain.four_towers.attacks import BLACK, CODES, KING, LANCER, PAWN, king_in_check
from domain.four_towers.board import FILES_OF_RANKS, NAMES, NUMBERS, SQUARES, TOWER_SET
from domain.grid import with_runs

LETTERS: Final = " RBQNMCWKDPL"
"""By code. Lower case is Black."""
COMPONENTS: Final[tuple[tuple[int, str], ...]] = ((1, "R"), (2, "B"), (4, "N"), (8, "K"))
"""The parts of a dragon memory in the order of the position string."""
MAX_HALFMOVE_CLOCK: Final = 150
"""Plies without a final capture or a promotion after which the game is drawn [FT-27]."""
NO_RETURN: Final = (0, -1)

_CODES = {letter: code for code, letter in enumerate(LETTERS) if code}
_CODES |= {letter.lower(): code + BLACK for letter, code in tuple(_CODES.items())}
_SIGNS: Final = LETTERS.ljust(BLACK) + LETTERS.lower()
_ROWS: Final = tuple(tuple(NUMBERS[f"{file}{rank}"] for file in FILES_OF_RANKS[rank - 1]) for rank in range(11, 0, -1))
_PAIR: Final = re.compile(r"([a-k](?:1[01]|[1-9]))([a-k](?:1[01]|[1-9]))")
_COUNT: Final = re.compile(r"0|[1-9][0-9]{0,8}", re.ASCII)
MAX_LENGTH: Final = 20_000
"""Characters: more than a position with every pair that the string could note."""
_FIELDS: Final = "board, side, en passant, memories, return, clock, move number"


class Position(NamedTuple):
    """The pieces by square (a byte each) and by code (a set of squares each), and the other fields of the string.

    ``men[0]`` and ``men[BLACK]``, codes of no piece, have the sets of all pieces of White and of Black.
    ``en_passant`` holds the noted pairs (square crossed, square of arrival), ``memories`` the dragon memories of White
    and Black as components, ``returning`` the code of the piece that may return and its tower, or NO_RETURN.
    """

    board: bytes
    men: tuple[int, ...]
    side: int
    en_passant: tuple[tuple[int, int], ...]
    memories: tuple[int, int]
    returning: tuple[int, int]
    halfmove_clock: int
    move_number: int


def sets_of(board: bytes) -> tuple[int, ...]:
    """Return the set of squares of each code, and of all pieces of each side."""
    men = [0] * CODES
    for square, code in enumerate(board):
        if code:
            men[code] |= 1 << square
            men[code & BLACK] |= 1 << square
    return tuple(men)


def occupied_by(men: tuple[int, ...] | list[int], side: int) -> int:
    """Return the set of squares held by ``side``."""
    return men[side << 4]


def letter_of(code: int) -> str:
    """Return the letter of a code in the position string."""
    return _SIGNS[code]


def pair_text(pair: tuple[int, int]) -> str:
    """Return a noted pair as the position string has it."""
    return NAMES[pair[0]] + NAMES[pair[1]]


def parse_position(text: str) -> Position:
    """Return the position that ``text`` describes; raises MalformedNotation with the place and the reason."""
    if len(text) > MAX_LENGTH:
        raise MalformedNotation(f"a position has at most {MAX_LENGTH} characters, this text has {len(text)}")
    fields = text.split(" ", 7)
    if len(fields) != 7:
        raise MalformedNotation(f"expected 7 fields separated by single spaces ({_FIELDS})")
    board = _parse_board(fields[0])
    men = sets_of(board)
    for owner, name in enumerate(("White", "Black")):
        kings = men[owner * BLACK + KING].bit_count()
        if kings != 1:
            raise MalformedNotation(f"board: {name} has {kings} kings, not exactly one")
    if fields[1] not in ("w", "b"):
        raise MalformedNotation("side to move must be 'w' or 'b'")
    side = "wb".index(fields[1])
    en_passant = _parse_en_passant(fields[2], board, side)
    memories = _parse_memories(fields[3])
    returning = _parse_returning(fields[4], board, side)
    if not _COUNT.fullmatch(fields[5]) or int(fields[5]) > MAX_HALFMOVE_CLOCK:
        raise MalformedNotation(f"clock must be a plain number from 0 to {MAX_HALFMOVE_CLOCK}")
    if not _COUNT.fullmatch(fields[6]) or fields[6] == "0":
        raise MalformedNotation("move number must be a plain number from 1 to 999999999")
    if king_in_check(men, 1 - side, memories[0] | memories[1], occupied_by(men, 0) | occupied_by(men, 1)):
        king = NAMES[men[(1 - side) * BLACK + KING].bit_length() - 1]
        raise MalformedNotation(f"board: the king on {king} is in check although the other side is to move")
    return Position(board, men, side, en_passant, memories, returning, int(fields[5]), int(fields[6]))


def _parse_board(text: str) -> bytes:
    rows = text.split("/", len(_ROWS))
    if len(rows) != len(_ROWS):
        raise MalformedNotation(f"board: expected {len(_ROWS)} ranks separated by '/'")
    board = bytearray(SQUARES)
    for rank, row, squares in zip(range(11, 0, -1), rows, _ROWS, strict=True):
        place = index = 0
        after_run = False
        while index < len(row):
            sign = row[index]
            if sign in _CODES:
                width, after_run = 1, False
            elif sign in "123456789":
                if after_run:
                    raise MalformedNotation(f"board, rank {rank}: two runs of empty squares in a row")
                width, after_run = int(sign), True
                if row[index : index + 2] == "10":
                    width = 10
                    index += 1
            else:
                raise MalformedNotation(f"board, rank {rank}: {sign!r} is neither a piece nor a run of empty squares")
            if place + width > len(squares):
                raise MalformedNotation(f"board, rank {rank}: more than {len(squares)} squares")
            if sign in _CODES:
                board[squares[place]] = _CODES[sign]
            place += width
            index += 1
        if place != len(squares):
            raise MalformedNotation(f"board, rank {rank}: {place} squares, not {len(squares)}")
    return bytes(board)


def _parse_en_passant(text: str, board: bytes, side: int) -> tuple[tuple[int, int], ...]:
    if text == "-":
        return ()
    pairs = []
    texts = text.split(",")
    for part in texts:
        match = _PAIR.fullmatch(part)
        if not match or match[1] not in NUMBERS or match[2] not in NUMBERS:
            raise MalformedNotation(f"en passant: {part[:20]!r} is not a square crossed and a square of arrival")
        crossed, arrival = NUMBERS[match[1]], NUMBERS[match[2]]
        if board[crossed]:
            raise MalformedNotation(f"en passant: {match[1]}, the square crossed, is not empty")
        if board[arrival] not in ((1 - side) * BLACK + PAWN, (1 - side) * BLACK + LANCER):
            raise MalformedNotation(f"en passant: no pawn or lancer of the side that has moved stands on {match[2]}")
        pairs.append((crossed, arrival))
    if texts != sorted(set(texts)):
        raise MalformedNotation("en passant: the pairs must be different and in alphabetical order")
    return tuple(pairs)


def _parse_memories(text: str) -> tuple[int, int]:
    halves = text.split("/", 2)
    if len(halves) != 2:
        raise MalformedNotation("memories: expected White's and Black's, separated by '/'")
    memories = []
    for half in halves:
        memory = sum(bit for bit, letter in COMPONENTS if letter in half)
        if half != memory_text(memory):
            raise MalformedNotation(f"memories: {half[:20]!r} is neither '-' nor letters of RBNK in this order")
        memories.append(memory)
    return memories[0], memories[1]


def memory_text(memory: int) -> str:
    """Return one side's dragon memory as the position string has it."""
    return "".join(letter for bit, letter in COMPONENTS if memory & bit) or "-"


def _parse_returning(text: str, board: bytes, side: int) -> tuple[int, int]:
    if text == "-":
        return NO_RETURN
    letter, mark, name = text[:1], text[1:2], text[2:]
    code, tower = _CODES.get(letter, 0), NUMBERS.get(name, -1)
    if mark != "@" or not code or tower < 0 or not TOWER_SET >> tower & 1:
        raise MalformedNotation("return: expected '-' or a piece letter, '@' and a tower, as n@d5")
    if code >> 4 != side or code & 15 == KING:
        raise MalformedNotation(f"return: {letter!r} is no piece that the side to move may put back")
    if not board[tower] or board[tower] >> 4 == side:
        raise MalformedNotation(f"return: no enemy stands on {name}")
    return code, tower


def format_position(position: Position) -> str:
    """Return the one position string of ``position``."""
    board = "/".join(["".join([_SIGNS[position.board[square]] for square in squares]) for squares in _ROWS])
    en_passant = ",".join(map(pair_text, position.en_passant)) or "-"
    white, black = map(memory_text, position.memories)
    code, tower = position.returning
    returning = f"{_SIGNS[code]}@{NAMES[tower]}" if code else "-"
    return (
        f"{with_runs(board, 10)} {'wb'[position.side]} {en_passant} {white}/{black} {returning}"
        f" {position.halfmove_clock} {position.move_number}"
    )


def to_move(position: Position) -> int:
    """Return the seat whose turn it is: 0 is White."""
    return position.side
