"""The recent matches of a person, by which others decide whether to play them."""

from collections.abc import Sequence

from domain.match.enums import EndReason, Status
from domain.match.terms import DAY
from events.matches.readmodels import ReadModels, Summary

MAX_MATCHES = 200
FLAGS_COUNT_FOR_MS = 90 * DAY


def finished_matches(readmodels: ReadModels, person: str) -> list[Summary]:
    """Return the last finished matches of a person, MAX_MATCHES at most."""
    page = readmodels.matches(
        "finished", person, limit=MAX_MATCHES, wanted=lambda match: match.status == Status.FINISHED
    )
    return [match for match in page.items if match.status == Status.FINISHED]


def count_flags(finished: Sequence[Summary], person: str, now: int) -> int:
    """Return how many of the ``finished`` matches a person has lost on time in the 90 days before ``now``."""
    since = now - FLAGS_COUNT_FOR_MS
    return sum((match.ended_at or 0) >= since and _is_lost_on_time(match, person) for match in finished)


def _is_lost_on_time(match: Summary, person: str) -> bool:
    scores = match.scores or ()
    return match.reason == EndReason.FLAG and any(
        seat.player == person and score == min(scores) for seat, score in zip(match.seats, scores, strict=True)
    )
