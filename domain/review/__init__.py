"""The review of a finished match: what its moves cost, found by the engine; the same on every machine."""

from domain.review.findings import Difference, Finding, examine
from domain.review.judgement import Label, MoveReview, Review, SeatReview, judge

__all__ = ["Difference", "Finding", "Label", "MoveReview", "Review", "SeatReview", "examine", "judge"]
