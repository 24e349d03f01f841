"""Positions and the legal moves in them, as callers see them."""

from collections.abc import Mapping, Sequence
from typing import Annotated

from msgspec import Meta

from api.http.answers import Answer
from domain import presentation
from domain.game import Outcome as GameOutcome


class Outcome(Answer):
    """How a game has ended: a score per seat, and why."""

    scores: Sequence[float]
    reason: str


class Hint(Answer):
    """A legal move as a board offers it, after its first square has been selected."""

    move: str
    path: Annotated[Sequence[str], Meta(description="Squares to select next, in order")]
    label: str


Hints = Mapping[str, Sequence[Hint]]
"""Hints by the square that is selected first."""


class Composition(Answer):
    """A kind of move that is put together part by part."""

    kind: Annotated[str, Meta(description="Its name where it is checked")]
    title: str
    sources: Annotated[Sequence[str], Meta(description="Where the pieces stand that make it possible")]
    pieces: Annotated[Sequence[str], Meta(description="Where the pieces stand that can take part")]
    free: Annotated[Sequence[str], Meta(description="Vacant squares where they may be put")]


class DraftPiece(Answer):
    """A kind of piece of which an army may be set up."""

    code: Annotated[str, Meta(description="Stands for it in placements, which are written code@square")]
    title: str
    price: int
    limit: Annotated[int, Meta(description="How many of it an army has at most")]
    squares: Annotated[Sequence[str], Meta(description="Where it may be placed")]


class Draft(Answer):
    """An army that is to be set up in one turn."""

    pieces: Sequence[DraftPiece]
    first: Annotated[str, Meta(description="The code of the piece that is placed before all others")]
    budget: Annotated[int, Meta(description="What the army may cost")]
    least: Annotated[int, Meta(description="What it must cost")]
    placed: Annotated[Mapping[str, str], Meta(description="The codes of the pieces that are placed already, by square")]
    ready: Annotated[Sequence[str], Meta(description="A whole army as placements; empty once a piece has been placed")]
    done: Annotated[str, Meta(description="The move that follows the placements")]


def represent_outcome(outcome: GameOutcome | None) -> Outcome | None:
    """Return how a game has ended, None while it goes on."""
    return None if outcome is None else Outcome.of(outcome)


def represent_hints(hints: Mapping[str, Sequence[presentation.Hint]]) -> Hints:
    """Return hints by the square that is selected first."""
    return {square: list(map(Hint.of, square_hints)) for square, square_hints in hints.items()}
