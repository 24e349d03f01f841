"""The effects of events beside read models, match by match: tasks, clocks, the log of administration, notices.

Each is idempotent. Values that several need beside the match are read once, in one round trip.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from domain.match import due
from domain.match.state import MatchState
from events.matches.matches import Loaded, Matches, UnknownMatchError
from events.matches.readmodels.projector import Failures
from events.matches.timekeeper import Timekeeper, needs_sync
from events.operations.figures import FlagLateness
from events.people.administration import Administration
from events.people.availability import AvailabilityStore
from events.runtime import beats
from events.runtime.origin import following
from events.runtime.reads import ReadBatch
from events.store.envelope import Envelope
from events.store.feed import Delivery, FeedGroup
from events.store.redis import RedisStore
from workers.consumers import Handle
from workers.threads import TRANSIENT

TAIL = 12
"""The last events of a match, in which the beginning of a turn is looked for."""

MAX_SPAN = 200
"""Deliveries that lie further back are read apart from the last events."""

STARTED = "match-started"


class Delivered(NamedTuple):
    """Events of a match that were delivered together, at ``versions``, and the match at these or later.

    ``events`` returns the events from the first of them on, ``availability`` that of the people playing.
    """

    match_id: str
    versions: frozenset[int]
    loaded: Loaded
    events: Callable[[], Sequence[Envelope]]
    availability: Callable[[], Mapping[str, due.Availability]]


Effect = Callable[[Delivered], object]


class DeliveryReader(NamedTuple):
    """Reads the matches and events that the effects of deliveries need."""

    store: RedisStore
    matches: Matches
    availability: AvailabilityStore

    def read(self, match_id: str, versions: frozenset[int]) -> Delivered:
        """Return the match with its deliveries; raises like ``Matches.load``."""
        loaded = self.matches.load_at_least(match_id, max(versions))
        first, last = min(versions), loaded.head.version
        tail = max(1, last - TAIL + 1)
        spans = [(min(first, tail), last)]
        if first < tail - MAX_SPAN:
            spans = [(first, min(max(versions), tail - 1)), (tail, last)]
        batch = ReadBatch(self.store.client)
        parts = [batch.add(self.store.read_of(match_id, begin - 1, end - begin + 1)) for begin, end in spans]
        availability = batch.add(self.availability.read_of(due.people_playing(loaded.state)))
        return Delivered(
            match_id, versions, loaded, lambda: [event for part in parts for event in part()], availability
        )


def match_by_match(
    group: FeedGroup, read: Callable[[str, frozenset[int]], Delivered], effects: Sequence[Effect]
) -> Handle:
    """Return a handler that has all ``effects`` of the deliveries of each match, as ``read`` returns them."""

    def handle(deliveries: Sequence[Delivery]) -> Failures:
        failures: dict[str, Exception] = {}
        of_match: dict[str, list[Delivery]] = {}
        for delivery in deliveries:
            of_match.setdefault(delivery.stream, []).append(delivery)
        for match_id, own in of_match.items():
            beats.beat()
            with following((delivery.origin for delivery in own), f"relay {group.group}", match=match_id):
                try:
                    delivered = read(match_id, frozenset(delivery.version for delivery in own))
                except TRANSIENT:
                    raise
                except UnknownMatchError:
                    # A failover has lost the match, and with it the work due.
                    continue
                except Exception as error:
                    failures[match_id] = error
                    continue
                for effect in effects:
                    try:
                        effect(delivered)
                    except TRANSIENT:
                        raise
                    except Exception as error:
                        failures[match_id] = error
        with group.client.pipeline(transaction=False) as pipeline:
            group.acknowledge(pipeline, [delivery for delivery in deliveries if delivery.stream not in failures])
            pipeline.execute()
        return failures

    return handle


def enqueue_when_due(is_due: Callable[[MatchState], object], enqueue: Callable[[str], None]) -> Effect:
    """Return the effect that calls ``enqueue`` with a match in whose state something ``is_due``."""

    def enqueue_due(delivered: Delivered) -> None:
        if is_due(delivered.loaded.state):
            enqueue(delivered.match_id)

    return enqueue_due


def sync_clocks(timekeeper: Timekeeper, now: Callable[[], int]) -> Effect:
    """Return the effect that brings the clocks of matches into line with availability, also of those that start."""

    def sync(delivered: Delivered) -> None:
        loaded, versions = delivered.loaded, delivered.versions
        if not due.is_playing(loaded.state):
            return
        # Preferences count at the start only: later statements of a player in the match are not overruled.
        if not loaded.state.play.moves and any(
            event.type == STARTED and event.version in versions for event in delivered.events()
        ):
            timekeeper.start(delivered.match_id, now())
        elif needs_sync(loaded.state, delivered.availability(), now()):
            timekeeper.sync(delivered.match_id, now())

    return sync


def log_acts(administration: Administration, flag_lateness: FlagLateness, now: Callable[[], int]) -> Effect:
    """Return the effect that logs the acts of arbiters, once, and counts how late flags have fallen."""

    def log(delivered: Delivered) -> None:
        for event in delivered.events():
            if min(delivered.versions) <= event.version <= max(delivered.versions):
                administration.record_event(event)
            if event.version in delivered.versions:
                flag_lateness.record(event, now())

    return log
