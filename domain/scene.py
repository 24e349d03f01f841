"""The parts of a picture of a board: the pieces and their places, without their looks.

A game describes a position as a scene; one renderer outside the domain draws the scenes of all games. Lengths are in
squares; x grows to the right and y downwards, from the top left corner of the picture.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

COLOURS = ("white", "black", "red", "blue", "yellow", "green")
"""The colours that the pieces of a seat may have: each is a class of the style sheet of pictures."""


class Piece(NamedTuple):
    """A piece as drawn: seat (-1: nobody's), kind, letter (position string), title; a ``frozen`` one has no owner."""

    seat: int
    kind: str
    letter: str
    title: str
    frozen: bool = False


class Cell(NamedTuple):
    """A square of the board: its name, its top left corner, and its kind (``light``, ``dark``, ``castle`` ...).

    A name is one or two letters and a number of one or two digits; see ``Scene.has_levels``.
    """

    square: str
    x: float
    y: float
    kind: str


class Label(NamedTuple):
    """A text beside the board, centred on (x, y): a file letter, a rank number, the name of a level."""

    text: str
    x: float
    y: float


class Note(NamedTuple):
    """Something about a square that its picture does not show, such as an effect: a title and sentences."""

    square: str
    title: str
    text: str


class Scene(NamedTuple):
    """A position as it is drawn.

    ``columns`` maps a square to the pieces on it, bottom first; empty squares are left out. ``spoken`` maps a square to
    its contents in words where they are more than the titles of its pieces: see ``contents``. ``links`` are pairs of
    squares whose pieces belong together. ``notes`` are shown on request. ``checked`` are the squares of the kings in
    check.
    """

    width: float
    height: float
    cells: tuple[Cell, ...]
    labels: tuple[Label, ...]
    columns: Mapping[str, tuple[Piece, ...]]
    spoken: Mapping[str, str] = MappingProxyType({})
    links: tuple[tuple[str, str], ...] = ()
    notes: tuple[Note, ...] = ()
    checked: tuple[str, ...] = ()

    def contents(self, square: str) -> str:
        """Return a square and its contents in words, for screen readers."""
        titles = [piece.title for piece in reversed(self.columns.get(square, ()))]
        return self.spoken.get(square) or f"{square}: {' over '.join(titles) or 'empty'}"

    @property
    def has_levels(self) -> bool:
        """Whether a square is named by two letters for its place on a level and the number of the level."""
        return any(cell.square[1].isalpha() for cell in self.cells)


def text_of(scene: Scene) -> str:
    """Return a board as lines of text: the letters of the pieces on each square, bottom first, a dot for none."""
    places = {(cell.x, cell.y): cell.square for cell in scene.cells}
    columns = sorted({x for x, _ in places})
    signs = {square: "".join(piece.letter for piece in pieces) for square, pieces in scene.columns.items()}
    width = max(map(len, signs.values()), default=1)
    files, lines = [""] * len(columns), []
    for y in sorted({y for _, y in places}):
        squares = [places.get((x, y), "") for x in columns]
        files = [square.rstrip("0123456789") or file for square, file in zip(squares, files, strict=True)]
        rank = next(filter(None, squares)).lstrip("abcdefghijklmnopqrstuvwxyz")
        lines.append(_line(rank, [signs.get(square, ".") if square else "" for square in squares], width))
    return "\n".join([*lines, _line("", files, width)])


def _line(rank: str, signs: list[str], width: int) -> str:
    return f"{rank:>2} {' '.join(f'{sign:{width}}' for sign in signs)}".rstrip()
