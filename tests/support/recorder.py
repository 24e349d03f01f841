"""The event store as a recorder of the ``eventsourcing`` library, so that the library's own suite can judge it.

What the adapter adds to the store: the library numbers the events of an aggregate from 0 or 1 and keeps arbitrary
bytes, so both are kept in the content of an event; it writes several aggregates and its tracking records at once, which
is one MULTI around the store's append script and a hash; its notification ids are the sequence numbers of the only
shard. All reads and all single appends are the store's own methods.
"""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any
from uuid import UUID, uuid4

from eventsourcing.persistence import (
    AggregateRecorder,
    ApplicationRecorder,
    IntegrityError,
    Notification,
    ProcessRecorder,
    StoredEvent,
    Subscription,
    Tracking,
)
from redis import WatchError

from events.store.contract import Head, Pointer, Request, StaleVersionError
from events.store.envelope import Draft, Envelope, seal
from events.store.redis import RedisStore

PAGE = 1000
BLOCK_MS = 100


class SingleShardStore(RedisStore):
    """The store, able to append to several streams and to write a hash in one transaction."""

    @property
    def feed_key(self) -> str:
        return self._keys[0].feed

    def sequence(self) -> int:
        """Return the sequence number of the last event."""
        return int(self.client.get(self._keys[0].sequence) or 0)

    def append_together(
        self, appends: Mapping[str, tuple[Head, Sequence[Draft]]], key: str, rising: Mapping[str, int]
    ) -> None:
        """Append to several streams and raise numbers in the hash at ``key``, all or nothing.

        Raises StaleVersionError when a head is not as expected and IntegrityError when a number would not rise.
        """
        calls = [self._call(stream, head, drafts) for stream, (head, drafts) in appends.items()]
        if calls and not self.client.script_exists(self._append.sha)[0]:
            self.client.script_load(self._append.script)
        while True:
            with self.client.pipeline(transaction=True) as pipeline:
                pipeline.watch(key, *(self._keys[0].head(stream) for stream in appends))
                for stream, (head, _) in appends.items():
                    if (current := self.head(stream)) != head:
                        raise StaleVersionError(stream, head.tag, current.tag)
                for name, number in rising.items():
                    if number <= int(pipeline.hget(key, name) or -1):
                        raise IntegrityError(f"{name} has reached {number} already")
                pipeline.multi()
                for keys, arguments in calls:
                    pipeline.evalsha(self._append.sha, len(keys), *keys, *arguments)
                for name, number in rising.items():
                    pipeline.hset(key, name, str(number))
                try:
                    pipeline.execute()
                except WatchError:
                    continue
                return

    def _call(self, stream: str, head: Head, drafts: Sequence[Draft]) -> tuple[list[str], list[Any]]:
        """Return keys and arguments of the append script, whose clock is virtual, for events without an origin."""
        keys, arguments = self._append_call(stream, head, Request(uuid4().hex, ""), None, None)
        sealed = seal(drafts, stream, head.version, head.digest)
        packed = (part for event in sealed for part in (event.packed, event.digest))
        return keys, [*arguments, "", "", "", "", *packed]


class StoreAggregateRecorder(AggregateRecorder):
    def __init__(self, store: SingleShardStore) -> None:
        super().__init__()
        self.store = store

    def insert_events(self, stored_events: Sequence[StoredEvent], **kwargs: Any) -> Sequence[int] | None:
        """Write the events; the library's aggregate recorders return nothing."""
        self._insert(stored_events)
        return None

    def select_events(
        self,
        originator_id: UUID | str,
        *,
        gt: int | None = None,
        lte: int | None = None,
        desc: bool = False,
        limit: int | None = None,
    ) -> Sequence[StoredEvent]:
        found = [
            stored
            for stored in map(_stored, self.store.read(str(originator_id)))
            if (gt is None or stored.originator_version > gt) and (lte is None or stored.originator_version <= lte)
        ]
        return (found[::-1] if desc else found)[:limit]

    def _insert(self, stored_events: Sequence[StoredEvent], tracking: Tracking | None = None) -> None:
        appends: dict[str, tuple[Head, Sequence[Draft]]] = {}
        for stream, of_stream in groupby(
            sorted(stored_events, key=lambda event: str(event.originator_id)), lambda event: str(event.originator_id)
        ):
            events = list(of_stream)
            head = self.store.head(stream)
            self._refuse_wrong_versions(stream, head, events)
            appends[stream] = (head, [_draft(event) for event in events])
        rising = {tracking.application_name: tracking.notification_id} if tracking else {}
        try:
            if len(appends) == 1 and not rising:
                ((stream, (head, drafts)),) = appends.items()
                self.store.append(stream, head, drafts, Request(uuid4().hex, ""))
            else:
                self.store.append_together(appends, f"{self.store.prefix}{{s00}}:tracking", rising)
        except StaleVersionError as stale:
            raise IntegrityError(str(stale)) from stale

    def _refuse_wrong_versions(self, stream: str, head: Head, events: Sequence[StoredEvent]) -> None:
        if head.version:
            (last,) = self.store.read(stream, head.version - 1)
            following = _stored(last).originator_version + 1
        else:
            following = events[0].originator_version
        versions = [event.originator_version for event in events]
        if versions != list(range(following, following + len(versions))):
            raise IntegrityError(f"{stream} goes on with version {following}, not {versions}")


class StoreApplicationRecorder(StoreAggregateRecorder, ApplicationRecorder):
    """The feed of the only shard as the application's sequence of notifications."""

    def insert_events(self, stored_events: Sequence[StoredEvent], **kwargs: Any) -> Sequence[int] | None:
        """Write the events, and a tracking record with them, and return their notification ids."""
        before = self.store.sequence()
        self._insert(stored_events, kwargs.get("tracking"))
        wanted = {(str(event.originator_id), event.originator_version) for event in stored_events}
        ids = list[int]()
        for notification in self._notifications_after(before):
            if len(ids) == len(wanted):
                break
            if (str(notification.originator_id), notification.originator_version) in wanted:
                ids.append(notification.id)
        return ids

    def select_notifications(
        self,
        start: int | None,
        limit: int,
        stop: int | None = None,
        topics: Sequence[str] = (),
        *,
        inclusive_of_start: bool = True,
    ) -> Sequence[Notification]:
        after = 0 if start is None else start - inclusive_of_start
        found: list[Notification] = []
        for notification in self._notifications_after(after, min(limit, PAGE)):
            if len(found) == limit or (stop is not None and notification.id > stop):
                break
            if not topics or notification.topic in topics:
                found.append(notification)
        return found

    def max_notification_id(self) -> int | None:
        return self.store.sequence() or None

    def subscribe(self, gt: int | None = None, topics: Sequence[str] = ()) -> Subscription[ApplicationRecorder]:
        return StoreSubscription(self, gt, topics)

    def wait_for_event(self, after: int) -> None:
        """Return when there is an event after the sequence number ``after``, or a while later."""
        self.store.client.xread({self.store.feed_key: f"{after}-0"}, count=1, block=BLOCK_MS)

    def _notifications_after(self, after: int, page: int = PAGE) -> Iterator[Notification]:
        while pointers := self.store.feed(0, after, page):
            for _, group in groupby(enumerate(pointers), lambda place: (place[1].stream, place[1].version - place[0])):
                run: list[Pointer] = [pointer for _, pointer in group]
                events = self.store.read(run[0].stream, run[0].version - 1, len(run))
                for pointer, event in zip(run, events, strict=True):
                    stored = _stored(event)
                    yield Notification(
                        stored.originator_id, stored.originator_version, stored.topic, stored.state, pointer.sequence
                    )
            after = pointers[-1].sequence


class StoreProcessRecorder(StoreApplicationRecorder, ProcessRecorder):
    """Tracking records in a hash of the same shard."""

    def insert_tracking(self, tracking: Tracking) -> None:
        """Write a tracking record alone."""
        self._insert([], tracking)

    def max_tracking_id(self, application_name: str) -> int | None:
        """Return how far an upstream application was followed."""
        found = self.store.client.hget(f"{self.store.prefix}{{s00}}:tracking", application_name)
        return None if found is None else int(found)


class StoreSubscription(Subscription[StoreApplicationRecorder]):
    """Notifications as they come, by blocking reads of the feed."""

    def __init__(self, recorder: StoreApplicationRecorder, gt: int | None, topics: Sequence[str]) -> None:
        super().__init__(recorder, gt, topics)
        self._found: deque[Notification] = deque()

    def __next__(self) -> Notification:
        while not self._has_been_stopped:
            if self._found:
                return self._found.popleft()
            after = self._last_notification_id or 0
            end = self._recorder.store.sequence()
            self._found.extend(
                self._recorder.select_notifications(after, PAGE, end, self._topics, inclusive_of_start=False)
            )
            if len(self._found) == PAGE:
                end = self._found[-1].id
            self._last_notification_id = max(after, end)
            if not self._found:
                self._recorder.wait_for_event(self._last_notification_id)
        raise StopIteration


def _draft(event: StoredEvent) -> Draft:
    content = {
        "originator": "uuid" if isinstance(event.originator_id, UUID) else "text",
        "version": event.originator_version,
        "state": event.state.decode("latin-1"),
    }
    return Draft(event.topic, 1, 0, "recorder", content)


def _stored(event: Envelope) -> StoredEvent:
    originator = UUID(event.stream) if event.data["originator"] == "uuid" else event.stream
    return StoredEvent(originator, event.data["version"], event.type, event.data["state"].encode("latin-1"))
