"""A figure of a rules page: a position, what it shows, and what it claims about the rules.

Everything that a figure says is checkable. The page prints the claims beside the picture, the tests hold them against
the rules of the game.
"""

from typing import NamedTuple


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
    their number, ``legal`` and ``illegal`` are among them or not, and ``reached`` is all that the piece on ``reach``
    can do, drawn as marks on the squares. ``result`` is the end of the game after ``moves``; ``going_on`` claims that
    there is none.
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
    reach: str = ""
    reached: str = ""
    result: Result | None = None
    going_on: bool = False
    view: tuple[str, str] | None = None
