"""The impact of a ruleset: replays all matches of one ruleset under another, without changing anything."""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

from domain.match.events import Event, MatchCreated, MoveSubmitted, RulesetChanged
from domain.match.impact import Difference, impact
from events.runtime.errors import StoreUnavailableError
from events.runtime.settings import Settings
from events.store.codec import event_of
from events.store.contract import EventStore
from workers.fleet.batches import run_in_batches

BATCH_SIZE = 50
PAGE_SIZE = 500


class ImpactQuery(NamedTuple):
    """The matches of ``game`` that were played under ruleset ``old`` are to be replayed under ``new``."""

    game: str
    old: int
    new: int


class ReplayedBatch(NamedTuple):
    """The result of a batch: how many matches were ``read``, and the number and plies of those of the ruleset.

    ``differing`` are those that would have gone differently; ``failures`` those that cannot be replayed even under
    their own ruleset, with the reason.
    """

    read: int
    matches: int
    plies: int
    differing: tuple[tuple[str, Difference], ...]
    failures: tuple[tuple[str, str], ...]


def replay_matches(settings: Settings, query: ImpactQuery, processes: int = 1) -> Iterator[ReplayedBatch]:
    """Yield the results for all matches of a store, batch by batch, in the order of the store.

    A match that cannot be replayed does not affect the others. Raises StoreUnavailableError and ProcessesKilledError.
    """
    yield from run_in_batches(settings, partial(replay_batch, query=query), BATCH_SIZE, processes)


def replay_batch(store: EventStore, match_ids: Sequence[str], query: ImpactQuery) -> ReplayedBatch:
    """Return the result for the matches ``match_ids``, leaving out other rulesets. Raises StoreUnavailableError."""
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
            failures.append((match_id, str(error)))
            continue
        if difference is not None:
            differing.append((match_id, difference))
    return ReplayedBatch(len(match_ids), count["matches"], count["plies"], tuple(differing), tuple(failures))


def _uses_old_ruleset(store: EventStore, match_id: str, query: ImpactQuery) -> bool:
    """Return whether a match was created under the old ruleset or changed to it."""
    first = event_of(store.read(match_id, 0, 1)[0])
    if not isinstance(first, MatchCreated) or first.game != query.game:
        return False
    changes = (event for event in _events(store, match_id) if isinstance(event, RulesetChanged))
    return first.ruleset == query.old or any(event.ruleset == query.old for event in changes)


def _events(store: EventStore, match_id: str) -> Iterator[Event]:
    """Yield the events of a match, read page by page."""
    version = 0
    while page := store.read(match_id, version, PAGE_SIZE):
        yield from map(event_of, page)
        version = page[-1].version


def _count_plies(events: Iterator[Event], count: Counter[str]) -> Iterator[Event]:
    """Yield ``events`` and count the plies among them."""
    for event in events:
        count["plies"] += isinstance(event, MoveSubmitted)
        yield event
