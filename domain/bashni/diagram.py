"""A Bashni position as text and as a scene, and the words of a page beside the picture."""

from collections.abc import Sequence
from itertools import groupby

from domain.bashni.board import MAX_HALFMOVE_CLOCK, SEAT_NAMES, SQUARE_NUMBERS
from domain.bashni.legality import capturing_squares
from domain.bashni.moves import key
from domain.bashni.position import Position, column
from domain.facts import repetition_fact
from domain.presentation import GameFact, matters
from domain.scene import Cell, Label, Piece, Scene

_FILES = "abcdefgh"
_RANKS = "12345678"
_MARGIN = 0.5


def diagram(position: Position) -> str:
    """Return the board with whole columns, from the top down, then the side to move and the draw counter."""
    written = {name: column(position, square) or "." for name, square in SQUARE_NUMBERS.items()}
    widths = {file: max(len(written.get(file + rank, "")) for rank in _RANKS) for file in _FILES}
    lines = []
    for rank in reversed(_RANKS):
        cells = [f"{written.get(file + rank, ''):{widths[file]}}" for file in _FILES]
        lines.append(f"{rank}  {' '.join(cells)}".rstrip())
    lines.append(f"   {' '.join(f'{file:{widths[file]}}' for file in _FILES)}".rstrip())
    lines += ["", f"{SEAT_NAMES[position.side]} to move"]
    if matters(position.halfmove_clock, MAX_HALFMOVE_CLOCK):
        lines.append(f"King moves without capture in a row: {position.halfmove_clock} of {MAX_HALFMOVE_CLOCK}")
    return "\n".join(lines)


def scene(position: Position) -> Scene:
    """Return the scene of ``position``: eight by eight cells with a margin of half a square for the coordinates."""
    columns: dict[str, tuple[Piece, ...]] = {}
    for name, square in SQUARE_NUMBERS.items():
        letters = column(position, square)
        if letters:
            columns[name] = tuple(_PIECES[letter] for letter in reversed(letters))
    return Scene(
        width=8 + 2 * _MARGIN,
        height=8 + 2 * _MARGIN,
        cells=_CELLS,
        labels=_LABELS,
        columns=columns,
        spoken={cell.square: f"{cell.square}: {_description(cell, columns.get(cell.square, ()))}" for cell in _CELLS},
    )


def counts(position: Position) -> tuple[GameFact, ...]:
    """Return how many columns each seat commands, how many enemies lie under them, and the draw counter."""
    owned: tuple[list[str], list[str]] = ([], [])
    for square in SQUARE_NUMBERS.values():
        letters = column(position, square)
        if letters:
            owned["wb".index(letters[0].lower())].append(letters)
    prisoners = [sum(letters.lower().count("bw"[seat]) for letters in owned[seat]) for seat in (0, 1)]
    return (
        *(GameFact("Columns", seat, str(len(owned[seat]))) for seat in (0, 1)),
        *(GameFact("Prisoners", seat, str(prisoners[seat])) for seat in (0, 1)),
        GameFact("King moves without a capture in a row", None, f"{position.halfmove_clock} of {MAX_HALFMOVE_CLOCK}"),
    )


def _description(cell: Cell, pieces: tuple[Piece, ...]) -> str:
    if not pieces:
        return "empty" if cell.kind == "dark" else "light square, not used"
    if len(pieces) == 1:
        return pieces[0].title
    commander, *rest = reversed(pieces)
    layers = [_with_count(piece, len(list(equals))) for piece, equals in groupby(rest)]
    beneath = layers[0] if len(layers) == 1 else f"{', '.join(layers[:-1])} and {layers[-1]}"
    return f"tower of {len(pieces)}, {commander.title} over {beneath}"


def _with_count(piece: Piece, count: int) -> str:
    if count == 1:
        return f"1 {piece.title}"
    return f"{count} {piece.title.replace('man', 'men').replace('king', 'kings')}"


_PIECES = {
    "w": Piece(0, "man", "w", "white man"),
    "W": Piece(0, "king", "W", "white king"),
    "b": Piece(1, "man", "b", "black man"),
    "B": Piece(1, "king", "B", "black king"),
}
_CELLS = tuple(
    Cell(file + rank, x + _MARGIN, 7 - y + _MARGIN, "dark" if file + rank in SQUARE_NUMBERS else "light")
    for x, file in enumerate(_FILES)
    for y, rank in enumerate(_RANKS)
)
_LABELS = (
    *(Label(file, x + 2 * _MARGIN, 8 + 1.5 * _MARGIN) for x, file in enumerate(_FILES)),
    *(Label(rank, _MARGIN / 2, 8.0 - y) for y, rank in enumerate(_RANKS)),
)


def demand(position: Position) -> str:
    """Return that a capture is compulsory, and which columns can capture (section 4)."""
    jumpers = capturing_squares(position)
    return f"You must capture: {', '.join(f'{name} can' for name in jumpers)}." if jumpers else ""


def facts(position: Position, history: Sequence[Position]) -> tuple[GameFact, ...]:
    """Return the columns and the prisoners of each seat, and the draw counter (section 6)."""
    return (*counts(position), *repetition_fact(position, history, key))
