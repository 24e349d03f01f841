"""The verification of all hash chains."""

from collections.abc import Sequence
from operator import add
from typing import NamedTuple

from events.matches.fleet_jobs import Parameters, PlannedSlice
from events.store.chain import Verified, verify_streams
from events.store.contract import DamagedStreamError, EventStore
from events.store.time import MAX_CLOCK_DIFFERENCE_MS, StoreClock
from workers.fleet.matches import slice_store

MATCHES_PER_SLICE = 200


class FutureMatch(NamedTuple):
    """A match whose last event, ``version``, is dated later than it can have been appended."""

    match: str
    version: int
    at: int


class VerifiedSlice(NamedTuple):
    """The number of matches that were read, the events of the intact ones, and those damaged or dated in the future."""

    matches: int = 0
    events: int = 0
    damaged: tuple[str, ...] = ()
    future: tuple[FutureMatch, ...] = ()

    def plus(self, other: "VerifiedSlice") -> "VerifiedSlice":
        """Return the sum of both."""
        return VerifiedSlice(*map(add, self, other))


class Verification(NamedTuple):
    """The verification of matches. Crash-safe: it only reads."""

    store: EventStore
    clock: StoreClock

    def plan(self, _: Parameters) -> list[list[PlannedSlice]]:
        """Return slices of all matches."""
        return [slice_store(self.store, MATCHES_PER_SLICE)]

    def do(self, _: Parameters, match_ids: Sequence[str]) -> VerifiedSlice:
        """Verify matches."""
        verdicts = list(verify_streams(self.store, match_ids))
        # Read after the matches: players go on meanwhile.
        latest = self.clock.store_now() + MAX_CLOCK_DIFFERENCE_MS
        intact = [verdict for verdict in verdicts if isinstance(verdict, Verified)]
        return VerifiedSlice(
            matches=len(verdicts),
            events=sum(verified.head.version for verified in intact),
            damaged=tuple(str(verdict) for verdict in verdicts if isinstance(verdict, DamagedStreamError)),
            future=tuple(
                FutureMatch(match.stream, match.head.version, match.at) for match in intact if match.at > latest
            ),
        )
