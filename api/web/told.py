"""What the page of a match tells about the position as it stands: checks, demands and counts."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from domain.game import Fact
from domain.scene import Scene


class Counts(NamedTuple):
    """Facts as a table: the titles with a value for each seat, and those about the game as a whole."""

    rows: Mapping[str, list[str]]
    common: Mapping[str, str]


def counts(facts: Iterable[Fact], seats: int) -> Counts:
    """Return ``facts`` as a table of ``seats`` columns."""
    rows: dict[str, list[str]] = {}
    common: dict[str, str] = {}
    for fact in facts:
        if fact.seat is None:
            common[fact.title] = fact.value
        else:
            rows.setdefault(fact.title, [""] * seats)[fact.seat] = fact.value
    return Counts(rows, common)


def checks(scene: Scene, seats: Sequence[Mapping[str, Any]], viewer: int | None) -> list[str]:
    """Return a sentence for each king in check; ``viewer`` is the seat that reads it."""
    sentences = []
    for square in scene.checked:
        king = scene.columns[square][-1]
        owner = "Your" if king.seat == viewer else f"{seats[king.seat]['name']}'s"
        sentences.append(f"{owner} king on {square} is in check.")
    return sentences
