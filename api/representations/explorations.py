"""Trees of moves as the API shows them."""

from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta

from api.http.answers import Answer


class ExploredMove(Answer):
    """A move of a tree, in canonical notation, with those after it."""

    move: str
    next: Sequence["ExploredMove"]
    comment: Annotated[str, Meta(description="On the position after the move; empty: none")] = ""


class Exploration(Answer):
    """A tree of moves from the position after ``ply`` plies; without one all is null, or empty."""

    ply: int | None
    position: Annotated[str | None, Meta(description="From which the tree grows")]
    tree: Sequence[ExploredMove]
