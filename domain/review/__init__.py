"""The review of a finished match: the loss of each move, found by the engine; the same on every machine."""

from domain.review.findings import FactDifference, Finding, examine
from domain.review.judgement import MoveLabel, MoveReview, Review, SeatReview, judge

__all__ = ["FactDifference", "Finding", "MoveLabel", "MoveReview", "Review", "SeatReview", "examine", "judge"]
