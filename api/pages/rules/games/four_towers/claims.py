"""Claims that certain moves are all legal moves of a kind."""

from typing import NamedTuple

from api.pages.rules.figure import Figure


class Only(NamedTuple):
    """The legal moves whose strings match ``pattern`` are ``moves``, separated by spaces, or ``number`` of them.

    ``words`` says in the caption which moves are meant. Rearrangements and multi-moves are moves like all others here.
    """

    words: str
    pattern: str
    moves: str = ""
    number: int = 0


class Shown(NamedTuple):
    """A figure, and its claims about all moves of some kinds in its first position."""

    figure: Figure
    only: tuple[Only, ...]


def shown(figure: Figure, *only: Only) -> Shown:
    """Return ``figure`` with its claims, which are appended to its caption."""
    return Shown(figure._replace(caption=" ".join((figure.caption, *map(_sentence, only)))), only)


def _sentence(claim: Only) -> str:
    if claim.number:
        return f"{claim.words}: {claim.number} in all."
    moves = ", ".join(f"`{move}`" for move in claim.moves.split())
    return f"{claim.words}: {moves}; no others." if moves else f"{claim.words}: none."


def promoting(move: str) -> str:
    """Return the eight moves that ``move`` is on a promotion square."""
    return " ".join(f"{move}={letter}" for letter in "BCDMNQRW")
