"""A position of Bashni, and its string (section 8)."""

import re
from typing import Final, NamedTuple, NoReturn

from domain.bashni.board import LAST_ROWS, LETTERS, MAX_HALFMOVE_CLOCK, NUMBERS, PIECES_EACH, SEAT_NAMES, SQUARE_NUMBERS
from domain.errors import MalformedNotation
from domain.grid import with_runs

_TOKEN: Final = re.compile(r"\([wWbB]{2,}\)|[1-8wWbB]|\([^()]*\)|.", re.DOTALL)
_TWO_LAYERS: Final = re.compile(r"[wW]+[bB]*|[bB]+[wW]*")
_PIECES: Final = "wWbB"
_DIGITS: Final = "12345678"
_RANKS: Final = [[SQUARE_NUMBERS.get(file + rank) for file in "abcdefgh"] for rank in "87654321"]
"""The numbers of the squares in the order of a position string; None for light squares."""
_HALFMOVE_CLOCKS: Final = {str(count): count for count in range(MAX_HALFMOVE_CLOCK + 1)}


class Position(NamedTuple):
    """The squares of the columns of either colour, those commanded by kings, the pieces under every commander.

    The first three are sets of squares. ``below`` holds, by square, the letters of the pieces under the commander from
    the top down: most columns are moved without touching it.
    """

    white: int
    black: int
    kings: int
    below: tuple[str, ...]
    side: int
    halfmove_clock: int


def column(position: Position, square: int) -> str:
    """Return the letters of the column on ``square`` from the top down; nothing when the square is empty."""
    bit = 1 << square
    if not (position.white | position.black) & bit:
        return ""
    seat = 1 if position.black & bit else 0
    return LETTERS[seat][1 if position.kings & bit else 0] + position.below[square]


def parse_position(text: str) -> Position:
    """Return the position that ``text`` describes; raises MalformedNotation with the place and the reason."""
    fields = text.split(" ", 3)
    if len(fields) != 3 or "" in fields:
        _refuse("expected 3 fields separated by single spaces (board, side, quiet plies)")
    board, side, halfmove_clock = fields
    columns = _parse_board(board)
    for colour, letters in zip(SEAT_NAMES, LETTERS, strict=True):
        if sum(board.count(letter) for letter in letters) > PIECES_EACH:
            _refuse(f"more than {PIECES_EACH} {colour.lower()} pieces")
    if side not in ("w", "b"):
        _refuse("side to move must be 'w' or 'b'")
    if halfmove_clock not in _HALFMOVE_CLOCKS:
        _refuse(f"quiet plies must be a plain number from 0 to {MAX_HALFMOVE_CLOCK}")
    commanders = {square: letters[0] for square, letters in columns.items()}
    return Position(
        white=sum(1 << square for square, letter in commanders.items() if letter in "wW"),
        black=sum(1 << square for square, letter in commanders.items() if letter in "bB"),
        kings=sum(1 << square for square, letter in commanders.items() if letter in "WB"),
        below=tuple(columns.get(square, "")[1:] for square in range(NUMBERS)),
        side="wb".index(side),
        halfmove_clock=_HALFMOVE_CLOCKS[halfmove_clock],
    )


def format_position(position: Position) -> str:
    """Return the one position string of ``position``."""
    columns = [column(position, square) for square in range(NUMBERS)]
    signs = [f"({letters})" if len(letters) > 1 else letters or " " for letters in columns]
    board = "/".join(["".join([" " if square is None else signs[square] for square in rank]) for rank in _RANKS])
    return f"{with_runs(board, 8)} {'wb'[position.side]} {position.halfmove_clock}"


def _parse_board(board: str) -> dict[int, str]:
    """Return the letters of the columns by square."""
    ranks = board.split("/")
    if len(ranks) != 8:
        _refuse(f"expected 8 ranks separated by '/', got {len(ranks)}")
    columns: dict[int, str] = {}
    for rank, written in zip("87654321", ranks, strict=True):
        for place, letters in _parse_rank(rank, written):
            name = "abcdefgh"[place] + rank
            if name not in SQUARE_NUMBERS:
                _refuse(f"piece on the light square {name}")
            if not _TWO_LAYERS.fullmatch(letters):
                _refuse(f"the column on {name} mixes colours; prisoners must lie below all of the owner's pieces")
            square = SQUARE_NUMBERS[name]
            if any(letters[0] == man and row >> square & 1 for (man, _), row in zip(LETTERS, LAST_ROWS, strict=True)):
                _refuse(f"a man commands the column on {name}, its own last row")
            columns[square] = letters
    return columns


def _parse_rank(rank: str, written: str) -> list[tuple[int, str]]:
    """Return the columns of a rank as their places from file a, counted from 0, and their letters."""
    squares: list[tuple[int, str]] = []
    width, last = 0, ""
    for token in _TOKEN.findall(written):
        if token in _DIGITS:
            if last and last in _DIGITS:
                _refuse(f"rank {rank} has two digits in a row")
            width += int(token)
        else:
            letters = token[1:-1] if token.startswith("(") and token.endswith(")") and len(token) > 3 else token
            if any(letter not in _PIECES for letter in letters):
                shown = token if len(token) <= 30 else token[:30] + "..."
                _refuse(f"rank {rank} has a bad token {shown!r}")
            squares.append((width, letters))
            width += 1
        last = token
    if width != 8:
        _refuse(f"rank {rank} has {width} squares, not 8")
    return squares


def _refuse(reason: str) -> NoReturn:
    raise MalformedNotation(reason)


def to_move(position: Position) -> int:
    """Return the seat whose turn it is: 0 is White."""
    return position.side
