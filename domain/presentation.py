"""The parts of a page of a game beside the picture: hints, facts, moves being composed, armies being set up."""

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from domain.scene import Piece, Scene


class Hint(NamedTuple):
    """One legal move as a board offers it, after its first square has been selected.

    ``path`` is the squares to select next, in order, or empty; ``label`` tells apart moves that share a path ("build").
    """

    move: str
    path: tuple[str, ...]
    label: str


class GameFact(NamedTuple):
    """Something that players keep count of: its title, the seat it is about (None: the whole game), its value."""

    title: str
    seat: int | None
    value: str


class PieceGuide(NamedTuple):
    """How one kind of piece moves, for people who have not met it.

    ``moves`` is a sentence that follows the ``name``; ``figure`` is the id of a figure of the rules page that shows it.
    """

    name: str
    moves: str
    figure: str


MAX_GUIDE_LENGTH: Final = 100
"""Characters of a sentence about a piece, which stands in two or three lines under a board on a phone."""


def matters(count: int, limit: int) -> bool:
    """Tell whether a counter that ends a game at ``limit`` is worth a line of text: from half of that on."""
    return 2 * count >= limit


class Composition(NamedTuple):
    """A kind of move that is put together part by part, because there are too many of them to enumerate.

    ``kind`` names it to ``compose`` and ``title`` to people. ``sources`` are the squares of the pieces that make it
    possible, ``pieces`` those of the pieces that can take part. ``free`` are the vacant squares where these may be put;
    it is empty when they move as they always do.
    """

    kind: str
    title: str
    sources: tuple[str, ...]
    pieces: tuple[str, ...]
    free: tuple[str, ...]


class Composed(NamedTuple):
    """A composed move as far as it has come.

    ``move`` is its canonical string, None while it is not legal; then ``reason`` says why, in a player's words, and
    ``failing`` is the index of the part that is not possible, None when every part is. ``scene`` is the board after the
    parts that are possible. ``following`` are the parts that can be added to these: hints by first square, as for
    moves, with the part in the place of the move.
    """

    move: str | None
    failing: int | None
    reason: str
    following: Mapping[str, tuple[Hint, ...]]
    scene: Scene


class DraftPiece(NamedTuple):
    """A kind of piece of an army: at most ``limit`` of it, each for ``price``, on ``squares``.

    ``code`` stands for it in placements, ``title`` is its name, ``piece`` the piece in its picture.
    """

    code: str
    title: str
    piece: Piece
    price: int
    limit: int
    squares: tuple[str, ...]


class ArmyDraft(NamedTuple):
    """The army that the seat to move has to set up in one turn: placements, written ``code@square``, and then ``done``.

    It costs at least ``least`` and at most ``budget``, has no two pieces on one square, and the piece of the code
    ``first`` is placed before all others. ``placed`` are the pieces that stand already, by square. ``ready`` is a whole
    army as placements, for players who do not want to choose one; empty once a piece has been placed.
    """

    pieces: tuple[DraftPiece, ...]
    first: str
    budget: int
    least: int
    placed: Mapping[str, str]
    ready: tuple[str, ...]
    done: str


def seats_to_move(seats: Iterable[tuple[str, str]], before: str = "") -> tuple[tuple[str, str], ...]:
    """Return the ``words`` of a ``PositionFormat``: the seat to move, by its letter, after fields like ``before``."""
    return tuple((f"^{before}{letter} .*", f"{name} to move") for letter, name in seats)


class PositionFormat(NamedTuple):
    """How programs that know no rules read a position string, to draw it.

    The string is a board, a space, and the other fields, which ``rest`` matches. ``rows`` are the squares of the board
    as the string has them, ``separators`` the text between two rows. In a row, each match of ``item`` is a number of
    empty squares or the contents of one square; there each match of ``piece`` is a piece, the topmost first or last.
    ``words`` are sentences about the position, each a chain of patterns and replacements that makes it, or nothing, of
    the other fields. ``frozen`` is the number of the field (from 1, after the board) with the first letters of frozen
    pieces, ``links`` of the one with pairs of squares whose pieces belong together, such as ``c3>d4;e5>e6``; 0: none.
    Patterns are regular expressions, replacements have $1, as JavaScript defines them.
    """

    rows: tuple[tuple[str, ...], ...]
    item: str
    rest: str
    words: tuple[tuple[tuple[str, str], ...], ...]
    piece: str = ".+"
    separators: str = "/"
    topmost_first: bool = False
    frozen: int = 0
    links: int = 0
