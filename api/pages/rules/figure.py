"""A figure of a rules page: a position, what it shows, and what it claims about the rules.

Every claim is checkable: the page prints the claims beside the picture, and the tests check them against the rules. The
figures of a game stand in a file beside the template of its page.
"""

import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from domain.game import AnyGame
from domain.games import find_ruleset
from domain.scene import Label, Scene

MARGIN = 0.5
"""How far outside a part of a board, in squares, a label still belongs to it."""


class Result(NamedTuple):
    """How a game is claimed to end: one score per seat, and the reason."""

    scores: tuple[float, ...]
    reason: str


class Only(NamedTuple):
    """The legal moves whose strings match ``pattern`` are ``moves``, separated by spaces, or ``number`` of them.

    ``words`` says in the caption which moves are meant. Rearrangements and multi-moves are moves like all others here.
    """

    words: str
    pattern: str
    moves: str = ""
    number: int = 0

    @property
    def sentence(self) -> str:
        """The claim as a part of the caption."""
        if self.number:
            return f"{self.words}: {self.number} in all."
        moves = ", ".join(f"`{move}`" for move in self.moves.split())
        return f"{self.words}: {moves}; no others." if moves else f"{self.words}: none."


class Figure(NamedTuple):
    """One figure. Moves are in canonical notation, separated by spaces.

    ``caption`` may hold moves and squares in backquotes. ``moves`` are played from ``position`` and lead to ``after``,
    which is drawn beside it. ``view`` is two squares at opposite corners of the part of the board that is drawn
    (default: the whole board).

    Claims about ``position``: ``complete`` lists all legal moves (empty: there are none), ``move_count`` is their
    number, ``legal`` moves are among them and ``illegal`` ones are not, ``read`` pairs other spellings with the moves
    they name, and ``reached`` lists all moves of the piece on ``reach``, drawn as marks on the squares. ``result`` is
    the end of the game after ``moves``; ``going_on`` claims that it has not ended. ``only`` are claims about all moves
    of some kind, which end the caption. All claims hold under ``ruleset`` (None: the default one).
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
    only: tuple[Only, ...] = ()


def read_figures(path: Path) -> tuple[Figure, ...]:
    """Return the figures in a TOML file, in order.

    Raises TypeError for one with an unknown member, or without one that it needs.
    """
    return tuple(_figure(**fields) for fields in tomllib.loads(path.read_text())["figure"])


def _figure(
    *,
    caption: str,
    read: Iterable[Iterable[str]] = (),
    result: Mapping[str, Any] | None = None,
    view: tuple[str, str] | None = None,
    only: Iterable[Mapping[str, Any]] = (),
    **fields: Any,
) -> Figure:
    claims = tuple(Only(**claim) for claim in only)
    return Figure(
        caption=" ".join((caption, *(claim.sentence for claim in claims))),
        read=tuple((text, move) for text, move in read),
        result=None if result is None else Result(tuple(result["scores"]), result["reason"]),
        view=None if view is None else (view[0], view[1]),
        only=claims,
        **fields,
    )


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
