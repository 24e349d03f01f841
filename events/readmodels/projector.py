"""From the events of a match to its read models, in one transaction with whatever must happen together with it."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from redis.exceptions import WatchError

from domain.match.evolve import replay
from events.readmodels import Projected, summarise, write_summary
from events.readmodels.summary import unpack
from events.runtime import beats
from events.runtime.connections import StoreClient, StorePipeline
from events.runtime.errors import StoreUnavailable
from events.runtime.keys import ReadModelKeys
from events.service.matches import Matches, NoSuchMatch
from events.store.codec import event_of
from events.store.contract import EventStore

ATTEMPTS = 5
Failures = Mapping[str, Exception]
"""The matches that cannot be replayed, each with its error."""

Read = Callable[[str], Projected | None]


def projected_by(matches: Matches) -> Read:
    """Return a function from a match to its summary now (None: no such match), by way of the cached states."""

    def read(match: str) -> Projected | None:
        try:
            loaded = matches.load(match)
        except NoSuchMatch:
            return None
        return Projected(summarise(loaded.state), loaded.head.tag.digest)

    return read


def projected_from_events(store: EventStore) -> Read:
    """Return a function from a match to its summary now, by way of all of its events: nothing that is cached counts."""

    def read(match: str) -> Projected | None:
        opened = store.open(match)
        state = replay(match, map(event_of, opened.events))
        return None if state is None else Projected(summarise(state), opened.head.tag.digest)

    return read


class Projector:
    """Brings the read models of matches up to their streams."""

    def __init__(self, client: StoreClient, keys: ReadModelKeys, read: Read) -> None:
        self._client = client
        self._keys = keys
        self._read = read

    def project(
        self,
        matches: Sequence[str],
        together: Callable[[StorePipeline, Failures], None] | None = None,
        whole: bool = False,
    ) -> Failures:
        """Bring ``matches``, all of one shard, up to date in one transaction; return those that cannot be replayed.

        ``together`` queues on the transaction what must happen with it. ``whole`` writes also what seems to be there
        already. Raises redis errors and StoreUnavailable; then nothing has changed.

        The summaries are watched from before the matches are loaded: whoever writes a summary in between makes the
        transaction fail, so that of two relays neither can put an older version in place of a newer one. A summary
        that is ahead of its stream, because a failover lost the end of it, is therefore known to be wrong and is
        replaced like any other: a summary depends on nothing but the stream.
        """
        names = [self._keys.summary(match) for match in matches]
        with self._client.pipeline(transaction=True) as pipeline:
            for attempt in range(1, ATTEMPTS + 1):
                failures: dict[str, Exception] = {}
                try:
                    pipeline.watch(*names)
                    packed: Any = pipeline.mget(names)
                    changes = []
                    for match, bytes_kept in zip(matches, packed, strict=True):
                        beats.beat()
                        try:
                            changes.append((match, unpack(bytes_kept), self._read(match)))
                        except StoreUnavailable:
                            raise
                        except Exception as error:
                            # Whatever a damaged stream or a missing ruleset raises concerns this match alone.
                            failures[match] = error
                    pipeline.multi()
                    for change in changes:
                        write_summary(pipeline, self._keys, *change, whole)
                    if together is not None:
                        together(pipeline, failures)
                    pipeline.execute()
                except WatchError:
                    if attempt == ATTEMPTS:
                        raise
                else:
                    break
        return failures
