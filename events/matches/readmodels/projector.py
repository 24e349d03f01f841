"""From the events of a match to its read models, in one transaction with all that must happen together with it."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Protocol

from redis.exceptions import WatchError

from domain.match.evolve import replay
from domain.match.state import MatchState
from events.matches.readmodels import Projected, summarise, write_summary
from events.matches.readmodels.generations import Generations, RebuildOvertakenError
from events.matches.readmodels.summary import unpack_summary
from events.runtime import beats
from events.runtime.connections import StoreClient, StorePipeline
from events.runtime.errors import StoreUnavailableError
from events.runtime.keys import ReadModelKeys, ShardKeys
from events.runtime.scripts import script_source
from events.runtime.transactions import transact
from events.store.codec import event_of
from events.store.contract import EMPTY, EventStore, Head, VersionTag

MAX_ATTEMPTS = 5
STORED_SUMMARIES = script_source(__package__, "stored_summaries")
Failures = Mapping[str, Exception]


class SummaryReader(Protocol):
    """Summarises matches as they stand now."""

    def heads(self, versions: Mapping[str, int]) -> Mapping[str, Head]:
        """Return the present heads of those matches that need not be loaded to stand at these versions."""

    def read(self, match_id: str, version: int, head: Head | None) -> Projected | None:
        """Return the summary of a match at ``version`` or later, given its present ``head``; None for no match."""


class EventSummaries:
    """Summarises matches by way of all of their events: nothing that is cached counts."""

    def __init__(self, store: EventStore) -> None:
        self._store = store

    def heads(self, _: Mapping[str, int]) -> Mapping[str, Head]:
        """See SummaryReader."""
        return {}

    def read(self, match_id: str, _: int, __: Head | None) -> Projected | None:
        """See SummaryReader."""
        replayed = self.replay(match_id)
        return None if replayed is None else Projected(summarise(replayed[0]), replayed[1].tag.digest)

    def replay(self, match_id: str) -> tuple[MatchState, Head] | None:
        """Return the state and head of a match; None for no such match."""
        opened = self._store.open(match_id)
        state = replay(match_id, map(event_of, opened.events))
        return None if state is None else (state, opened.head)


class Projector:
    """Brings the read models of matches up to their streams."""

    def __init__(
        self,
        client: StoreClient,
        keys: ReadModelKeys,
        summaries: SummaryReader,
        is_archived: Callable[[Sequence[str]], Sequence[bool]] = lambda match_ids: [False] * len(match_ids),
    ) -> None:
        """Read matches through ``summaries``; those that are archived, as ``is_archived`` tells, have none here."""
        self._client = client
        self._keys = keys
        self._summaries = summaries
        self._is_archived = is_archived
        self._generations: dict[int, Generations] = {}

    def project(
        self,
        match_ids: Sequence[str],
        versions: Mapping[str, int] = MappingProxyType({}),
        on_commit: Callable[[StorePipeline, Failures], None] | None = None,
        into: int | None = None,
    ) -> Failures:
        """Bring matches, all of one shard, up to date in one transaction; return those that cannot be replayed.

        ``versions`` are known to have been reached (others: 0). ``on_commit`` queues on the transaction. A rebuild
        writes ``into`` its generation, everything else to all. Raises RebuildOvertakenError with nothing changed.

        Summaries are watched from before the matches are loaded, so no older version replaces a newer one. Heads are
        read on the connection of the transaction, and only a summary at that head is written: in a failover events may
        come from another server.
        """
        shard = self._keys.shard_of(match_ids[0])
        failures: dict[str, Exception] = {}

        def change(pipeline: StorePipeline) -> None:
            failures.clear()
            stored, present = self._stored(pipeline, shard, match_ids, into)
            projected: dict[str, Projected | None] = {}
            live = self._live(match_ids, stored, present)
            heads = self._summaries.heads({match_id: versions.get(match_id, 0) for match_id in live})
            for match_id in live:
                beats.beat()
                try:
                    projected[match_id] = self._summaries.read(match_id, versions.get(match_id, 0), heads.get(match_id))
                except StoreUnavailableError:
                    raise
                except Exception as error:
                    # The errors of a damaged stream or a missing ruleset concern this match alone.
                    failures[match_id] = error
            if any(_tag(summary) != present[match_id] for match_id, summary in projected.items()):
                raise WatchError  # begin again: a match has gone on since, or was read on another server
            pipeline.multi()
            for (generation, match_id), packed in stored.items():
                if match_id in projected:
                    new = projected[match_id]
                    write_summary(pipeline, self._keys, generation, match_id, unpack_summary(packed), new)
            if on_commit is not None:
                on_commit(pipeline, failures)

        watched = self._names(self._written(shard, into), match_ids)
        transact(self._client, [self._keys.generation(shard), *watched], change, attempts=MAX_ATTEMPTS)
        return failures

    def _live(
        self, match_ids: Sequence[str], stored: Mapping[tuple[int, str], bytes | None], heads: Mapping[str, VersionTag]
    ) -> list[str]:
        """Return those that are not archived: a match with a summary, which is watched, is live."""
        summarised = {match_id for (_, match_id), packed in stored.items() if packed is not None}
        absent = [match_id for match_id in match_ids if match_id not in summarised and heads[match_id] == EMPTY.tag]
        gone = {match_id for match_id, is_gone in zip(absent, self._is_archived(absent), strict=True) if is_gone}
        return [match_id for match_id in match_ids if match_id not in gone]

    def _written(self, shard: int, into: int | None) -> tuple[int, ...]:
        return self._generations.get(shard, Generations()).written if into is None else (into,)

    def _names(self, generations: Sequence[int], match_ids: Sequence[str]) -> list[str]:
        return [self._keys.summary(match_id, generation) for generation in generations for match_id in match_ids]

    def _stored(
        self, pipeline: StorePipeline, shard: int, match_ids: Sequence[str], into: int | None
    ) -> tuple[dict[tuple[int, str], bytes | None], dict[str, VersionTag]]:
        """Return and watch the stored summaries in every generation to be written, and the heads."""
        heads = [ShardKeys(self._keys.prefix, shard).head(match_id) for match_id in match_ids]
        while True:
            written = self._written(shard, into)
            names = self._names(written, match_ids)
            places = [self._keys.generation(shard), *names, *heads]
            reply: Any = pipeline.eval(STORED_SUMMARIES, len(places), *places, len(names))
            packed, summaries, present = reply[0], reply[1 : 1 + len(names)], reply[1 + len(names) :]
            generations = Generations.parse(packed)
            if into is not None and generations.building != into:
                raise RebuildOvertakenError
            if into is not None or generations == self._generations.get(shard, Generations()):
                pairs = [(generation, match_id) for generation in written for match_id in match_ids]
                tags = (Head.of(fields).tag for fields in present)
                return dict(zip(pairs, summaries, strict=True)), dict(zip(match_ids, tags, strict=True))
            # The read models of the shard are being rebuilt, or have been.
            self._generations[shard] = generations
            pipeline.watch(*self._names(generations.written, match_ids))


def _tag(projected: Projected | None) -> VersionTag:
    return EMPTY.tag if projected is None else VersionTag(projected.summary.version, projected.digest)
