"""The event store on Redis: one stream per match, one feed of pointers per shard, one atomic script per append.

All keys of a shard carry its hash tag, so that a script or transaction over them works on a single server and on a
Redis Cluster alike. Only commands of Redis 6.2 are used.
"""

import functools
import hashlib
import json
import secrets
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any, NamedTuple, ParamSpec, TypeVar

from redis import Redis
from redis.commands.core import Script
from redis.exceptions import (
    NoScriptError,
)

from events.runtime.keys import InstallationKeys, ShardKeys
from events.runtime.scripts import load_script
from events.store.contract import (
    EMPTY,
    NOTHING_KEPT,
    Appended,
    DamagedStream,
    EventStore,
    Head,
    Kept,
    Opened,
    Pointer,
    Remembered,
    Request,
    RequestMismatch,
    StaleOrders,
    StaleVersion,
    WrongInstallation,
)
from events.store.envelope import Draft, Envelope, seal, unpack
from events.store.time import StoreClock, agreeing

FORMAT = 1
"""The version of the layout of keys and entries in Redis that this module reads and writes."""

DEFAULT_SHARDS = 16
SNAPSHOT_KEPT_MS = 30 * 24 * 3600 * 1000
STREAMS_A_PAGE = 1000

P = ParamSpec("P")
T = TypeVar("T")


class Installation(NamedTuple):
    """What was settled once when the store was installed: its id, number of shards and layout."""

    id: str
    shards: int
    format: int


class RedisStore(EventStore):
    """An event store on the Redis that ``client`` is connected to (bytes in replies: no ``decode_responses``).

    ``prefix`` begins all its keys. ``shards`` counts when the store is used for the very first time (None: 16); later
    it must be None or what was settled then, else every use raises WrongInstallation. ``now`` is the wall clock of this
    process (milliseconds since 1970 UTC), which is held against the server's TIME with every append; None for a virtual
    clock, which is not. Making the object does not connect.
    """

    def __init__(
        self,
        client: Redis,
        prefix: str = "rk:",
        shards: int | None = None,
        now: Callable[[], int] | None = None,
    ) -> None:
        self.client = client
        self.prefix = prefix
        self.clock = None if now is None else StoreClock(client, now)
        self._wanted_shards = shards
        self._execute: Any = client.execute_command
        self._append = load_script(client, __package__, "append")
        self._open = load_script(client, __package__, "open")
        self._keep_orders = load_script(client, __package__, "keep_orders")
        self._keep_snapshot = load_script(client, __package__, "keep_snapshot")

    @functools.cached_property
    def _keys(self) -> list[ShardKeys]:
        return [ShardKeys(self.prefix, shard) for shard in range(self.installation().shards)]

    @property
    def shards(self) -> int:
        """The number of shards. The first use raises like ``installation``."""
        return len(self._keys)

    def installation(self) -> Installation:
        """Return what is written about this installation, and write it the very first time.

        Raises WrongInstallation when the store was installed with another number of shards or has another layout, and
        StoreUnavailable.
        """
        key = InstallationKeys(self.prefix).installation
        found: Any = self.client.hmget(key, "id", "shards", "format")
        if None in found:
            found = self._install(key)
        try:
            installation = Installation(found[0].decode("ascii"), int(found[1]), int(found[2]))
        except ValueError as error:
            raise WrongInstallation(f"what the key {key} says of the installation cannot be read") from error
        if installation.format != FORMAT:
            raise WrongInstallation(f"the store has layout {installation.format}, this Rookery knows layout {FORMAT}")
        if self._wanted_shards not in (None, installation.shards):
            raise WrongInstallation(
                f"the store was installed with {installation.shards} shards and cannot be opened with "
                f"{self._wanted_shards}: the number is fixed for ever"
            )
        return installation

    def _install(self, key: str) -> list[bytes]:
        with self.client.pipeline(transaction=True) as pipeline:
            pipeline.hsetnx(key, "shards", str(self._wanted_shards or DEFAULT_SHARDS))
            pipeline.hsetnx(key, "format", str(FORMAT))
            pipeline.hsetnx(key, "id", secrets.token_hex(8))
            pipeline.hmget(key, "id", "shards", "format")
            found: list[bytes] = pipeline.execute()[-1]
        return found

    def check_clock(self) -> None:
        """Raise ClockDiffers unless this process's clock agrees with the server's, where clocks are judged."""
        if self.clock is not None:
            self.clock.check()

    def append(
        self,
        stream: str,
        expected: Head,
        drafts: Sequence[Draft],
        request: Request,
        deadline: int | None = None,
        orders: int | None = None,
        decided_at: int | None = None,
    ) -> Appended:
        """Append in one script call; see EventStore. A retry inside the client is safe by the request's key."""
        sealed = seal(drafts, stream, expected.version, expected.digest)
        if not sealed:
            raise ValueError("nothing to append")
        keys, arguments = self._append_call(stream, expected, request, deadline, orders)
        packed = [part for event in sealed for part in (event.packed, event.digest)]
        verdict, *details = agreeing(
            self.clock, lambda instants: self._run(self._append, keys, [*arguments, *instants, *packed]), decided_at
        )
        match verdict:
            case b"appended":
                head = Head(expected.version + len(sealed), sealed[-1].digest)
                return Appended([event.envelope for event in sealed], head, False)
            case b"repeated":
                events = _envelopes(stream, int(details[0]) - 1, map(_scripted, details[1]))
                if not events:
                    raise DamagedStream(stream, int(details[0]), "the entry is missing")
                return Appended(events, Head(events[-1].version, events[-1].digest), True)
            case b"mismatch":
                raise RequestMismatch(stream, request.key)
            case b"stale":
                current = Head(int(details[0]), details[1])
                raise StaleVersion(stream, expected.tag, current.tag)
            case b"orders":
                raise StaleOrders(stream)
        raise DamagedStream(stream, int(details[0]), "the number of stored events is another")

    def _append_call(
        self,
        stream: str,
        expected: Head,
        request: Request,
        deadline: int | None,
        orders: int | None,
    ) -> tuple[list[str], list[Any]]:
        """Return the keys of the append script, and its arguments in front of instants and events."""
        keys = self._keys_of(stream)
        arguments: list[Any] = [
            expected.version,
            expected.digest,
            *_marks(request),
            stream,
            "" if deadline is None else deadline,
            "" if orders is None else orders,
        ]
        return [
            keys.events(stream),
            keys.head(stream),
            keys.feed,
            keys.sequence,
            keys.streams,
            keys.deadlines,
        ], arguments

    def read(self, stream: str, after: int = 0, limit: int | None = None) -> list[Envelope]:
        """See EventStore."""
        key = self._keys_of(stream).events(stream)
        entries: Any = self.client.xrange(key, f"{after + 1}-0", "+", limit)
        return _envelopes(stream, after, entries)

    def open(self, stream: str, after: int | None = 0, request: Request | None = None) -> Opened:
        """See EventStore."""
        keys = self._keys_of(stream)
        field, mark = _marks(request) if request is not None else ("", b"")
        (version, digest, remembered, revision), entries, after_read, snapshot, orders = self._run(
            self._open,
            [keys.events(stream), keys.head(stream), keys.snapshot(stream), keys.conditional_moves(stream)],
            ["" if after is None else after, field, len(mark)],
        )
        written = None if remembered is None else remembered.split(b":", 2)
        if written is not None and not (b":" + written[2]).startswith(mark):
            raise RequestMismatch(stream, request.key if request else "")
        head = EMPTY if version is None else Head(int(version), digest)
        start = int(after_read)
        events = _envelopes(stream, start, map(_scripted, entries))
        if (events[-1].version if events else min(start, head.version)) != head.version:
            raise DamagedStream(stream, head.version, "the last event is missing")
        return Opened(
            events,
            head,
            None if written is None else Remembered(int(written[0]), int(written[1])),
            None if snapshot is None else json.loads(zlib.decompress(snapshot)),
            NOTHING_KEPT if revision is None else _kept(revision, orders),
        )

    def head(self, stream: str) -> Head:
        """See EventStore."""
        return self.heads([stream])[0]

    def heads(self, streams: Sequence[str]) -> list[Head]:
        """See EventStore. One round trip."""
        with self.client.pipeline(transaction=False) as pipeline:
            for stream in streams:
                pipeline.hmget(self._keys_of(stream).head(stream), ["v", "d"])
            found: list[Any] = pipeline.execute()
        return [EMPTY if version is None else Head(int(version), digest) for version, digest in found]

    def streams(self, shard: int) -> Iterator[str]:
        """See EventStore. New streams join at the end, so reading page by page misses and doubles none."""
        start = 0
        while page := self._streams_from(shard, start):
            yield from page
            start += len(page)

    def _streams_from(self, shard: int, start: int) -> list[str]:
        found: Any = self.client.lrange(self._keys[shard].streams, start, start + STREAMS_A_PAGE - 1)
        # A name that is none is that of a match that is not there: reading it says so.
        return [name.decode(errors="backslashreplace") for name in found]

    def feed(self, shard: int, after: int = 0, limit: int = 1000) -> list[Pointer]:
        """See EventStore."""
        entries: Any = self.client.xrange(self._keys[shard].feed, f"{after + 1}-0", "+", limit)
        return [pointer_of(entry_id, fields) for entry_id, fields in entries]

    def due(self, until: int, limit: int = 100) -> list[tuple[str, int]]:
        """See EventStore. One round trip for all shards."""
        with self.client.pipeline(transaction=False) as pipeline:
            for keys in self._keys:
                pipeline.zrangebyscore(keys.deadlines, "-inf", until, start=0, num=limit, withscores=True)
            found: list[list[tuple[bytes, float]]] = pipeline.execute()
        due = [(name.decode(), int(score)) for of_shard in found for name, score in of_shard]
        return sorted(due, key=itemgetter(1, 0))[:limit]

    def keep_snapshot(self, stream: str, version: int, snapshot: Mapping[str, Any]) -> None:
        """See EventStore. A snapshot that no newer one replaces goes away after 30 days."""
        packed = zlib.compress(json.dumps(snapshot, separators=(",", ":")).encode(), level=1)
        keys = self._keys_of(stream)
        self._run(self._keep_snapshot, [keys.snapshot(stream), keys.head(stream)], [version, packed, SNAPSHOT_KEPT_MS])

    def keep_orders(self, stream: str, seat: int, text: str | None, revision: int, head: Head) -> None:
        """See EventStore. Text and revision change in one script."""
        keys = self._keys_of(stream)
        if (
            self._run(
                self._keep_orders,
                [keys.head(stream), keys.conditional_moves(stream)],
                [seat, text or "", revision, *head],
            )
            is None
        ):
            raise StaleOrders(stream)

    def _run(self, script: Script, keys: list[str], arguments: list[Any]) -> Any:
        try:
            return self._execute("EVALSHA", script.sha, len(keys), *keys, *arguments)
        except NoScriptError:
            # A server that was started again has forgotten its scripts; this loads it and runs it.
            return script(keys=keys, args=arguments)

    def _keys_of(self, stream: str) -> ShardKeys:
        return self._keys[self.shard_of(stream)]


def pointer_of(entry_id: bytes, fields: Mapping[bytes, bytes]) -> Pointer:
    """Return the pointer that a feed entry is."""
    return Pointer(_version(entry_id), fields[b"m"].decode(), int(fields[b"v"]))


def _kept(revision: bytes, fields: list[bytes]) -> Kept:
    texts = {int(seat): text.decode() for seat, text in zip(fields[::2], fields[1::2], strict=True)}
    return Kept(int(revision), texts)


def _version(entry_id: bytes) -> int:
    return int(entry_id.partition(b"-")[0])


def _marks(request: Request) -> tuple[bytes, bytes]:
    """Return the field under which a request is remembered, and the part of its value that tells its content.

    The value ends with the beginning of the digest of the last event that the request wrote, since requests of a store
    that lost the end of a stream may still be remembered; what was remembered before there were digests has none.
    Both are digests: what comes from outside then cannot outgrow the compact form in which a server keeps a small hash.
    """
    return b"r" + _digest(request.key, 16), b":" + _digest(request.fingerprint, 12)


def _digest(text: str, size: int) -> bytes:
    return hashlib.blake2b(text.encode(), digest_size=size).digest()


def _scripted(entry: list[Any]) -> tuple[bytes, dict[bytes, bytes]]:
    """Return a stream entry as a script replies with it in the form in which a command does."""
    entry_id, fields = entry
    return entry_id, dict(zip(fields[::2], fields[1::2], strict=True))


def _envelopes(stream: str, after: int, entries: Any) -> list[Envelope]:
    envelopes = []
    for version, (entry_id, fields) in enumerate(entries, after + 1):
        if entry_id != b"%d-0" % version:
            raise DamagedStream(stream, version, f"the entry is missing, {entry_id.decode()} is in its place")
        try:
            envelopes.append(unpack(fields[b"b"], stream, version, fields[b"h"]))
        except (ValueError, KeyError) as error:
            raise DamagedStream(stream, version, f"the entry cannot be read ({error})") from error
    return envelopes
