"""Animated pictures of a stretch of a match: requested by a person, made by a worker, kept for a day."""

from hashlib import sha256
from typing import NamedTuple

from events.store.converter import pack


class AnimationQuery(NamedTuple):
    """The boards after ``first`` to ``last`` plies; ``head`` is the digest of the last event."""

    head: str
    first: int
    last: int
    quarters: int
    """Quarter turns of the board."""

    @property
    def basis(self) -> str:
        """All that the picture follows from."""
        return sha256(pack(self)).hexdigest()
