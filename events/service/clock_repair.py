"""Corrects what a wrong clock of the store has left, outages and events of the future, by new events."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from domain.match.due import MAX_BEAT_GAP_MS, Outage
from events.service.matches import Matches
from events.service.outages import Heartbeat
from events.service.timekeeper import Timekeeper
from events.store.contract import EventStore


class Corrected(NamedTuple):
    """A match that was brought back to the present: its version now, and the digest of its last event (hexadecimal)."""

    match: str
    version: int
    digest: str


def find_future_outages(heartbeat: Heartbeat, now: int) -> list[Outage]:
    """Return the outages that are recorded to end after ``now``, the present instant."""
    return [outage for outage in heartbeat.outages() if outage.until > now + MAX_BEAT_GAP_MS]


def correct_outages(heartbeat: Heartbeat, now: int) -> list[Outage]:
    """Let the outages that are recorded to end after ``now`` end then; return them."""
    found = find_future_outages(heartbeat, now)
    for outage in found:
        heartbeat.correct(outage, now)
    return found


def correct_matches(
    store: EventStore, matches: Matches, timekeeper: Timekeeper, now: Callable[[], int]
) -> Iterator[Corrected]:
    """Yield the matches that had to be brought back to the present, when done; outages come first.

    Raises DamagedStreamError, UndecodableEventError, and what ``evolve`` raises. Crash-safe: each match by itself.
    """
    for match_id in store.all_streams():
        before, after = timekeeper.correct(match_id, now())
        if after != before:
            head = matches.load(match_id).head
            yield Corrected(match_id, head.version, head.digest.hex())
