"""Writes a backup into an empty store, after all of it was read and verified."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from events.operations.backup.copying import head_line
from events.operations.backup.records import (
    LAYOUT,
    BackupError,
    Begin,
    CopiedKey,
    CopiedMatch,
    LoggedLeaves,
    Manifest,
    Record,
    ShardEnd,
    head_of,
    pairs,
)
from events.people.names import skeleton
from events.proof.checkpoint_log import CheckpointLog
from events.proof.leaves import read_leaf
from events.runtime.connections import StoreClient
from events.runtime.keys import InstallationKeys, PeopleKeys, ShardKeys, WorkListKeys, literal_pattern, shard_of
from events.runtime.work_list import index_entries
from events.store.archive.catalogue import Catalogue
from events.store.archive.store import ArchivingStore
from events.store.envelope import unpack
from events.store.redis import FORMAT, RESTORING, layout_refusal

TOLD_MS = 2 * 24 * 3600 * 1000
"""Events of this time before the backup are in the restored feeds: their outstanding effects follow now."""

KEYS_PER_STEP = 1000
RECORDS_PER_STEP = 50
KINDS = ("string", "hash", "list", "set", "zset", "stream")


def verify_backup(records: Iterable[Record]) -> tuple[Begin, Manifest]:
    """Read a backup to its end; return its first and last records. Raises BackupError unless its manifest fits."""
    begin: Begin | None = None
    manifest: Manifest | None = None
    sums = dict.fromkeys(("records", "matches", "events", "keys", "leaves"), 0)
    heads = hashlib.sha256()
    for record in records:
        if manifest is not None or (begin is None) != isinstance(record, Begin):
            raise BackupError("the records of the backup are not in their order")
        if isinstance(record, Begin):
            begin = record
            _check_layout(begin)
        elif isinstance(record, Manifest):
            manifest = record
            digests = {**sums, "heads": heads.digest()}
            if any(getattr(manifest, name) != value for name, value in digests.items()):
                raise BackupError("the backup does not hold what its manifest says")
        elif isinstance(record, CopiedMatch):
            _check_match(record, begin)
            sums["matches"] += 1
            sums["events"] += len(record.events) // 2
            heads.update(head_line(record.match, head_of(record.head)))
        elif isinstance(record, CopiedKey):
            _check_key(record, begin)
            sums["keys"] += 1
        elif isinstance(record, LoggedLeaves):
            _check_leaves(record)
            sums["leaves"] += len(record.leaves)
        sums["records"] += 1
    if begin is None or manifest is None:
        raise BackupError("the backup has no end")
    return begin, manifest


def restore_backup(
    store: ArchivingStore,
    begin: Begin,
    checkpoints: CheckpointLog,
    records: Iterable[Record],
    step: Callable[[int], None] = lambda _: None,
) -> None:
    """Write the ``records`` of a verified backup into an empty store. Raises BackupError and StoreError.

    Crash-safe: the first write marks the store as being restored, which nothing opens; the last takes the mark away.
    Killed in between, the same command begins again.
    """
    client = store.client
    if begin.prefix != store.prefix:
        raise BackupError(
            f"the backup is of an installation with the prefix {begin.prefix!r}, this one has {store.prefix!r}: set "
            f"ROOKERY_PREFIX={begin.prefix}"
        )
    _empty(client, store.prefix)
    installation = InstallationKeys(store.prefix).installation
    if not client.hsetnx(installation, "format", RESTORING) and client.hget(installation, "format") != RESTORING:
        raise BackupError("another process uses the store: stop all parts of Rookery, empty the store, and repeat")
    _Restore(client, begin, checkpoints, step).write(records)
    client.hset(
        installation, mapping={"id": begin.installation, "shards": str(begin.shards), "format": str(begin.store_format)}
    )
    # Crash-safe: killed before this, the relay that archives does so within a day.
    checkpoints.move_notes()


def _empty(client: StoreClient, prefix: str) -> None:
    """Delete the remains of an unfinished restore; raise BackupError when there is anything else."""
    pattern = f"{literal_pattern(prefix)}*"
    is_unfinished = client.hget(InstallationKeys(prefix).installation, "format") == RESTORING
    for server in client.servers():
        names = server.scan_iter(match=pattern, count=KEYS_PER_STEP)
        while batch := list(islice(names, KEYS_PER_STEP)):
            if not is_unfinished:
                raise BackupError(
                    f"the store is not empty: it has the key {batch[0].decode(errors='backslashreplace')}. Restore "
                    "into an empty store, while no part of Rookery runs on it. Nothing was changed"
                )
            mark = InstallationKeys(prefix).installation.encode()
            with client.pipeline(transaction=False) as pipeline:
                for name in batch:
                    if name != mark:
                        pipeline.unlink(name)
                pipeline.execute()


class _Restore:
    def __init__(
        self, client: StoreClient, begin: Begin, checkpoints: CheckpointLog, step: Callable[[int], None]
    ) -> None:
        self._client: Any = client
        self._begin = begin
        self._checkpoints = checkpoints
        self._step = step
        self._people = PeopleKeys(begin.prefix)
        self._shards = [ShardKeys(begin.prefix, shard) for shard in range(begin.shards)]
        self._archived_streams = {keys.archived_streams.encode() for keys in self._shards}
        self._archived: list[bytes] = []
        self._entries: list[tuple[str, str]] = []
        self._told: dict[int, list[tuple[bytes, int]]] = {shard: [] for shard in range(begin.shards)}

    def write(self, records: Iterable[Record]) -> None:
        left = iter(records)
        while batch := list(islice(left, RECORDS_PER_STEP)):
            with self._client.pipeline(transaction=False) as pipeline:
                for record in batch:
                    if isinstance(record, CopiedKey):
                        self._write_key(pipeline, record)
                    elif isinstance(record, CopiedMatch):
                        self._write_match(pipeline, record)
                    elif isinstance(record, ShardEnd):
                        self._write_feed(pipeline, record)
                pipeline.execute()
            for record in batch:
                if isinstance(record, LoggedLeaves):
                    self._checkpoints.growth.restore(record.leaves)
            self._step(sum(isinstance(record, CopiedMatch) for record in batch))
        self._log_archived()
        index_entries(self._client, self._entries)

    def _log_archived(self) -> None:
        """Log the heads of matches that were archived after the log was copied: nothing else logs archived matches."""
        catalogue = Catalogue(self._client, self._begin.prefix, self._begin.shards)
        names = (name.decode() for name in self._archived)
        while batch := list(islice(names, KEYS_PER_STEP)):
            archived_by_name = zip(batch, catalogue.find(batch), strict=True)
            self._checkpoints.growth.restore_heads(
                {name: archived.head for name, archived in archived_by_name if archived is not None}
            )

    def _write_key(self, pipeline: Any, record: CopiedKey) -> None:
        for command in _commands(record.name, record.kind, record.content):
            pipeline.execute_command(*command)
        if record.expires_at:
            pipeline.pexpireat(record.name, record.expires_at)
        if record.name in self._archived_streams:
            self._archived += record.content
        name = record.name.decode(errors="replace")
        if (entry := WorkListKeys.parse_entry(self._begin.prefix, name)) is not None:
            self._entries.append(entry)
        if name.startswith(self._people.accounts) and record.kind == "hash":
            self._write_account(pipeline, name.removeprefix(self._people.accounts), record.content)

    def _write_account(self, pipeline: Any, person: str, content: Sequence[bytes]) -> None:
        fields = pairs(content)
        name, kind = fields.get(b"name", b"").decode(), fields.get(b"kind", b"")
        if kind == b"bot":
            pipeline.zadd(self._people.bots, {person: 0})
        if name and kind != b"guest":
            pipeline.set(self._people.name(name), person)
            pipeline.set(self._people.look(skeleton(name)), person)
        elif name:
            pipeline.set(self._people.name(name), person)

    def _write_match(self, pipeline: Any, record: CopiedMatch) -> None:
        keys, match = self._shards[record.shard], record.match.decode()
        events = keys.events(match)
        for version, (packed, digest) in enumerate(zip(record.events[::2], record.events[1::2], strict=True), 1):
            pipeline.execute_command("XADD", events, f"{version}-0", "b", packed, "h", digest)
        pipeline.execute_command("HSET", keys.head(match), *record.head)
        if record.conditional_moves:
            pipeline.execute_command("HSET", keys.conditional_moves(match), *record.conditional_moves)
        if record.deadline:
            pipeline.zadd(keys.deadlines, {match: float(record.deadline)})
        pipeline.rpush(keys.streams, match)
        self._told[record.shard] += [(record.match, version) for version in self._recent(record)]

    def _recent(self, record: CopiedMatch) -> list[int]:
        """Return the versions of a match of which the feed tells: the last one, and those of the last days."""
        last = len(record.events) // 2
        since, match, first = self._begin.began_at - TOLD_MS, record.match.decode(), last
        for version in range(last, 0, -1):
            packed, digest = record.events[2 * version - 2 : 2 * version]
            try:
                if unpack(packed, match, version, digest).at < since:
                    break
            except (ValueError, KeyError):
                break  # damaged at its source: verify says where
            first = version
        return list(range(min(first, last), last + 1)) if last else []

    def _write_feed(self, pipeline: Any, record: ShardEnd) -> None:
        """Write the feed of a shard, whose entries end with the number of the shard's last event."""
        keys, told = self._shards[record.shard], self._told.pop(record.shard)
        sequence = max(record.sequence, len(told))
        for number, (match, version) in enumerate(told, sequence - len(told) + 1):
            pipeline.execute_command("XADD", keys.feed, f"{number}-0", "m", match, "v", version)
        pipeline.set(keys.sequence, sequence)


def _commands(name: bytes, kind: str, content: Sequence[bytes]) -> Iterator[tuple[Any, ...]]:
    match kind:
        case "string":
            yield ("SET", name, content[0])
        case "hash":
            yield ("HSET", name, *content)
        case "list":
            yield ("RPUSH", name, *content)
        case "set":
            yield ("SADD", name, *content)
        case "zset":
            yield ("ZADD", name, *(part for pair in zip(content[1::2], content[::2], strict=True) for part in pair))
        case "stream":
            for entry_id, fields in _entries(content):
                yield ("XADD", name, entry_id, *fields)


def _entries(content: Sequence[bytes]) -> Iterator[tuple[bytes, Sequence[bytes]]]:
    place = 0
    while place < len(content):
        entry_id, count = content[place], int(content[place + 1])
        yield entry_id, content[place + 2 : place + 2 + count]
        place += 2 + count


def _check_layout(begin: Begin) -> None:
    if begin.layout != LAYOUT:
        raise BackupError(f"the backup has layout {begin.layout}, this Rookery knows layout {LAYOUT}")
    if begin.store_format != FORMAT:
        raise BackupError(f"the backup is of a store with {layout_refusal(begin.store_format)}")


def _check_match(record: CopiedMatch, begin: Begin | None) -> None:
    is_elsewhere = begin is None or record.shard != shard_of(record.match.decode(errors="replace"), begin.shards)
    if is_elsewhere or len(record.head) % 2 or len(record.events) % 2 or len(record.conditional_moves) % 2:
        raise BackupError(f"the match {record.match.decode(errors='backslashreplace')} of the backup is incomplete")


def _check_key(record: CopiedKey, begin: Begin | None) -> None:
    is_foreign = begin is None or not record.name.startswith(begin.prefix.encode())
    pairs = record.kind in ("hash", "zset")
    try:
        is_damaged = record.kind == "stream" and any(len(fields) % 2 for _, fields in _entries(record.content))
    except (ValueError, IndexError):
        is_damaged = True
    if (
        is_foreign
        or is_damaged
        or record.kind not in KINDS
        or not record.content
        or (pairs and len(record.content) % 2)
    ):
        raise BackupError(f"the key {record.name.decode(errors='backslashreplace')} of the backup cannot be written")


def _check_leaves(record: LoggedLeaves) -> None:
    for leaf in record.leaves:
        try:
            read_leaf(leaf)
        except ValueError:
            raise BackupError("a leaf of the log of checkpoints in the backup cannot be read") from None
