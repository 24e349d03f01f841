"""The event store with its archive: archived matches are read from there, and brought back before anything changes."""

import functools
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

from events.runtime.connections import SINGLE, StoreClient, connect, read_place
from events.runtime.keys import ProofKeys
from events.runtime.reads import Read, read_alone
from events.runtime.scripts import load_script
from events.runtime.settings import Settings
from events.runtime.wall_clock import now_ms
from events.store import contract
from events.store.archive.archive import Archive
from events.store.archive.catalogue import Archived, Catalogue, pack_archived
from events.store.archive.framing import DamagedArchiveError
from events.store.archive.pack import ArchivedMatch
from events.store.archive.storage import Storage
from events.store.archive.tables import Locator
from events.store.envelope import Envelope
from events.store.logged_leaves import LoggedLeaf, pack_logged
from events.store.redis import RedisStore

NAMES_PER_PAGE = 1000
MAX_ATTEMPTS = 3


class DamagedMatchError(contract.DamagedStreamError, DamagedArchiveError):
    """An archived match that cannot be read, because a file of the archive is damaged."""


class DroppedModels(NamedTuple):
    """The read models that go with an archived match; ``generations`` and ``summary`` must be stored still."""

    generations_key: str
    generations: str
    summary: bytes
    summaries: list[str]
    members: list[tuple[str, str]]


class ArchivingStore(RedisStore):
    """A Redis store whose streams may be in the archive at ``archive_url`` (None: no archive).

    Archived streams have forgotten their requests. Reading one needs the storage, reading heads does not. Appending to
    one brings it back first.
    """

    def __init__(
        self,
        client: StoreClient,
        prefix: str = "rk:",
        shards: int | None = None,
        now: Callable[[], int] | None = None,
        wait_replicas: int | None = None,
        archive_url: str | None = None,
        creates: bool = True,
        mark_file: Path | None = None,
    ) -> None:
        super().__init__(client, prefix, shards, now, wait_replicas, creates, mark_file)
        self.storage = Storage(archive_url)

        self._drop = load_script(client, __package__, "drop")
        self._restore = load_script(client, __package__, "restore")

    @functools.cached_property
    def archive(self) -> Archive:
        """The archive. The first use may raise WrongInstallationError."""
        return Archive(Catalogue(self.client, self.prefix, self.shards), self.storage)

    def find_archived(self, streams: Sequence[str]) -> list[Archived | None]:
        """Return where those of ``streams`` are that are archived, None for all others. One round trip."""
        return self.archive.catalogue.find(streams)

    def are_archived(self, streams: Sequence[str]) -> list[bool]:
        """Tell of each of ``streams`` whether it is archived. One round trip."""
        return [archived is not None for archived in self.find_archived(streams)]

    def live_streams(self, shard: int) -> Iterator[str]:
        """See EventReader: in the order in which they became live."""
        return map(_text, self._names(self._keys[shard].streams))

    def streams(self, shard: int) -> Iterator[str]:
        """See EventReader. None is missed or yielded twice that is archived or brought back meanwhile."""
        keys, met = self._keys[shard], set[bytes]()
        for name in chain(self._names(keys.streams), self._names(keys.archived_streams)):
            if name not in met:
                met.add(name)
                yield _text(name)
        # Matches brought back since are at the end of the live ones, and some perhaps were not met yet.
        end = 0
        while page := self.client.lrange(keys.streams, -end - NAMES_PER_PAGE, -end - 1):
            fresh = [name for name in page if name not in met]
            if not fresh:
                return
            met.update(fresh)
            yield from map(_text, fresh)
            end += len(page)

    def archived_streams(self, shard: int) -> Iterator[str]:
        """Yield the archived matches of a shard, in the order of archiving."""
        return map(_text, self._names(self._keys[shard].archived_streams))

    def archived(self) -> Iterator[tuple[str, Archived]]:
        """Yield all archived matches, and where they are, shard by shard."""
        for shard in range(self.shards):
            names = self.archived_streams(shard)
            while batch := list(islice(names, NAMES_PER_PAGE)):
                for name, archived in zip(batch, self.find_archived(batch), strict=True):
                    if archived is not None:
                        yield name, archived

    def _names(self, key: str) -> Iterator[bytes]:
        """Yield the names in a list that names join at the end, and leave while it is read.

        So every page begins two pages before the last name: none is missed unless more than that leave between two
        pages.
        """
        after, names = 0, set[bytes]()
        while True:
            begin = max(0, after - 2 * NAMES_PER_PAGE)
            page = self.client.lrange(key, begin, after + NAMES_PER_PAGE - 1)
            fresh = [place for place, name in enumerate(page) if name not in names][:NAMES_PER_PAGE]
            if not fresh:
                return
            after = begin + fresh[-1] + 1
            names.update(page[place] for place in fresh)
            yield from (page[place] for place in fresh)

    def read(self, stream: str, after: int = 0, limit: int | None = None) -> list[Envelope]:
        """See EventReader."""
        return read_alone(self.client, self.read_of(stream, after, limit))

    def read_of(self, stream: str, after: int = 0, limit: int | None = None) -> Read[list[Envelope]]:
        """See RedisStore; a round trip more, and the archive, when there are no live events."""
        live = super().read_of(stream, after, limit)

        def or_archived(events: list[Envelope]) -> list[Envelope]:
            archived = None if events else self.find_archived([stream])[0]
            if archived is None:
                # Unless it was brought back between the two looks, there is nothing.
                return events or read_alone(self.client, live)
            archived_events = self._archived_events(self._archived_match(stream, archived))
            return archived_events[after : None if limit is None else after + limit]

        return live.then(or_archived)

    def open(self, stream: str, after: int | None = 0, request: contract.Request | None = None) -> contract.Opened:
        """See EventReader."""
        live = super().open(stream, after, request)
        if live.head != contract.EMPTY:
            return live
        archived = self.find_archived([stream])[0]
        if archived is None:
            return super().open(stream, after, request)
        match, snapshot, start = self._archived_match(stream, archived), None, after or 0
        if after is None and live.snapshot is not None:
            snapshot = live.snapshot
            start = int(self.client.hget(self._keys_of(stream).snapshot(stream), "v") or 0)
        return contract.Opened(
            self._archived_events(match)[start:],
            archived.head,
            None,
            snapshot if start else None,
            contract.StoredConditionalMoves(match.revision, self._conditional_moves_beside(match)),
        )

    def heads(self, streams: Sequence[str]) -> list[contract.Head]:
        """See EventReader. One round trip; two more when some of them are not live."""
        heads = super().heads(streams)
        absent = [place for place, head in enumerate(heads) if head == contract.EMPTY]
        if not absent:
            return heads
        unknown = []
        for place, archived in zip(absent, self.find_archived([streams[place] for place in absent]), strict=True):
            if archived is None:
                unknown.append(place)
            else:
                heads[place] = archived.head
        if unknown:
            # Those that were brought back between the two looks are found now.
            for place, head in zip(unknown, super().heads([streams[place] for place in unknown]), strict=True):
                heads[place] = head
        return heads

    def append(self, stream: str, expected: contract.Head, *arguments: Any, **options: Any) -> contract.Appended:
        """See EventStore. An archived stream is brought back first, and never begun again.

        It is not archived between this look and the append: it would have to be created and be finished for a day.
        """
        if expected == contract.EMPTY and (archived := self.find_archived([stream])[0]) is not None:
            raise contract.StaleVersionError(stream, expected.tag, archived.head.tag)
        for _ in range(MAX_ATTEMPTS):
            try:
                return super().append(stream, expected, *arguments, **options)
            except contract.StaleVersionError as stale:
                if stale.current != contract.EMPTY.tag or not self.restore(stream):
                    raise
        raise contract.StaleVersionError(stream, expected.tag, self.head(stream).tag)

    def save_conditional_moves(
        self, stream: str, seat: int, text: str | None, revision: int, head: contract.Head
    ) -> None:
        """See EventStore."""
        try:
            super().save_conditional_moves(stream, seat, text, revision, head)
        except contract.StaleConditionalMovesError:
            if not self.restore(stream):
                raise
            super().save_conditional_moves(stream, seat, text, revision, head)

    def restore(self, stream: str) -> bool:
        """Bring ``stream`` back from the archive; return whether it was there. Read models follow later."""
        archived = self.find_archived([stream])[0]
        if archived is None:
            return False
        for _ in range(MAX_ATTEMPTS):
            # Otherwise another process has brought it back, or has noted its leaf.
            if archived is None or self._bring_back(stream, archived):
                break
            archived = self.find_archived([stream])[0]
        return True

    def _bring_back(self, stream: str, archived: Archived) -> bool:
        """Make a match live; return False when it is not ``archived`` so any more.

        Crash-safe: its last leaf is noted first; a live match without note would join the log of checkpoints once more.
        """
        if archived.leaf is not None:
            note = pack_logged(LoggedLeaf(archived.leaf, archived.head.tag))
            self.client.hsetnx(ProofKeys(self.prefix).logged, stream, note)
        match, keys = self._archived_match(stream, archived), self._keys_of(stream)
        place = self.archive.catalogue.place(stream)
        arguments: list[str | bytes | int] = [
            place.field,
            pack_archived(archived),
            *archived.head,
            match.revision,
            stream,
        ]
        for packed, event in zip(match.events, self._archived_events(match), strict=True):
            arguments += [packed, event.digest]
        places = [keys.events(stream), keys.head(stream), place.key, keys.streams, keys.archived_streams]
        return bool(self._restore(places, arguments))

    def live_matches(self, streams: Sequence[str]) -> list[ArchivedMatch | None]:
        """Return live streams as they are archived, without summaries; None for those that are not live."""
        with self.client.pipeline(transaction=False) as pipeline:
            for stream in streams:
                keys = self._keys_of(stream)
                pipeline.hmget(keys.head(stream), ["v", "d", "o"])
                pipeline.xrange(keys.events(stream))
            replies = pipeline.execute()
        live: list[ArchivedMatch | None] = []
        for stream, (version, digest, revision), entries in zip(streams, replies[::2], replies[1::2], strict=True):
            head = contract.Head(int(version or 0), digest)
            # Without the events appended since the head was read.
            events = tuple(fields[b"b"] for _, fields in entries[: head.version])
            live.append(ArchivedMatch(stream, head, events, b"", int(revision or 0)) if version else None)
        return live

    def drop(self, match: ArchivedMatch, locator: Locator, round_number: int, models: DroppedModels) -> bool:
        """Replace the live ``match`` and its read models by an entry in the catalogue, in one step.

        Returns False when anything has changed since ``match`` was read, is due in it, or a later round has begun.
        """
        keys, place = self._keys_of(match.stream), self.archive.catalogue.place(match.stream)
        shard = self.shard_of(match.stream)
        verdict = self._drop(
            [
                keys.events(match.stream),
                keys.head(match.stream),
                keys.snapshot(match.stream),
                keys.deadlines,
                place.key,
                self.archive.catalogue.keys.round(shard),
                models.generations_key,
                keys.streams,
                keys.archived_streams,
                *models.summaries,
                *(key for key, _ in models.members),
            ],
            [
                *match.head,
                match.stream,
                place.field,
                pack_archived(Archived(locator, match.head)),
                round_number,
                models.generations,
                models.summary,
                len(models.summaries),
                *(member for _, member in models.members),
            ],
        )
        return bool(verdict == b"dropped")

    def _archived_match(self, stream: str, archived: Archived) -> ArchivedMatch:
        try:
            return self.archive.match(stream, archived)
        except DamagedArchiveError as error:
            raise DamagedMatchError(stream, 0, str(error)) from error

    def _archived_events(self, match: ArchivedMatch) -> list[Envelope]:
        try:
            return match.envelopes()
        except DamagedArchiveError as error:
            raise DamagedMatchError(match.stream, 0, str(error)) from error

    def _conditional_moves_beside(self, match: ArchivedMatch) -> dict[int, str]:
        """Return the conditional moves that an archived match still has: they are private and never archived."""
        if not match.revision:
            return {}
        stored = self.client.hgetall(self._keys_of(match.stream).conditional_moves(match.stream))
        return {int(seat): text.decode() for seat, text in stored.items()}


def _text(name: bytes) -> str:
    """Return the name of a stream; a damaged one as it stands: reading its stream tells that there is none."""
    return name.decode(errors="backslashreplace")


def make_store(
    settings: Settings, now: Callable[[], int] | None = now_ms, creates: bool | None = None
) -> ArchivingStore:
    """Return the event store that ``settings`` name; it connects when it is first used.

    It refuses writes while ``now``, the wall clock of this process, differs from its own; None for a virtual clock,
    which it does not judge. Its first use makes an installation if it ``creates`` one; None if it is a single server:
    of several, one that has lost everything may have become the primary.
    """
    return ArchivingStore(
        connect(settings.redis_url),
        settings.prefix,
        settings.shards,
        now,
        wait_replicas=settings.wait_replicas,
        archive_url=settings.archive_url,
        creates=read_place(settings.redis_url).kind == SINGLE if creates is None else creates,
        mark_file=settings.mark_file,
    )
