"""The engine's verdict on a position that is explored beside a finished match: asked by a person, found by a worker.

A position in which the person has a match that goes on is refused: nobody gets help in play.
"""

import hashlib
from typing import Final, NamedTuple

from events.store.converter import pack

EVALUATION: Final = "evaluation"
"""The kind of the job, and of its result."""


class EvaluationQuery(NamedTuple):
    """The question of ``person`` about the position after ``line``, canonical moves, from ``ply`` of a match.

    ``head`` is the digest of its last event, ``engine`` and ``nodes`` are those of the search.
    """

    head: str
    person: str
    ply: int
    line: tuple[str, ...]
    engine: int
    nodes: int

    @property
    def basis(self) -> str:
        """All that the answer follows from."""
        return hashlib.sha256(pack(self)).hexdigest()


class Evaluation(NamedTuple):
    """The answer: the points that each seat may expect, in ten-thousandths, and the best play.

    ``refused`` is the match of the person that stands in this position; empty when there is none.
    """

    refused: str = ""
    expected: tuple[int, ...] = ()
    best: tuple[str, ...] = ()
