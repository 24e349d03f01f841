"""The board as text and as a scene, with gaps between the arenas and towers in these gaps."""

from domain.four_towers.attacks import BLACK, CODES, LANCER
from domain.four_towers.board import (
    ARENA_OF,
    COORDINATES,
    FILES_OF_RANKS,
    NAMES,
    NUMBERS,
    NUMERALS,
    TOUCHED,
    TOWER_SET,
    TOWERS,
)
from domain.four_towers.position import MAX_HALFMOVE_CLOCK, NO_RETURN, Position, letter_of, memory_text, pair_text
from domain.presentation import matters
from domain.scene import Cell, Label, Piece, Scene

TITLES = (
    "",
    "rook",
    "bishop",
    "queen",
    "knight",
    "marshall",
    "cardinal",
    "wizard",
    "king",
    "dragon",
    "pawn",
    "lancer",
)
"""By code."""
_FILES = "abcdefghijk"
_COLOURS = ("White", "Black")


def diagram(position: Position) -> str:
    """Return the board as text: a dot for a vacant square, a plus for a vacant tower."""
    lines = []
    for rank in range(11, 0, -1):
        signs = []
        for file in _FILES:
            if file not in FILES_OF_RANKS[rank - 1]:
                signs.append(" ")
                continue
            square = NUMBERS[f"{file}{rank}"]
            code = position.board[square]
            signs.append(letter_of(code) if code else "+" if TOWER_SET >> square & 1 else ".")
        lines.append(f"{rank:>2} {' '.join(signs)}".rstrip())
    lines.append("   " + " ".join(_FILES))
    white, black = map(memory_text, position.memories)
    quiet = position.halfmove_clock
    counter = f", {quiet} quiet plies of {MAX_HALFMOVE_CLOCK}" if matters(quiet, MAX_HALFMOVE_CLOCK) else ""
    lines.append(f"{_COLOURS[position.side]} to move{counter}; dragons imitate {white} and {black}")
    if position.en_passant:
        lines.append("en passant: " + ", ".join(map(pair_text, position.en_passant)))
    if position.returning != NO_RETURN:
        code, tower = position.returning
        lines.append(f"the {TITLES[code & 15]} captured on {NAMES[tower]} may return")
    return "\n".join(lines)


_GAP = 0.14
"""Between two arenas, in squares."""
_MARGIN = 0.6


def _apart(square: int) -> tuple[float, float]:
    """Return how many gaps a square lies to the right and upwards; a tower lies between its arenas."""
    if ARENA_OF[square] >= 0:
        return float(ARENA_OF[square] % 3), float(ARENA_OF[square] // 3)
    low = TOUCHED[TOWERS.index(square)][0]
    return low % 3 + 0.5, low // 3 + 0.5


def _square_order(square: int) -> tuple[float, float]:
    """Return the top left corner of a square in the picture."""
    x, y = COORDINATES[square]
    right, up = _apart(square)
    return round(_MARGIN + x - 1 + _GAP * right, 2), round(0.2 + 11 - y + _GAP * (2 - up), 2)


def _cell(square: int) -> Cell:
    x, y = COORDINATES[square]
    shade = "tower" if TOWER_SET >> square & 1 else "dark" if (x + y) % 2 == 0 else "light"
    return Cell(NAMES[square], *_square_order(square), shade)


_WIDTH = _MARGIN + 11 + 2 * _GAP + 0.3
_HEIGHT = 0.2 + 11 + 2 * _GAP + 0.7
_CELLS = tuple(map(_cell, range(len(NAMES))))


def _labels() -> tuple[Label, ...]:
    """Return the name of each file under its lowest square and of each rank beside its first."""
    labels = []
    for file in _FILES:
        lowest = next(rank for rank in range(1, 12) if file in FILES_OF_RANKS[rank - 1])
        left, top = _square_order(NUMBERS[f"{file}{lowest}"])
        labels.append(Label(file, left + 0.5, top + 1.32))
    for rank, files in enumerate(FILES_OF_RANKS, 1):
        left, top = _square_order(NUMBERS[f"{files[0]}{rank}"])
        labels.append(Label(str(rank), left - 0.26, top + 0.72))
    return tuple(labels)


_LABELS = _labels()


def piece_of(code: int) -> Piece:
    """Return the piece of ``code`` as people see it."""
    seat, name = code >> 4, TITLES[code & 15]
    return Piece(seat, "monarch" if name == "king" else name, letter_of(code), f"{_COLOURS[seat].lower()} {name}")


_PIECES = {code: piece_of(code) for code in range(CODES) if 0 < code % BLACK <= LANCER}


def scene(position: Position) -> Scene:
    """Return what a picture of the position shows; in words, every piece with its arena or tower."""
    columns = {}
    spoken = {}
    for square, code in enumerate(position.board):
        if code:
            name, arena = NAMES[square], ARENA_OF[square]
            columns[name] = (_PIECES[code],)
            where = f"arena {NUMERALS[arena]}" if arena >= 0 else "a tower"
            spoken[name] = f"{name}, {where}: {_PIECES[code].title}"
    return Scene(_WIDTH, _HEIGHT, _CELLS, _LABELS, columns, spoken)
