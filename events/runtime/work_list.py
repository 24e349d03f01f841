"""The work list: the durable list of due work, from which workers claim entries fairly, with a lease.

Work to be done later or elsewhere is an entry, added by its cause. A worker claims one entry after the
other, and finishes or postpones it; work that takes longer than the lease renews it. A claim that is not renewed ends
with its lease, and the entry is claimed again: so each entry is done at least once, and its owner decides
what a repetition means. Tasks in the broker are hints that something can be claimed (``workers.hints``).

Claims are fair by owner: of all owners with something due, the one for whom the least was claimed is served, measured
by the cost of the entries. A lane is a part of a list that is claimed from separately. Each shard of a list has its
keys on one server, and all that happens there happens in one step.
"""

import math
import secrets
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from enum import StrEnum
from typing import NamedTuple

from events.runtime.connections import StoreClient, StorePipeline
from events.runtime.keys import WorkListKeys, shard_of
from events.runtime.reads import read_due
from events.runtime.scripts import Argument, Script, script_source
from events.runtime.wall_clock import now_ms

LEASE_MS = 30_000
"""Time after which the entry of a worker that was killed is claimed again."""

MAX_CLOCK_OFFSET_MS = 2_000
"""A process whose clock differs by more does no work (``events.store.time``)."""

MAX_DISCARDED = 1000
"""Entries that one call of a script removes."""

_LIBRARY = script_source(__package__, "work_list")
_CALL = "return work[ARGV[1]](unpack(ARGV, 2))"


class Repeats(StrEnum):
    """The effect of adding an entry that is there already."""

    NOTHING = ""
    AGAIN = "again"
    """One that is claimed is due again when it is finished."""

    MOVED = "moved"
    """As AGAIN; one that is not claimed is due at the other instant instead."""


class Claim(NamedTuple):
    """A claimed entry, for the ``attempts``-th time; ``due`` is when it was due (milliseconds since 1970 UTC)."""

    keys: WorkListKeys
    lane: str
    token: str
    id: str
    owner: str
    content: str
    due: int
    attempts: int


class WorkList:
    """A work list, of one shard for each of ``keys``; entries are where their owner belongs. Safe between threads.

    ``now`` is a clock in milliseconds since 1970 UTC in place of the store's. Methods raise StoreUnavailableError.
    """

    def __init__(self, client: StoreClient, keys: Sequence[WorkListKeys], now: Callable[[], int] | None = None) -> None:
        self.lease_ms = LEASE_MS
        self._client = client
        self._keys = keys
        self._now = now
        self._run = Script(client, f"{_LIBRARY}\n{_CALL}")

    def keys_of(self, owner: str) -> WorkListKeys:
        """Return the keys of the shard that has the entries of ``owner``."""
        return self._keys[shard_of(owner, len(self._keys))]

    def add(
        self,
        id: str,
        owner: str,
        due: int,
        content: str | bytes = "",
        *,
        lane: str = "",
        cost: int = 1,
        repeats: Repeats = Repeats.NOTHING,
    ) -> bool:
        """Add an entry that is due at ``due``; return False when it was there and nothing has changed."""
        return bool(self._run([self.keys_of(owner).base], ["add", id, lane, owner, cost, due, content, repeats]))

    def add_on(
        self,
        pipeline: StorePipeline,
        id: str,
        owner: str,
        due: int,
        content: str | bytes = "",
        *,
        lane: str = "",
        repeats: Repeats = Repeats.NOTHING,
    ) -> None:
        """Queue on the transaction ``pipeline`` that an entry is added."""
        arguments = ["add", id, lane, owner, 1, due, content, repeats]
        pipeline.eval(self._run.script, 1, self.keys_of(owner).base, *map(str, arguments))

    def claim(self, lanes: Collection[str] | None = None, shards: Collection[int] | None = None) -> Claim | None:
        """Claim an entry that is due in one of ``lanes`` (None: in any); None when there is none.

        Of lanes and shards one that has something due is chosen at random.
        """
        # Crash-safe: the lease is the entry's place in the order; it ends for a killed worker, and for a lost reply.
        now, token = self._instant(), secrets.token_hex(8)
        for keys, lane in self._ready(lanes, shards):
            if reply := self._run([keys.base], ["claim", now, lane, self.lease_ms, token]):
                id, owner, content, due, attempts = reply
                return Claim(keys, lane, token, id.decode(), owner.decode(), content.decode(), int(due), attempts)
        return None

    def renew(self, claim: Claim, content: str | None = None) -> bool:
        """Let the lease of ``claim`` begin again, perhaps with another ``content``; return False when it is lost."""
        return self._settle("renew", claim, self.lease_ms, self._instant(), *_given(content))

    def finish(self, claim: Claim, following: str | None = None) -> bool:
        """Remove an entry that is done; return False when the claim is lost.

        One that was added again meanwhile is due again, with the content ``following`` (None: that of the addition).
        """
        return self._settle("finish", claim, *_given(following))

    def postpone(self, claim: Claim, due: int, *, tried: bool = True, lane: str | None = None) -> bool:
        """Give ``claim`` up: the entry is due at ``due``, in ``lane``; return False when the claim is lost.

        Unless it was ``tried`` the attempt does not count.
        """
        lane = claim.lane if lane is None else lane
        return self._settle("postpone", claim, due, claim.attempts - (not tried), lane)

    def entry_content(self, owner: str, id: str) -> str | None:
        """Return the content of an entry of ``owner``, None when there is none."""
        content = self._client.hget(self.keys_of(owner).entry(id), "content")
        return None if content is None else content.decode()

    def contents(self, owner: str) -> dict[str, str]:
        """Return the contents of the entries of ``owner``, by id."""
        keys = self.keys_of(owner)
        lanes = [lane.decode() for lane in self._client.zrange(keys.lanes, 0, -1)]
        with self._client.pipeline(transaction=False) as pipeline:
            for lane in lanes:
                pipeline.zrange(keys.entries(lane, owner), 0, -1)
            ids = [id.decode() for stored in pipeline.execute() for id in stored]
        with self._client.pipeline(transaction=False) as pipeline:
            for id in ids:
                pipeline.hget(keys.entry(id), "content")
            stored = zip(ids, pipeline.execute(), strict=True)
            return {id: content.decode() for id, content in stored if content is not None}

    def discard(self, owner: str, ids: Sequence[str] | None = None) -> None:
        """Remove the entries of ``owner`` with ``ids`` (None: all), claimed or not."""
        removed = list(self.contents(owner) if ids is None else ids)
        for first in range(0, len(removed), MAX_DISCARDED):
            self._run([self.keys_of(owner).base], ["discard", *removed[first : first + MAX_DISCARDED]])

    def next_due(self, shards: Collection[int] | None = None) -> dict[str, int]:
        """Return by lane the earliest instant at which something can be claimed, perhaps a past one."""
        earliest: dict[str, int] = {}
        for _, lane, at in self._lanes(shards):
            earliest[lane] = min(at, earliest.get(lane, at))
        return earliest

    def count(self, until: float = math.inf, shards: Collection[int] | None = None) -> Counter[str]:
        """Return by lane how many entries were due by ``until``, claimed or not."""
        lanes = self._lanes(shards)
        with self._client.pipeline(transaction=False) as pipeline:
            for keys, lane, _ in lanes:
                pipeline.zcount(keys.due(lane), "-inf", until)
            counts: Counter[str] = Counter()
            for (_, lane, _), count in zip(lanes, pipeline.execute(), strict=True):
                counts[lane] += count
        return counts

    def _lanes(self, shards: Collection[int] | None) -> list[tuple[WorkListKeys, str, int]]:
        """Return the lanes of each shard, with the instant from which something can be claimed there."""
        asked = self._keys if shards is None else [self._keys[shard] for shard in shards]
        due = read_due(self._client, (keys.lanes for keys in asked))
        return [(keys, lane, at) for keys, lanes in zip(asked, due, strict=True) for lane, at in lanes]

    def _ready(
        self, lanes: Collection[str] | None, shards: Collection[int] | None
    ) -> Iterator[tuple[WorkListKeys, str]]:
        """Yield where something can be claimed, in any order."""
        # By the clock of this process, which may be behind: the claim itself goes by the store's.
        now = now_ms() + MAX_CLOCK_OFFSET_MS if self._now is None else self._now()
        ready = [
            (keys, lane) for keys, lane, at in self._lanes(shards) if at <= now and (lanes is None or lane in lanes)
        ]
        while ready:
            yield ready.pop(secrets.randbelow(len(ready)))

    def _instant(self) -> Argument:
        return "" if self._now is None else self._now()

    def _settle(self, operation: str, claim: Claim, *args: Argument) -> bool:
        return bool(self._run([claim.keys.base], [operation, claim.id, claim.token, *args]))


def _given(content: str | None) -> tuple[str, ...]:
    return () if content is None else (content,)


def work_script(client: StoreClient, package: str, name: str) -> Script:
    """Return the script ``name``.lua of ``package``, which calls the functions of ``work_list.lua``.

    Its first key is the base of a shard of a list.
    """
    return Script(client, f"{_LIBRARY}\n{script_source(package, name)}")


def index_entries(client: StoreClient, entries: Iterable[tuple[str, str]]) -> None:
    """Let the indexes of work lists name ``entries``, each the base of a list and an id; none is claimed afterwards."""
    index = Script(client, f"{_LIBRARY}\nwork.index(ARGV[1])")
    for base, id in entries:
        index([base], [id])
