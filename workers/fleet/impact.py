"""All matches of a ruleset replayed under another one, in parallel processes; nothing in the store is changed."""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

from domain.match.events import Event, MatchCreated, MoveSubmitted, RulesetChanged
from domain.match.impact import Difference, impact
from events.runtime.errors import StoreUnavailable
from events.runtime.settings import Settings
from events.store.codec import event_of
from events.store.contract import EventStore
from workers.fleet.batches import in_batches

MATCHES_AT_ONCE = 50
EVENTS_AT_ONCE = 500


class Question(NamedTuple):
    """What is asked: the matches of ``game`` that were played under ruleset ``old``, replayed under ``new``."""

    game: str
    old: int
    new: int


class Replayed(NamedTuple):
    """What a batch of matches came to: all that were ``seen``, and of those of the ruleset, their number and plies.

    ``parted`` are those that would have gone otherwise, ``failures`` those that cannot be replayed even as they are,
    each with the reason.
    """

    seen: int
    matches: int
    plies: int
    parted: tuple[tuple[str, Difference], ...]
    failures: tuple[tuple[str, str], ...]


def replay_all(settings: Settings, question: Question, processes: int = 1) -> Iterator[Replayed]:
    """Yield what the matches of a store come to, batch by batch, in the order of the store however many processes.

    A match that cannot be replayed does not hinder the others. Raises StoreUnavailable and ProcessesKilled. To break
    off and to begin again is always right, for nothing is written.
    """
    yield from in_batches(settings, partial(replay_matches, question=question), MATCHES_AT_ONCE, processes)


def replay_matches(store: EventStore, names: Sequence[str], question: Question) -> Replayed:
    """Return what the matches ``names`` come to, those of other rulesets left out. Raises StoreUnavailable."""
    count: Counter[str] = Counter()
    parted, failures = [], []
    for name in names:
        try:
            if not _concerns(store, name, question):
                continue
            count["matches"] += 1
            found = impact(name, _counted(_events(store, name), count), question.old, question.new)
        except StoreUnavailable:
            raise
        except Exception as error:
            # A ruleset at fault may raise anything; that is a finding about this match alone.
            failures.append((name, str(error)))
            continue
        if found is not None:
            parted.append((name, found))
    return Replayed(len(names), count["matches"], count["plies"], tuple(parted), tuple(failures))


def _concerns(store: EventStore, match: str, question: Question) -> bool:
    """Tell whether a match began, or was gone on with, under the ruleset in question."""
    first = event_of(store.read(match, 0, 1)[0])
    if not isinstance(first, MatchCreated) or first.game != question.game:
        return False
    changes = (event for event in _events(store, match) if isinstance(event, RulesetChanged))
    return first.ruleset == question.old or any(event.ruleset == question.old for event in changes)


def _events(store: EventStore, match: str) -> Iterator[Event]:
    """Yield the events of a match, read page by page."""
    version = 0
    while page := store.read(match, version, EVENTS_AT_ONCE):
        yield from map(event_of, page)
        version = page[-1].version


def _counted(events: Iterator[Event], count: Counter[str]) -> Iterator[Event]:
    """Yield ``events`` and count the plies among them."""
    for event in events:
        count["plies"] += isinstance(event, MoveSubmitted)
        yield event
