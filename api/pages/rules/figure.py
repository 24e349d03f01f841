"""A figure of a rules page: a position, what it shows, and what it claims about the rules.

Every claim is checkable: the page prints the claims beside the picture, and the tests check them against the rules.
"""

from collections.abc import Iterable
from typing import NamedTuple

from domain.game import AnyGame
from domain.games import find_ruleset
from domain.scene import Label, Scene

MARGIN = 0.5
"""How far outside a part of a board, in squares, a label still belongs to it."""


class Result(NamedTuple):
    """How a game is claimed to end: one score per seat, and the reason."""

    scores: tuple[float, ...]
    reason: str


class Figure(NamedTuple):
    """One figure. Moves are in canonical notation, separated by spaces.

    ``caption`` may hold moves and squares in backquotes. ``moves`` are played from ``position`` and lead to ``after``,
    which is drawn beside it. ``view`` is two squares at opposite corners of the part of the board that is drawn
    (default: the whole board).

    Claims about ``position``: ``complete`` lists all legal moves (empty: there are none), ``move_count`` is their
    number, ``legal`` moves are among them and ``illegal`` ones are not, ``read`` pairs other spellings with the moves
    they name, and ``reached`` lists all moves of the piece on ``reach``, drawn as marks on the squares. ``result`` is
    the end of the game after ``moves``; ``going_on`` claims that it has not ended. All claims hold under ``ruleset``
    (None: the default one).
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
    """Return the rules that the claims of ``figure`` refer to; raises UnknownRulesetError."""
    return game if figure.ruleset is None else find_ruleset(game.id, figure.ruleset)


def crop(scene: Scene, view: tuple[str, str] | None) -> Scene:
    """Return the part of ``scene`` between two squares at its corners, with its coordinates."""
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
    """Yield the labels of a part of the board; labels beside the whole board move next to the part."""
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
