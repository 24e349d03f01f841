"""Wake-ups: how the readers of a process learn at once in which shards there are new events.

The append script publishes the count of a shard on the channel with the name of its feed: a shard channel on a cluster,
and since 7.0. A wake-up is a hint: readers also look every POLL_S seconds, and a subscription that has lost one is
opened again (``confirm``).
"""

import threading
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any

import structlog
from redis.client import PubSub

from events.runtime.connections import StoreClient
from events.runtime.errors import StoreError, StoreUnavailableError
from events.runtime.keys import ShardKeys

POLL_S = 2.0
"""Readers look at their shards at least this often, whether or not something wakes them."""

WAIT_S = 1.0
"""A subscription looks this often whether it is still wanted, and on which shards."""

RETRY_PAUSE_S = 0.5

log = structlog.get_logger("rookery.feed")


class Woken:
    """The shards that one reader has to look at: any thread adds to them without waiting. Far cheaper than an Event."""

    def __init__(self) -> None:
        self._queue: SimpleQueue[int | None] = SimpleQueue()
        # A shard that waits in the queue is not added again, so that the queue is as short as there are shards. The
        # reader takes it out before it looks at the shard: so it sees the events of a thread that found it here.
        self._queued: set[int] = set()

    def add(self, shards: Iterable[int]) -> None:
        """Let the reader look at ``shards`` as soon as it can."""
        for shard in shards:
            if shard not in self._queued:
                self._queued.add(shard)
                self._queue.put(shard)

    def wake(self) -> None:
        """Let the reader wait no longer, although there may be nothing to read."""
        if self._queue.empty():
            self._queue.put(None)

    def take(self, wait_s: float) -> set[int]:
        """Return the shards that were added since the last call, after ``wait_s`` seconds at most."""
        taken: set[int] = set()
        with suppress(Empty):
            shard = self._queue.get(timeout=wait_s)
            while True:
                if shard is not None:
                    taken.add(shard)
                    self._queued.discard(shard)
                shard = self._queue.get_nowait()
        return taken


Reader = Callable[[int], None]
"""Is called with a shard that has new events, or may have."""


class WakeUps:
    """The subscription of a process to the channels of shards, for any number of readers; one connection a server.

    ``follow``, ``confirm`` and ``close`` are for one thread.
    """

    def __init__(self, client: StoreClient, prefix: str, shards: int) -> None:
        self._client = client
        self._channels = [ShardKeys(prefix, shard).feed for shard in range(shards)]
        self._shards = {channel.encode(): shard for shard, channel in enumerate(self._channels)}
        self._readers: list[Reader] = []
        self._subscriptions: dict[StoreClient, _Subscription] = {}
        self._announced: dict[int, int] = {}
        self._polled: dict[int, int] = {}

    def add_reader(self, reader: Reader) -> None:
        """Call ``reader`` from now on, in the thread of a subscription."""
        self._readers.append(reader)

    def follow(self, shards: Collection[int]) -> None:
        """Subscribe to the channels of ``shards`` alone, where they are now; to be called every POLL_S."""
        followed: dict[StoreClient, set[bytes]] = {}
        for channel in (self._channels[shard] for shard in shards):
            with suppress(StoreUnavailableError):  # no server is known to have it: readers look without wake-ups
                followed.setdefault(self._client.server_of(channel), set()).add(channel.encode())
        for server in self._subscriptions.keys() - followed.keys():
            self._subscriptions.pop(server).close()
        for server, channels in followed.items():
            if server in self._subscriptions:
                self._subscriptions[server].channels = frozenset(channels)
            else:
                self._subscriptions[server] = _Subscription(server, frozenset(channels), self._receive)

    def confirm(self, sequences: Mapping[int, int]) -> None:
        """Open the subscription again where ``sequences`` show more events in the last look than were announced."""
        for shard, sequence in sequences.items():
            announced, polled = self._announced.setdefault(shard, sequence), self._polled.get(shard, 0)
            self._polled[shard] = sequence
            if announced < polled <= sequence:
                self._announced[shard] = sequence
                for subscription in self._subscriptions.values():
                    if self._channels[shard].encode() in subscription.channels:
                        log.warning("wake-ups were lost", shard=shard)
                        subscription.reopen()

    def close(self) -> None:
        """End the subscriptions, within about a second."""
        for subscription in self._subscriptions.values():
            subscription.close()
        self._subscriptions.clear()

    def _receive(self, channel: bytes, announced: int | None) -> None:
        shard = self._shards[channel]
        if announced is None:  # subscribed from now on: earlier numbers are unknown
            self._announced.pop(shard, None)
        else:
            self._announced[shard] = announced
        for reader in self._readers:
            reader(shard)


class _Subscription:
    """A subscription to ``channels`` on one server, in a thread that opens it again whenever it breaks.

    ``receive`` is called with a channel, and the number that was published, None when it is subscribed.
    """

    def __init__(
        self, client: StoreClient, channels: frozenset[bytes], receive: Callable[[bytes, int | None], None]
    ) -> None:
        self.channels = channels
        self._client = client
        self._receive = receive
        self._closed = threading.Event()
        self._stale = False
        self._away = False
        threading.Thread(target=self._run, name="wake-ups", daemon=True).start()

    def reopen(self) -> None:
        """Open the subscription again, on a new connection."""
        self._stale = True

    def close(self) -> None:
        """Let the thread end."""
        self._closed.set()

    def _run(self) -> None:
        while not self._closed.is_set():
            try:
                self._stale = False
                with self._client.pubsub() as subscriber:
                    self._listen(subscriber)
            except Exception as error:  # of any kind: readers go on by polling, more slowly
                if not self._away and not self._closed.is_set():
                    is_store_error = isinstance(error, StoreError)
                    log.warning("wake-ups are away", error=str(error), exc_info=None if is_store_error else error)
                self._away = True
                self._closed.wait(RETRY_PAUSE_S)

    def _listen(self, subscriber: PubSub) -> None:
        sharded = _has_shard_channels(self._client)
        subscribe: Callable[[bytes], None] = subscriber.ssubscribe if sharded else subscriber.subscribe
        unsubscribe: Callable[[bytes], None] = subscriber.sunsubscribe if sharded else subscriber.unsubscribe
        subscribed: frozenset[bytes] = frozenset()
        while not (self._closed.is_set() or self._stale):
            wanted = self.channels
            for channel in wanted - subscribed:  # one by one: on a cluster a command names channels of one slot
                subscribe(channel)
            for channel in subscribed - wanted:
                unsubscribe(channel)
            subscribed = wanted
            if not subscribed:
                self._closed.wait(WAIT_S)
                continue
            message = _next_message(subscriber)
            if message is not None:
                self._take(message, subscribed)

    def _take(self, message: dict[str, Any], subscribed: frozenset[bytes]) -> None:
        kind, channel = message["type"], message["channel"]
        if kind in ("message", "smessage"):
            self._receive(channel, int(message["data"]))
        elif kind in ("subscribe", "ssubscribe"):
            self._away = False
            self._receive(channel, None)
        elif channel in subscribed and channel in self.channels:
            # The server ends the subscription when the slot moves to another one.
            raise StoreUnavailableError(f"the channel {channel.decode()} has moved")


def _has_shard_channels(client: StoreClient) -> bool:
    version: str = client.info("server")["redis_version"]
    return int(version.partition(".")[0]) >= 7


def _next_message(subscriber: PubSub) -> Any:
    try:
        return subscriber.get_message(timeout=WAIT_S)
    except TypeError as error:
        # redis-py 8.1 raises this when another thread closes the connection: it waits for a socket that is None.
        raise StoreUnavailableError("the connection was closed") from error
