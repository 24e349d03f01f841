"""The impact of a ruleset: replays all matches of one ruleset under another, without changing any."""

from collections import Counter
from collections.abc import Iterator, Sequence
from operator import add
from typing import NamedTuple

from domain.match.events import Event, MatchCreated, MoveSubmitted, RulesetChanged
from domain.match.impact import Difference, impact
from events.matches.fleet_jobs import Parameters, PlannedSlice
from events.runtime.errors import StoreUnavailableError
from events.store.chain import readable_streams
from events.store.codec import event_of
from events.store.contract import EventStore
from events.store.kinds import only_matches
from workers.fleet.matches import slice_matches

MATCHES_PER_SLICE = 100
PAGE_SIZE = 500


class ImpactQuery(NamedTuple):
    """The matches of ``game`` that were played under ruleset ``old`` are to be replayed under ``new``."""

    game: str
    old: int
    new: int


class DifferingMatch(NamedTuple):
    """A match that would have gone differently."""

    match: str
    difference: Difference


class FailedReplay(NamedTuple):
    """A match that cannot be replayed even under its own ruleset, with the reason."""

    match: str
    reason: str


class Replayed(NamedTuple):
    """The number of matches ``read``, the number and plies of those of the ruleset, and the differences in these."""

    read: int = 0
    matches: int = 0
    plies: int = 0
    differing: tuple[DifferingMatch, ...] = ()
    failures: tuple[FailedReplay, ...] = ()

    def plus(self, other: "Replayed") -> "Replayed":
        """Return the sum of both."""
        return Replayed(*map(add, self, other))


class ImpactReplay(NamedTuple):
    """The replay of matches that have the ruleset of an ImpactQuery, each by itself. Crash-safe: it only reads."""

    store: EventStore

    def plan(self, _: Parameters) -> list[list[PlannedSlice]]:
        """Return slices of all matches."""
        return [list(slice_matches(only_matches(readable_streams(self.store)), MATCHES_PER_SLICE))]

    def do(self, parameters: Parameters, match_ids: Sequence[str]) -> Replayed:
        """Replay matches."""
        store, query = self.store, ImpactQuery(**parameters)
        count: Counter[str] = Counter()
        differing, failures = [], []
        for match_id in match_ids:
            try:
                if not _uses_old_ruleset(store, match_id, query):
                    continue
                count["matches"] += 1
                difference = impact(match_id, _count_plies(_events(store, match_id), count), query.old, query.new)
            except StoreUnavailableError:
                raise
            except Exception as error:
                # A faulty ruleset may raise anything; that is a finding about this match alone.
                failures.append(FailedReplay(match_id, str(error)))
                continue
            if difference is not None:
                differing.append(DifferingMatch(match_id, difference))
        return Replayed(len(match_ids), count["matches"], count["plies"], tuple(differing), tuple(failures))


def _uses_old_ruleset(store: EventStore, match_id: str, query: ImpactQuery) -> bool:
    first = event_of(store.read(match_id, 0, 1)[0])
    if not isinstance(first, MatchCreated) or first.game != query.game:
        return False
    changes = (event for event in _events(store, match_id) if isinstance(event, RulesetChanged))
    return first.ruleset == query.old or any(event.ruleset == query.old for event in changes)


def _events(store: EventStore, match_id: str) -> Iterator[Event]:
    version = 0
    while page := store.read(match_id, version, PAGE_SIZE):
        yield from map(event_of, page)
        version = page[-1].version


def _count_plies(events: Iterator[Event], count: Counter[str]) -> Iterator[Event]:
    for event in events:
        count["plies"] += isinstance(event, MoveSubmitted)
        yield event
