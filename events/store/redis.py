"""The event store on Redis (6.2): a stream for each match, a feed for each shard, one atomic script per append."""

import functools
import hashlib
import json
import secrets
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import chain
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

from redis.exceptions import RedisError

from events.runtime import tracing
from events.runtime.connections import StoreClient, translated
from events.runtime.errors import StoreCommandError
from events.runtime.keys import InstallationKeys, ShardKeys
from events.runtime.origin import current as present_origin
from events.runtime.reads import Read, read_alone, read_due
from events.runtime.scripts import load_script
from events.runtime.topology import CLUSTER_OF_SERVERS, Topology, WrongTopologyError, read_topology
from events.store.contract import (
    DIGEST_DIGITS,
    NO_CONDITIONAL_MOVES,
    Appended,
    DamagedStreamError,
    EventStore,
    Head,
    Opened,
    Pointer,
    RecordedRequest,
    Request,
    RequestMismatchError,
    StaleConditionalMovesError,
    StaleVersionError,
    StoredConditionalMoves,
    WrongInstallationError,
)
from events.store.copies import Copies
from events.store.envelope import Draft, Envelope, seal
from events.store.feed import entry_of, envelopes_of, pointer_of
from events.store.mark import read_mark
from events.store.time import StoreClock, with_clock_check

FORMAT = 3
"""The version of the layout of keys and entries in Redis that this module reads and writes."""

LAST_READERS = {1: "d4bdd19", 2: "ce8b973"}
"""The last commit that reads each earlier layout."""

RESTORING = b"restoring"
"""Stands for the layout until a restore is complete, so that nothing uses half of a store."""

DEFAULT_SHARDS = 16
SNAPSHOT_TTL_MS = 30 * 24 * 3600 * 1000
ARCHIVED_SNAPSHOT_TTL_MS = 3600 * 1000
STREAMS_PER_PAGE = 1000
IDENTITY = "return redis.call('INFO', 'server') .. redis.call('INFO', 'replication')"
"""A script, since that is sent to the server of its key, on a cluster too."""

IDENTIFYING = ("run_id", "master_replid")


class StoreConstants(NamedTuple):
    """The constants of an installed store: its id, number of shards and layout."""

    id: str
    shards: int
    format: int


def layout_refusal(layout: int) -> str:
    """Return why a store of another layout is not opened, and the commit that opens it."""
    reader = f"commit {LAST_READERS[layout]} is the last that reads it" if layout in LAST_READERS else "update Rookery"
    return f"layout {layout}, and this Rookery reads and writes layout {FORMAT} only: {reader}"


class RedisStore(EventStore):
    """An event store on the Redis that ``client`` is connected to; making it does not connect.

    ``shards`` counts the first time (None: 16) and must agree later. ``now`` is the wall clock, compared with TIME at
    every append; None for a virtual clock. An append waits for ``wait_replicas`` replicas (None: all configured), or
    raises NotCopiedError.

    The first use makes an installation if the store ``creates``, never in place of one used before or that
    ``mark_file`` marks.
    """

    def __init__(
        self,
        client: StoreClient,
        prefix: str = "rk:",
        shards: int | None = None,
        now: Callable[[], int] | None = None,
        wait_replicas: int | None = None,
        creates: bool = True,
        mark_file: Path | None = None,
    ) -> None:
        self.client = client
        self.prefix = prefix
        self.clock = None if now is None else StoreClock(client, now)
        self._wanted_shards = shards
        self.copies = Copies(client, prefix, wait_replicas)
        self._creates = creates
        self._mark_file = mark_file
        self._known_id: str | None = None
        self._append = load_script(client, __package__, "append")
        self._open = load_script(client, __package__, "open")
        self._save_snapshot = load_script(client, __package__, "save_snapshot")
        self._save_conditional_moves = load_script(client, __package__, "save_conditional_moves")

    @functools.cached_property
    def _keys(self) -> list[ShardKeys]:
        return [ShardKeys(self.prefix, shard) for shard in range(self.installation().shards)]

    @property
    def shards(self) -> int:
        """The number of shards. The first use may raise WrongInstallationError."""
        return len(self._keys)

    @functools.cached_property
    def topology(self) -> Topology:
        """The servers of the store when they were first asked. Raises like ``installation``."""
        try:
            return read_topology(self.client)
        except WrongTopologyError as error:
            raise WrongInstallationError(str(error)) from error

    def installation(self) -> StoreConstants:
        """Return the record of this installation, and write it the very first time.

        Raises WrongInstallationError when the store holds another one, or has other shards, layout or servers.
        """
        _ = self.topology
        key = InstallationKeys(self.prefix).installation
        fields = self.client.hmget(key, ["id", "shards", "format"])
        if fields[-1] == RESTORING:
            raise WrongInstallationError(
                "a restore into this store was not completed: repeat it (rookery restore), it begins again from nothing"
            )
        self._refuse_another(fields[0])
        if None in fields:
            fields = self._install(key)
        try:
            id, shards, layout = ((value or b"").decode("ascii") for value in fields)
            installation = StoreConstants(id, int(shards), int(layout))
        except ValueError as error:
            raise WrongInstallationError(f"what the key {key} says of the installation cannot be read") from error
        if installation.format != FORMAT:
            raise WrongInstallationError(f"the store has {layout_refusal(installation.format)}")
        if self._wanted_shards not in (None, installation.shards):
            raise WrongInstallationError(
                f"the store was installed with {installation.shards} shards and cannot be opened with "
                f"{self._wanted_shards}: the number cannot be changed"
            )
        self._known_id = installation.id
        self.client.check.expect(key, installation.id)
        return installation

    def _refuse_another(self, id: bytes | None) -> None:
        """Raise WrongInstallationError unless the store may be used that holds the installation ``id`` or none."""
        marked = None if self._known_id or self._mark_file is None else read_mark(self._mark_file)
        expected = self._known_id or (marked and marked.installation)
        if expected and expected != (id and id.decode("ascii", "replace")):
            there = f"installation {id.decode('ascii', 'replace')}" if id else "no installation"
            begin = f", or remove {self._mark_file} to begin with this store" if marked else ""
            raise WrongInstallationError(
                f"the store holds {there} under the prefix {self.prefix}, not {expected}: it was emptied, or it is "
                f"another one. Connect the right store or restore a backup (docs/stores.md){begin}"
            )
        if id is None and not self._creates:
            raise WrongInstallationError(
                f"the store holds no installation under the prefix {self.prefix}. If it is new, create one with "
                "`rookery store create`; if it is not, it was emptied: restore a backup (docs/stores.md)"
            )

    def _install(self, key: str) -> list[bytes | None]:
        """Write the installation, or return that of another process. Crash-safe: the counts of events come first."""
        shards = self._wanted_shards or DEFAULT_SHARDS
        with self.client.pipeline(transaction=False) as pipeline:
            for shard in range(shards):
                pipeline.setnx(ShardKeys(self.prefix, shard).sequence, 0)
            pipeline.execute()
        with self.client.pipeline(transaction=True) as pipeline:
            pipeline.hsetnx(key, "shards", str(shards))
            pipeline.hsetnx(key, "format", str(FORMAT))
            pipeline.hsetnx(key, "id", secrets.token_hex(8))
            pipeline.hmget(key, ["id", "shards", "format"])
            fields: list[bytes | None] = pipeline.execute()[-1]
        return fields

    def check_clock(self) -> None:
        """Raise ClockMismatchError if this process's clock is compared with the server's and differs from it."""
        if self.clock is not None:
            self.clock.check()

    def append(
        self,
        stream: str,
        expected: Head,
        drafts: Sequence[Draft],
        request: Request,
        *,
        deadline: int | None = None,
        conditional_moves: int | None = None,
        decided_at: int | None = None,
    ) -> Appended:
        """Append in one script call; see EventStore. A retry inside the client is safe by the request's key."""
        sealed = seal(drafts, stream, expected.version, expected.digest)
        if not sealed:
            raise ValueError("nothing to append")
        places, arguments = self._append_call(stream, expected, request, deadline, conditional_moves)
        packed = [part for event in sealed for part in (event.packed, event.digest)]
        with tracing.span("append", match=stream, version=sealed[-1].envelope.version, events=len(sealed)):
            origin = str(present_origin())
            verdict, *details = with_clock_check(
                self.clock,
                lambda instants: self.copies.call(
                    self._append, places, [*arguments, *instants, origin, *packed], self._keys_of(stream).sequence
                ),
                decided_at,
            )
        match verdict:
            case b"appended":
                head = Head(expected.version + len(sealed), sealed[-1].digest)
                return Appended([event.envelope for event in sealed], head, False)
            case b"repeated":
                return _repeated(stream, int(details[0]), details[1])
            case b"mismatch":
                raise RequestMismatchError(stream, request.key)
            case b"stale":
                current = Head(int(details[0]), details[1])
                raise StaleVersionError(stream, expected.tag, current.tag)
            case b"conditional-moves":
                raise StaleConditionalMovesError(stream)
            case b"emptied":
                raise WrongInstallationError(
                    f"shard {self.shard_of(stream)} of the store was emptied while it was used: nothing is written to "
                    "it. Restore a backup (docs/stores.md)"
                )
        raise DamagedStreamError(stream, int(details[0]), "the number of stored events is another")

    def await_copies(self, shards: Sequence[int]) -> None:
        """Wait until replicas have all writes of the servers of ``shards`` so far. Raises NotCopiedError."""
        is_cluster = self.topology.kind == CLUSTER_OF_SERVERS
        for shard in shards if is_cluster else shards[:1]:
            self.copies.confirm(self._keys[shard].sequence)

    def _append_call(
        self, stream: str, expected: Head, request: Request, deadline: int | None, conditional_moves: int | None
    ) -> tuple[list[str], list[str | bytes | int]]:
        """Return the keys of the append script, and its arguments before the instants and events."""
        keys = self._keys_of(stream)
        return [keys.events(stream), keys.head(stream), keys.feed, keys.sequence, keys.streams, keys.deadlines], [
            expected.version,
            expected.digest,
            *_request_field(request),
            stream,
            "" if deadline is None else deadline,
            "" if conditional_moves is None else conditional_moves,
        ]

    def read(self, stream: str, after: int = 0, limit: int | None = None) -> list[Envelope]:
        """See EventReader."""
        return read_alone(self.client, self.read_of(stream, after, limit))

    def read_of(self, stream: str, after: int = 0, limit: int | None = None) -> Read[list[Envelope]]:
        """Return the read of the events of ``stream``: see ``read``."""
        key, first = self._keys_of(stream).events(stream), f"{after + 1}-0"
        return Read(
            lambda pipeline: pipeline.xrange(key, first, "+", limit),
            lambda replies: envelopes_of(stream, after, replies[0]),
        )

    def open(self, stream: str, after: int | None = 0, request: Request | None = None) -> Opened:
        """See EventReader."""
        keys = self._keys_of(stream)
        if after == 0 and request is None:
            return self._open_whole(stream, keys)
        field, content = _request_field(request) if request is not None else (b"", b"")
        (version, digest, recorded, revision), entries, start, snapshot, texts = self._open(
            [keys.events(stream), keys.head(stream), keys.snapshot(stream), keys.conditional_moves(stream)],
            ["" if after is None else after, field, len(content)],
        )
        first, last, written = (None, None, b"") if recorded is None else recorded.split(b":", 2)
        if request is not None and recorded is not None and not (b":" + written).startswith(content):
            raise RequestMismatchError(stream, request.key)
        head = Head.of((version, digest))
        start = int(start)
        events = envelopes_of(stream, start, map(entry_of, entries)) if entries else []
        if (events[-1].version if events else min(start, head.version)) != head.version:
            raise DamagedStreamError(stream, head.version, "the last event is missing")
        return Opened(
            events,
            head,
            None if first is None or last is None else RecordedRequest(int(first), int(last)),
            None if snapshot is None else json.loads(zlib.decompress(snapshot)),
            NO_CONDITIONAL_MOVES if revision is None else _conditional_moves(revision, texts),
        )

    def _open_whole(self, stream: str, keys: ShardKeys) -> Opened:
        """Return a whole stream; for the server a transaction costs a fifth of a script that handles each entry."""
        with self.client.pipeline(transaction=True) as pipeline:
            pipeline.hmget(keys.head(stream), ["v", "d", "o"])
            pipeline.xrange(keys.events(stream))
            pipeline.hgetall(keys.conditional_moves(stream))
            (version, digest, revision), entries, texts = pipeline.execute()
        head, events = Head.of((version, digest)), envelopes_of(stream, 0, entries)
        if (events[-1].version if events else 0) != head.version:
            raise DamagedStreamError(stream, head.version, "the last event is missing")
        fields = [field for pair in texts.items() for field in pair]
        conditional = NO_CONDITIONAL_MOVES if revision is None else _conditional_moves(revision, fields)
        return Opened(events, head, None, None, conditional)

    def head(self, stream: str) -> Head:
        """See EventReader."""
        return self.heads([stream])[0]

    def heads(self, streams: Sequence[str]) -> list[Head]:
        """See EventReader. One round trip."""
        with self.client.pipeline(transaction=False) as pipeline:
            for stream in streams:
                pipeline.hmget(self._keys_of(stream).head(stream), ["v", "d"])
            replies = pipeline.execute()
        return [Head.of(fields) for fields in replies]

    def server_identities(self, shards: Sequence[int]) -> list[str]:
        """Return the identity of the run of the server of each shard; "unknown" where asking is not permitted."""
        with self.client.pipeline(transaction=False) as pipeline:
            for shard in shards:
                pipeline.eval(IDENTITY, 1, self._keys[shard].sequence)
            return [_identity(reply) for reply in pipeline.execute(raise_on_error=False)]

    def streams(self, shard: int) -> Iterator[str]:
        """See EventReader. New streams join at the end, so reading page by page misses and repeats none."""
        start = 0
        while page := self.client.lrange(self._keys[shard].streams, start, start + STREAMS_PER_PAGE - 1):
            # A damaged name is yielded as it stands: reading its stream tells that there is none.
            yield from (name.decode(errors="backslashreplace") for name in page)
            start += len(page)

    def feed(self, shard: int, after: int = 0, limit: int = 1000) -> list[Pointer]:
        """See EventReader."""
        entries = self.client.xrange(self._keys[shard].feed, f"{after + 1}-0", "+", limit)
        return [pointer_of(entry_id, fields) for entry_id, fields in entries]

    def due(self, until: int, limit: int = 100, shards: Collection[int] | None = None) -> list[tuple[str, int]]:
        """See EventStore. One round trip to each server."""
        asked = range(self.shards) if shards is None else shards
        due = read_due(self.client, (self._keys[shard].deadlines for shard in asked), until, limit)
        return sorted(chain.from_iterable(due), key=itemgetter(1, 0))[:limit]

    def save_snapshot(self, stream: str, version: int, snapshot: Mapping[str, Any]) -> None:
        """See EventStore. It expires after 30 days unless replaced; of an archived stream, after an hour."""
        packed = zlib.compress(json.dumps(snapshot, separators=(",", ":")).encode(), level=1)
        keys = self._keys_of(stream)
        arguments: list[str | bytes | int] = [version, packed, SNAPSHOT_TTL_MS, ARCHIVED_SNAPSHOT_TTL_MS]
        self._save_snapshot([keys.snapshot(stream), keys.head(stream)], arguments)

    def save_conditional_moves(self, stream: str, seat: int, text: str | None, revision: int, head: Head) -> None:
        """See EventStore. Text and revision change in one script."""
        keys = self._keys_of(stream)
        places = [keys.head(stream), keys.conditional_moves(stream)]
        if self._save_conditional_moves(places, [seat, text or "", revision, *head]) is None:
            raise StaleConditionalMovesError(stream)

    def _keys_of(self, stream: str) -> ShardKeys:
        return self._keys[self.shard_of(stream)]


def _identity(reply: bytes | Exception) -> str:
    if isinstance(reply, Exception):
        error = translated(reply) if isinstance(reply, RedisError) else reply
        if not isinstance(error, StoreCommandError):
            raise error
        return "unknown"
    lines = [line for line in reply.decode().splitlines() if line.partition(":")[0] in IDENTIFYING]
    return hashlib.sha256("\n".join(sorted(lines)).encode()).hexdigest()[:DIGEST_DIGITS]


def _repeated(stream: str, first: int, entries: Any) -> Appended:
    events = envelopes_of(stream, first - 1, map(entry_of, entries))
    if not events:
        raise DamagedStreamError(stream, first, "the entry is missing")
    return Appended(events, Head(events[-1].version, events[-1].digest), True)


def _conditional_moves(revision: bytes, fields: list[bytes]) -> StoredConditionalMoves:
    texts = {int(seat): text.decode() for seat, text in zip(fields[::2], fields[1::2], strict=True)}
    return StoredConditionalMoves(int(revision), texts)


def _request_field(request: Request) -> tuple[bytes, bytes]:
    """Return the field of a request, and the value that identifies its content, both digests, to stay compact.

    The value ends with the digest of the last event: a store that lost the end of a stream may still have its requests.
    """
    return b"r" + _digest(request.key, 16), b":" + _digest(request.fingerprint, 12)


def _digest(text: str, size: int) -> bytes:
    return hashlib.blake2b(text.encode(), digest_size=size).digest()
