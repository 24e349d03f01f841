"""Rectangular boards: their squares, the ranks of a position string, and the cells and labels of a picture."""

import re
from collections.abc import Callable, Mapping, Sequence

from domain.errors import MalformedNotation
from domain.scene import Cell, Label, Piece, Scene

MARGIN = 0.5
"""Squares between the board and the edge of its picture, with the coordinates."""


class Grid:
    """A board of files, named by letters, and ranks, named by numbers from 1; a1 is its lower left corner."""

    def __init__(self, files: str, ranks: int, kind: Callable[[str], str] | None = None) -> None:
        """``kind`` returns the kind of a square; without it squares are dark and light in turns, a1 is dark."""
        kind = kind or _shade
        self.squares = tuple(f"{file}{rank}" for file in files for rank in range(1, ranks + 1))
        """The squares in the ASCII order of their names, while there are fewer than ten ranks."""
        self.rows = tuple(tuple(f"{file}{rank}" for file in files) for rank in range(ranks, 0, -1))
        """The squares in the order of a position string: rank by rank from the top."""
        self.cells = tuple(
            Cell(f"{file}{rank}", x + MARGIN, ranks - rank + MARGIN, kind(f"{file}{rank}"))
            for x, file in enumerate(files)
            for rank in range(1, ranks + 1)
        )
        self.labels = (
            *(Label(file, x + 2 * MARGIN, ranks + 1.5 * MARGIN) for x, file in enumerate(files)),
            *(Label(str(rank), MARGIN / 2, float(ranks - rank + 1)) for rank in range(1, ranks + 1)),
        )
        self.width, self.height = len(files) + 2 * MARGIN, ranks + 2 * MARGIN

    def scene(self, columns: Mapping[str, tuple[Piece, ...]], spoken: Mapping[str, str] | None = None) -> Scene:
        """Return the scene with ``columns``, the pieces by square; see ``Scene`` for ``spoken``."""
        return Scene(self.width, self.height, self.cells, self.labels, columns, spoken or {})


def _shade(square: str) -> str:
    return "light" if (ord(square[0]) - ord("a") + int(square[1:])) % 2 == 0 else "dark"


def parse_ranks(text: str, rows: Sequence[Sequence[str]], item: re.Pattern[str], rank: str = "rank") -> dict[str, str]:
    """Return the contents of the squares ``rows``, as written in ``text``; empty squares are left out.

    In each rank, a match of ``item`` is a number of empty squares or the contents of one square. Raises
    MalformedNotation with the rank, which players may call by another name, and the reason.
    """
    ranks = text.split("/")
    if len(ranks) != len(rows):
        raise MalformedNotation(f"expected {len(rows)} {rank}s separated by '/', got {len(ranks)}")
    contents: dict[str, str] = {}
    for written, squares in zip(ranks, rows, strict=True):
        name, size = f"{rank} {squares[0].lstrip('abcdefghijklmnopqrstuvwxyz')}", len(squares)
        place = at = 0
        while at < len(written) and place <= size:
            token = item.match(written, at)
            if token is None:
                raise MalformedNotation(f"{name}: unknown piece at {written[at : at + 3]!r}")
            sign, at = token[0], token.end()
            if not sign.isdigit():
                contents.update(dict.fromkeys(squares[place : place + 1], sign))
            elif sign[0] == "0" or len(sign) > 2 or int(sign) > size:
                raise MalformedNotation(f"{name}: bad run of empty squares {sign[:5]!r}")
            place += int(sign) if sign.isdigit() else 1
        if place != size:
            raise MalformedNotation(f"{name}: has {f'more than {size}' if place > size else place} squares, not {size}")
    return contents


def with_runs(board: str, longest: int, between: str = "") -> str:
    """Return ``board`` with each run of spaces, which stand for empty squares, as its length, at most ``longest``."""
    for run in range(longest, 0, -1):
        board = board.replace(between.join(" " * run), str(run))
    return board
