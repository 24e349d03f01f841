"""The reviews of finished matches: requested as jobs of the fleet, stored by all that they follow from.

A review is derived: for the same head, engine and node budget it has the same bytes on every machine. One that is
not stored any more can be requested again.
"""

import hashlib
import json
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final, NamedTuple

from domain.match.enums import Status
from domain.match.state import MatchState
from domain.review import Review
from domain.review.judgement import REVIEW_VERSION
from domain.search import ENGINE_VERSION
from domain.search.expectation import EXPECTATION_VERSION
from events.matches.fleet_jobs import FleetJobs, Parameters
from events.matches.jobs import Jobs
from events.matches.matches import Loaded, Matches

REVIEW: Final = "review"
"""The kind of the fleet job, and of its result."""

NODES: Final = 24_000
"""The node budget of the search of each position: that of an opponent of level 8."""

RESULT_TTL_S = 365 * 24 * 3600


class ReviewState(StrEnum):
    """How far a review has come."""

    NONE = "none"
    ASKED = "asked"
    FINISHED = "finished"


class ReviewQuery(NamedTuple):
    """The review of a match as it stands at the digest ``head``."""

    match: str
    head: str

    @property
    def basis(self) -> str:
        """All that the review follows from."""
        return f"{self.head}:{ENGINE_VERSION}:{EXPECTATION_VERSION}:{REVIEW_VERSION}:{NODES}"


class OutdatedReviewError(Exception):
    """The match has changed since its review was requested."""


def query_of(loaded: Loaded) -> ReviewQuery:
    """Return the query for the review of a match as it stands."""
    return ReviewQuery(loaded.state.match_id, loaded.head.digest.hex())


def is_reviewable(loaded: Loaded) -> bool:
    """Return whether a match is over and can be replayed, and has moves: before its end no engine is asked."""
    state = loaded.state
    return state.status == Status.FINISHED and state.play.broken is None and bool(state.play.moves)


def load_reviewed(matches: Matches, query: ReviewQuery) -> MatchState:
    """Return the state of the match of a review; raises OutdatedReviewError when it is another one by now."""
    loaded = matches.load(query.match)
    if not is_reviewable(loaded) or query_of(loaded) != query:
        raise OutdatedReviewError(f"the match {query.match} has changed since its review was requested")
    return loaded.state


class Reviews(NamedTuple):
    """The reviews of an installation."""

    jobs: Jobs
    fleet_jobs: FleetJobs

    def request(self, query: ReviewQuery) -> None:
        """Start the job that makes a review, unless it runs. Crash-safe: a second one has the same result."""
        self.fleet_jobs.start(REVIEW, _parameters(query))

    def state(self, query: ReviewQuery) -> ReviewState:
        """Return how far a review has come."""
        if self.stored(query) is not None:
            return ReviewState.FINISHED
        running = self.fleet_jobs.find_running(REVIEW, _parameters(query))
        return ReviewState.NONE if running is None else ReviewState.ASKED

    def stored(self, query: ReviewQuery) -> bytes | None:
        """Return the document of a review; None when there is none."""
        return self.jobs.result(query.match, REVIEW, query.basis)

    def store(self, query: ReviewQuery, document: bytes) -> None:
        """Store the document of a review."""
        self.jobs.store_result(query.match, REVIEW, query.basis, document, RESULT_TTL_S)


def _parameters(query: ReviewQuery) -> Parameters:
    return query._asdict()


def write_review(query: ReviewQuery, game: str, ruleset: int, review: Review) -> bytes:
    """Return the document of a review: JSON with sorted keys, no white space, only integers and text (RFC 8785)."""
    return _canonical(
        {
            "format": f"rookery-review-{REVIEW_VERSION}",
            "match": query.match,
            "head": query.head,
            "game": game,
            "ruleset": ruleset,
            "engine": ENGINE_VERSION,
            "expectation": EXPECTATION_VERSION,
            "nodes": NODES,
            "expected": review.expected,
            "seats": [seat._asdict() for seat in review.seats],
            "moves": [
                move._asdict() | {"differences": [difference._asdict() for difference in move.differences]}
                for move in review.moves
            ],
            "turning_points": review.turning_points,
        }
    )


def digest_of(document: bytes) -> str:
    """Return the digest by which a review is compared with one that somebody else has computed: SHA-256."""
    return hashlib.sha256(document).hexdigest()


def _canonical(content: Mapping[str, Any]) -> bytes:
    return json.dumps(content, ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode()
