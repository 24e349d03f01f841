"""The recent matches of a person, by which others decide whether to play them."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from statistics import median
from typing import NamedTuple

from domain.match.enums import EndReason, Status
from domain.match.terms import DAY
from domain.rating import pairwise
from events.matches.readmodels import ReadModels, Summary
from events.matches.readmodels.lists import DRAWN, LOST, WON

MAX_MATCHES = 200
FLAGS_COUNT_FOR_MS = 90 * DAY
MIN_PLIES_OF_PACE = 10
MIN_MATCHES_OF_PACE = 3


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


def pace_ms(finished: Sequence[Summary]) -> int | None:
    """Return the median time for a ply in the ``finished`` matches of ten plies or more; None for fewer than three."""
    paces = [
        (match.ended_at - match.created_at) // match.ply
        for match in finished
        if match.ended_at is not None and match.ply >= MIN_PLIES_OF_PACE
    ]
    return int(median(paces)) if len(paces) >= MIN_MATCHES_OF_PACE else None


class PlayerResults(NamedTuple):
    """How often a player has won, drawn and lost (WON, DRAWN, LOST), by pool and by opponent."""

    pools: Mapping[str, Counter[str]]
    opponents: Mapping[str, Counter[str]]


def results_of(finished: Sequence[Summary], person: str) -> PlayerResults:
    """Return the results of a player in the ``finished`` matches.

    In a pool the best player has won, several best players have drawn; against each opponent the better place
    counts.
    """
    pools, opponents = defaultdict[str, Counter[str]](Counter), defaultdict[str, Counter[str]](Counter)
    for match in finished:
        scores = match.scores or ()
        for seat, row in enumerate(pairwise(scores) if scores else ()):
            if match.seats[seat].player != person:
                continue
            best = [score == max(scores) for score in scores]
            pools[match.pool][LOST if not best[seat] else DRAWN if sum(best) > 1 else WON] += 1
            for other, score in row:
                opponent = match.seats[other].player
                if opponent not in (None, person):
                    opponents[opponent][WON if score > 0.5 else LOST if score < 0.5 else DRAWN] += 1
    return PlayerResults(pools, opponents)


def _is_lost_on_time(match: Summary, person: str) -> bool:
    scores = match.scores or ()
    return match.reason == EndReason.FLAG and any(
        seat.player == person and score == min(scores) for seat, score in zip(match.seats, scores, strict=True)
    )
