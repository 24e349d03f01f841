"""A Bashni position as text and as a scene, and the words of a page beside the picture."""

from collections.abc import Iterable, Sequence
from itertools import groupby

from domain.bashni.board import MAX_HALFMOVE_CLOCK, SEAT_NAMES, SQUARE_NUMBERS
from domain.bashni.legality import capturing_squares
from domain.bashni.moves import key
from domain.bashni.position import Position, column
from domain.facts import repetition_fact
from domain.grid import Grid
from domain.presentation import GameFact, PositionFormat, matters, seats_to_move
from domain.scene import Cell, Piece, Scene

_GRID = Grid("abcdefgh", 8, lambda square: "dark" if square in SQUARE_NUMBERS else "light")
POSITION_FORMAT: PositionFormat = PositionFormat(
    rows=_GRID.rows,
    item=r"\([wWbB]{2,}\)|[1-8]|[wWbB]",
    piece="[wWbB]",
    topmost_first=True,
    rest="[wb] [0-9]+",
    words=(seats_to_move(zip("wb", SEAT_NAMES, strict=True)),),
)


def diagram(position: Position) -> str:
    """Return the board with whole columns, from the top down, then the side to move and the draw counter."""
    written = [[_sign(position, square) for square in rank] for rank in _GRID.rows]
    widths = [max(map(len, file)) for file in zip(*written, strict=True)]
    lines = [_line(str(8 - number), rank, widths) for number, rank in enumerate(written)]
    lines.append(_line(" ", "abcdefgh", widths))
    lines += ["", f"{SEAT_NAMES[position.side]} to move"]
    if matters(position.halfmove_clock, MAX_HALFMOVE_CLOCK):
        lines.append(f"King moves without capture in a row: {position.halfmove_clock} of {MAX_HALFMOVE_CLOCK}")
    return "\n".join(lines)


def _sign(position: Position, square: str) -> str:
    return column(position, SQUARE_NUMBERS[square]) or "." if square in SQUARE_NUMBERS else ""


def _line(head: str, signs: Iterable[str], widths: Iterable[int]) -> str:
    return f"{head}  {' '.join(f'{sign:{width}}' for sign, width in zip(signs, widths, strict=True))}".rstrip()


def scene(position: Position) -> Scene:
    """Return the scene of ``position``: eight by eight cells with a margin of half a square for the coordinates."""
    columns: dict[str, tuple[Piece, ...]] = {}
    for name, square in SQUARE_NUMBERS.items():
        letters = column(position, square)
        if letters:
            columns[name] = tuple(_PIECES[letter] for letter in reversed(letters))
    spoken = {cell.square: f"{cell.square}: {_description(cell, columns.get(cell.square, ()))}" for cell in _GRID.cells}
    return _GRID.scene(columns, spoken)


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


def demand(position: Position) -> str:
    """Return the demand of a compulsory capture, with the columns that can capture (section 4)."""
    jumpers = capturing_squares(position)
    return f"You must capture: {', '.join(f'{name} can' for name in jumpers)}." if jumpers else ""


def facts(position: Position, history: Sequence[Position]) -> tuple[GameFact, ...]:
    """Return the columns and the prisoners of each seat, and the draw counter (section 6)."""
    return (*counts(position), *repetition_fact(position, history, key))
