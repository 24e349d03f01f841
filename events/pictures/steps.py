"""The differences between the boards of a match from ply to ply, as markup: a page steps through them by itself."""

from collections.abc import Container, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple, TypedDict

from domain.scene import Cell, Piece, Scene
from events.pictures.board import Trace, column_at, face_id, faces, link_between, mark_at, marks_on, notes_on
from events.pictures.turning import turn_scene

Overlay = tuple[tuple[str, str], ...]
"""Drawings above squares: the square and the markup of each, in drawing order."""


class DisplayedBoard(NamedTuple):
    """A position as it is displayed: turned, with its marks."""

    scene: Scene
    cells: Mapping[str, Cell]
    notes: Mapping[str, str]
    marks: Overlay
    links: Overlay


class PlyDifference(TypedDict):
    """The differences before and after a ply, as pairs, by square; ``marks`` and ``links`` are whole."""

    ply: int
    columns: dict[str, tuple[str, str]]
    squares: dict[str, tuple[tuple[str, str], tuple[str, str]]]
    marks: tuple[Overlay, Overlay] | None
    links: tuple[Overlay, Overlay] | None


class Steps(TypedDict):
    """Consecutive steps, and the drawings of the pieces in them by id."""

    faces: dict[str, str]
    steps: list[PlyDifference]


def board_of(
    scene: Scene, colours: Sequence[str], *, quarters: int = 0, traces: Sequence[Trace] = ()
) -> DisplayedBoard:
    """Return ``scene`` as ``draw`` shows it with these arguments."""
    scene = turn_scene(scene, quarters)
    cells = {cell.square: cell for cell in scene.cells}
    marks = ((mark.square, mark_at(mark, *_corner(cells[mark.square]))) for mark in marks_on(scene, traces, colours))
    links = ((one, link_between(_corner(cells[one]), _corner(cells[other]))) for one, other in scene.links)
    return DisplayedBoard(scene, cells, notes_on(scene), tuple(marks), tuple(links))


def steps_between(
    boards: Iterable[DisplayedBoard], colours: Sequence[str], first: int, drawn: Container[str] = ()
) -> Steps:
    """Return the steps between ``boards``, the first after ``first`` plies, without drawings in ``drawn``."""
    steps: list[PlyDifference] = []
    pieces: list[Piece] = []
    for ply, (before, after) in enumerate(pairwise(boards), first + 1):
        step = _step(ply, before, after, colours)
        steps.append(step)
        pieces += (piece for square in step["columns"] for board in (before, after) for piece in _column(board, square))
    missing = [piece for piece in pieces if face_id(piece, colours) not in drawn]
    return {"faces": faces(missing, colours), "steps": steps}


def _step(ply: int, before: DisplayedBoard, after: DisplayedBoard, colours: Sequence[str]) -> PlyDifference:
    columns, squares = {}, {}
    for square, cell in after.cells.items():
        one, other = _column(before, square), _column(after, square)
        if one != other:
            columns[square] = column_at(cell, one, colours), column_at(cell, other, colours)
        texts = _texts(before, square), _texts(after, square)
        if texts[0] != texts[1]:
            squares[square] = texts
    return {
        "ply": ply,
        "columns": columns,
        "squares": squares,
        "marks": None if before.marks == after.marks else (before.marks, after.marks),
        "links": None if before.links == after.links else (before.links, after.links),
    }


def _column(board: DisplayedBoard, square: str) -> Sequence[Piece]:
    return board.scene.columns.get(square, ())


def _texts(board: DisplayedBoard, square: str) -> tuple[str, str]:
    return board.scene.contents(square), board.notes.get(square, "")


def _corner(cell: Cell) -> tuple[float, float]:
    return cell.x, cell.y
