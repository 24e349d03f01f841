"""The parts of a page of a game beside the picture: hints, facts, moves being composed, armies being set up."""

from collections.abc import Mapping
from typing import NamedTuple

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

    ``code`` stands for it in placements, ``title`` is its name, ``piece`` what its picture shows.
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
