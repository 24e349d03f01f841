"""Turning a scene by quarter turns: squares turn about the middle, labels stay on their sides."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

from domain.scene import Cell, Label, Scene

Point = tuple[float, float]

APART = 1.5
"""Cells whose corners differ by less than this on both axes belong to one part of the board."""


def turn_scene(scene: Scene, quarters: int) -> Scene:
    """Return ``scene`` turned clockwise by ``quarters`` quarter turns."""
    if quarters % 4 == 0:
        return scene
    cells, labels = _turn(scene.cells, scene.labels, quarters % 4)
    width, height = (scene.width, scene.height) if quarters % 2 == 0 else (scene.height, scene.width)
    return scene._replace(width=width, height=height, cells=cells, labels=labels)


class BoardPart(NamedTuple):
    """A part of the board, such as a level: its squares from the top left one on, and its labels."""

    cells: tuple[Cell, ...]
    labels: tuple[Label, ...]


@lru_cache(maxsize=64)
def parts(cells: tuple[Cell, ...], labels: tuple[Label, ...]) -> tuple[BoardPart, ...]:
    """Return the parts of the board from the top left one to the bottom right one."""
    left = list(cells)
    ordered = []
    while left:
        part = [left.pop()]
        for cell in part:
            near = [other for other in left if abs(other.x - cell.x) < APART and abs(other.y - cell.y) < APART]
            part += near
            left = [other for other in left if other not in near]
        ordered.append(tuple(sorted(part, key=_reading_order)))
    ordered.sort(key=lambda part: _reading_order(part[0]))
    nearest = [_nearest(label, cells) for label in labels]
    return tuple(
        BoardPart(part, tuple(label for label, cell in zip(labels, nearest, strict=True) if cell in part))
        for part in ordered
    )


def _reading_order(cell: Cell) -> Point:
    return cell.y, cell.x


@lru_cache(maxsize=64)
def _turn(
    cells: tuple[Cell, ...], labels: tuple[Label, ...], quarters: int
) -> tuple[tuple[Cell, ...], tuple[Label, ...]]:
    rotate = _rotation(cells, quarters)
    turned_cells = []
    for cell in cells:
        x, y = rotate(_middle(cell))
        turned_cells.append(cell._replace(x=round(x - 0.5, 3), y=round(y - 0.5, 3)))
    turned_labels = []
    for part in parts(cells, labels):
        for label in part.labels:
            near, far = _line(label, part)
            here, opposite = (label.x, label.y), (near[0] + far[0] - label.x, near[1] + far[1] - label.y)
            stays = _side_of(here, near) == _side_of(rotate(here), rotate(near))
            x, y = rotate(here if stays else opposite)
            turned_labels.append(label._replace(x=round(x, 3), y=round(y, 3)))
    return tuple(turned_cells), tuple(turned_labels)


def _rotation(cells: Sequence[Cell], quarters: int) -> Callable[[Point], Point]:
    xs, ys = [cell.x for cell in cells], [cell.y for cell in cells]
    middle_x, middle_y = (min(xs) + max(xs) + 1) / 2, (min(ys) + max(ys) + 1) / 2

    def rotate(point: Point) -> Point:
        x, y = point[0] - middle_x, point[1] - middle_y
        for _ in range(quarters):
            x, y = -y, x
        return middle_x + x, middle_y + y

    return rotate


def _middle(cell: Cell) -> Point:
    return cell.x + 0.5, cell.y + 0.5


def _nearest(label: Label, cells: tuple[Cell, ...]) -> Cell:
    return min(cells, key=lambda cell: (cell.x + 0.5 - label.x) ** 2 + (cell.y + 0.5 - label.y) ** 2)


def _line(label: Label, part: BoardPart) -> tuple[Point, Point]:
    """Return the middles of both ends of the row or column that ``label`` belongs to, its own end first."""
    here, near = (label.x, label.y), _middle(_nearest(label, part.cells))
    along = 0 if abs(here[0] - near[0]) > abs(here[1] - near[1]) else 1
    line = [middle for middle in map(_middle, part.cells) if abs(middle[1 - along] - near[1 - along]) < 0.5]
    return near, max(line, key=lambda middle: abs(middle[along] - here[along]))


def _side_of(label: Point, square: Point) -> str:
    """Return on which of two sides a label stands: left of or below its square, or right of or above it."""
    x, y = label[0] - square[0], label[1] - square[1]
    return "left or below" if (x < 0 if abs(x) > abs(y) else y > 0) else "right or above"
