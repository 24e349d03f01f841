"""The kinds of fleet jobs: how each is planned, and how a slice of it is done.

To add one: a class or module with a function that returns the stages of slices and one that does a slice and returns
its result, and a line in KINDS. Crash-safe: both may be killed, run again, and run twice at once.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from events.installation import Installation
from events.matches.fleet_jobs import Parameters, PlannedSlice
from events.matches.reviews import REVIEW
from events.store.kinds import kind_of
from events.store.time import StoreClock
from workers.composition import make_followers
from workers.fleet import ladder
from workers.fleet.audit import Audit, Audited
from workers.fleet.impact import ImpactReplay, Replayed
from workers.fleet.puzzles import PUZZLES, PuzzleSearch, SearchedPosition
from workers.fleet.rebuild import Rebuild, Rebuilt
from workers.fleet.review import ExaminedPlies, MatchReview
from workers.fleet.verify import Verification, VerifiedSlice

REBUILD = "rebuild"
AUDIT = "audit"
VERIFY = "verify"
IMPACT = "impact"
LADDER = "ladder"


class FleetWork(Protocol):
    """The work of a kind of job."""

    def plan(self, parameters: Parameters, /) -> Sequence[Sequence[PlannedSlice]]:
        """Return the stages of slices."""

    def do(self, parameters: Parameters, content: Any, /) -> Any:
        """Do a slice and return its result."""


class JobKind(NamedTuple):
    """A kind of job: ``make`` returns its work; ``result`` is the class of its results (``events.store.converter``)."""

    make: Callable[[Installation], FleetWork]
    result: type[Any]


KINDS: Mapping[str, JobKind] = {
    REBUILD: JobKind(lambda of: Rebuild(of.store, of.readmodels, of.ratings, of.archiver, _relist(of)), Rebuilt),
    AUDIT: JobKind(lambda of: Audit(of.store, _clock(of), of.statements, of.people), Audited),
    VERIFY: JobKind(lambda of: Verification(of.store, _clock(of)), VerifiedSlice),
    IMPACT: JobKind(lambda of: ImpactReplay(of.store), Replayed),
    LADDER: JobKind(lambda _: ladder, ladder.PlayedGames),
    REVIEW: JobKind(lambda of: MatchReview(of.matches, of.fleet_jobs, of.reviews), ExaminedPlies),
    PUZZLES: JobKind(lambda of: PuzzleSearch(of.matches, of.reviews, of.puzzles), SearchedPosition),
}


def make_work(installation: Installation, kind: str) -> FleetWork:
    """Return the work of a kind of job on the matches of ``installation``."""
    return KINDS[kind].make(installation)


def _relist(installation: Installation) -> Callable[[str], object]:
    followers = make_followers(installation)
    return lambda contest: followers[kind_of(contest)].refresh(contest)


def _clock(installation: Installation) -> StoreClock:
    return StoreClock(installation.client, installation.now)
