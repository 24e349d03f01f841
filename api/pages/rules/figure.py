"""A figure of a rules page: a position, what it shows, and what it claims about the rules.

Everything that a figure says is checkable. The page prints the claims beside the picture, the tests hold them against
the rules of the game.
"""

from collections.abc import Iterable
from typing import NamedTuple

from domain.game import AnyGame
from domain.games import find_ruleset
from domain.scene import Label, Scene

MARGIN = 0.5
"""How far outside a part of a board, in squares, a text still belongs to it."""


class Result(NamedTuple):
    """How a game is claimed to have ended: one score per seat, and the reason."""

    scores: tuple[float, ...]
    reason: str


class Figure(NamedTuple):
    """One figure. Moves are written in canonical notation, several of them separated by spaces.

    ``caption`` may hold moves and squares in backquotes. ``moves`` are played from ``position``; then ``after`` is the
    position that they lead to and is drawn beside the first. ``view`` is two squares at opposite corners of the part
    of the board that is drawn (default: all of it).

    Claims about ``position``: ``complete`` is the list of all legal moves (an empty text: none), ``move_count``
    their number, ``legal`` and ``illegal`` are among them or not, ``read`` pairs other texts with the moves they name,
    and ``reached`` is all that the piece on ``reach`` can do, drawn as marks on the squares. ``result`` is the end of
    the game after ``moves``; ``going_on`` claims that there is none. All of this is by ``ruleset``, None being the
    one that a match gets that asks for none.
    """

    id: str
    position: str
    caption: str
    moves: str = ""
    after: str = ""
    complete: str | None = None
    move_count: int | None = None
    legal: str = ""
    illegal: str = ""
    read: tuple[tuple[str, str], ...] = ()
    reach: str = ""
    reached: str = ""
    result: Result | None = None
    going_on: bool = False
    view: tuple[str, str] | None = None
    ruleset: int | None = None


def rules_of(game: AnyGame, figure: Figure) -> AnyGame:
    """Return ``game`` with the ruleset by which ``figure`` speaks; raises UnknownRulesetError."""
    return game if figure.ruleset is None else find_ruleset(game.id, figure.ruleset)


def crop(scene: Scene, view: tuple[str, str] | None) -> Scene:
    """Return the part of ``scene`` between two squares at its corners, with the coordinates of what is left."""
    if view is None:
        return scene
    corners = [cell for cell in scene.cells if cell.square in view]
    left, right = min(cell.x for cell in corners), max(cell.x for cell in corners) + 1
    top, bottom = min(cell.y for cell in corners), max(cell.y for cell in corners) + 1
    cells = tuple(cell for cell in scene.cells if left <= cell.x < right and top <= cell.y < bottom)
    squares = {cell.square for cell in cells}
    return scene._replace(
        cells=cells,
        labels=tuple(_labels_of(scene, left, top, right, bottom)),
        columns={square: pieces for square, pieces in scene.columns.items() if square in squares},
        links=tuple(link for link in scene.links if squares.issuperset(link)),
    )


def _labels_of(scene: Scene, left: float, top: float, right: float, bottom: float) -> Iterable[Label]:
    """Yield the labels near the part of the board; one beside the whole board moves up to the part it names."""
    board_left, board_bottom = min(cell.x for cell in scene.cells), max(cell.y for cell in scene.cells) + 1
    for label in scene.labels:
        within_x, within_y = left <= label.x <= right, top <= label.y <= bottom
        near_x = left - MARGIN < label.x < right + MARGIN
        near_y = top - MARGIN < label.y < bottom + MARGIN
        if within_x and label.y > board_bottom:
            yield label._replace(y=bottom + label.y - board_bottom)
        elif within_y and label.x < board_left:
            yield label._replace(x=left + label.x - board_left)
        elif (within_x and near_y) or (within_y and near_x):
            yield label
