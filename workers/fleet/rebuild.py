"""All read models rebuilt from nothing but the events; everything else may go on meanwhile.

The plan begins a new generation of each shard, in which a relay writes from then on beside the one that is read. The
slices write the read models of matches into it, and snapshots of those that go on; those of the next stage switch to it
shard by shard. The last slice fills a new generation of ratings, one result after the other in the order in which the
matches ended, and switches to that.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import filterfalse
from operator import add
from typing import Any, NamedTuple

from domain.match.state import MatchState
from events.matches.fleet_jobs import Parameters, PlannedSlice
from events.matches.matches import SNAPSHOT_EVERY
from events.matches.readmodels import RatedResult, ReadModels, rated_result
from events.matches.readmodels.generations import begin_generation, switch_generation
from events.matches.readmodels.projector import EventSummaries, Failures, Projector
from events.matches.readmodels.ratings import Ratings
from events.operations.archiving import Archiver
from events.runtime.errors import WriteContentionError
from events.store.archive.store import ArchivingStore
from events.store.contract import DamagedStreamError, EventStore, Head
from events.store.kinds import is_match, only_matches
from events.store.snapshots import snapshot_of
from workers.fleet.matches import slice_matches

MATCHES_PER_SLICE = 100

PROJECT, SWITCH, RATE, RELIST = "project", "switch", "rate", "relist"


class LeftOut(NamedTuple):
    """A match that cannot be replayed, and the reason."""

    match: str
    reason: str


class Rebuilt(NamedTuple):
    """How many matches and events were read; ``left_out`` are the matches that are not in the read models."""

    matches: int = 0
    events: int = 0
    left_out: tuple[LeftOut, ...] = ()

    def plus(self, other: "Rebuilt") -> "Rebuilt":
        """Return the sum of both."""
        return Rebuilt(*map(add, self, other))


class RebuiltSummaries(EventSummaries):
    """Summaries of matches by way of all of their events; a match that goes on gets a new snapshot, too.

    ``versions`` are those up to which matches were read.
    """

    def __init__(self, store: EventStore) -> None:
        super().__init__(store)
        self.versions: dict[str, int] = {}

    def replay(self, match_id: str) -> tuple[MatchState, Head] | None:
        """See EventSummaries."""
        replayed = super().replay(match_id)
        if replayed is None:
            raise DamagedStreamError(match_id, 1, "the shard lists it, but it has no events")
        state, head = replayed
        self.versions[match_id] = head.version
        if head.version >= SNAPSHOT_EVERY and not state.ended and state.play.broken is None:
            self._store.save_snapshot(match_id, head.version, snapshot_of(state, head))
        return replayed


class Rebuild(NamedTuple):
    """The rebuild of all read models."""

    store: ArchivingStore
    readmodels: ReadModels
    ratings: Ratings
    archiver: Archiver
    relist: Callable[[str], object] = lambda _: None
    """Brings the read model of a contest up to its events."""

    def plan(self, _: Parameters) -> list[list[PlannedSlice]]:
        """Begin a new generation of each shard and of the ratings; return the stages.

        Streams are listed after that: a match that is created later is written by the relay.

        Crash-safe: planned again, new generations are begun, and the slices name the generations that they belong to. A
        worker that was taken for dead and goes on planning overtakes the plan of another one; then the job fails.
        """
        store = self.store
        projecting, switching = [], []
        for shard in range(store.shards):
            generation = begin_generation(store.client, self.readmodels.keys, shard)
            for planned in slice_matches(only_matches(store.streams(shard)), MATCHES_PER_SLICE):
                projecting.append(planned._replace(content=[PROJECT, generation, planned.content]))
            for planned in slice_matches(filterfalse(is_match, store.streams(shard)), MATCHES_PER_SLICE):
                projecting.append(planned._replace(content=[RELIST, 0, planned.content]))
            switching.append(PlannedSlice([SWITCH, generation, shard], 0, f"the switch of shard {shard}"))
        rating = PlannedSlice([RATE, self.ratings.begin_generation()], 0, "the ratings")
        return [projecting, switching, [rating]]

    def do(self, _: Parameters, content: Sequence[Any]) -> Rebuilt:
        """Do one slice; raises RebuildOvertakenError. Crash-safe: written twice, it is the same."""
        match content:
            case [str(step), int(generation), list(match_ids)] if step == PROJECT:
                return self._project_slice(match_ids, generation)
            case [str(step), _, list(contests)] if step == RELIST:
                for contest in contests:
                    self.relist(contest)
            case [str(step), int(generation), int(shard)] if step == SWITCH:
                switch_generation(self.store.client, self.readmodels.keys, shard, generation)
            case [str(step), int(generation)] if step == RATE:
                # Crash-safe: results that are there already are passed over, so this goes on where it was killed.
                self.ratings.fill(generation, _rated(self.readmodels))
                self.ratings.switch(generation)
            case _:
                raise ValueError(f"a rebuild has no step {content!r:.40}")
        return Rebuilt()

    def _project_slice(self, match_ids: Sequence[str], generation: int) -> Rebuilt:
        store, summaries = self.store, RebuiltSummaries(self.store)
        projector = Projector(store.client, self.readmodels.keys, summaries, store.are_archived)
        live, unreadable = self.archiver.recheck(match_ids)
        failures = {**unreadable, **(_project(projector, live, generation) if live else {})}
        left_out = tuple(LeftOut(match_id, str(error)) for match_id, error in failures.items())
        return Rebuilt(len(match_ids), sum(summaries.versions.values()), left_out)


def _project(projector: Projector, match_ids: Sequence[str], generation: int) -> Failures:
    """Write the read models of matches; in halves where concurrent writers abort the transaction too often."""
    try:
        return projector.project(match_ids, into=generation)
    except WriteContentionError:
        if len(match_ids) == 1:
            raise
        half = len(match_ids) // 2
        return {
            **_project(projector, match_ids[:half], generation),
            **_project(projector, match_ids[half:], generation),
        }


def _rated(readmodels: ReadModels) -> Iterator[RatedResult]:
    for summary in readmodels.rated():
        result = rated_result(summary)
        if result is not None:
            yield result
