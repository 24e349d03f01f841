"""The summaries and lists of matches, as the API and the workers read them."""

import heapq
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, groupby, islice
from typing import NamedTuple

import structlog

from domain.match.enums import Status
from events.matches.readmodels import paging
from events.matches.readmodels.archived import KINDS_OF_LISTS, ArchivedModels
from events.matches.readmodels.generations import Current, Reader
from events.matches.readmodels.summary import Projected, Summary, unpack_summary
from events.runtime.connections import StoreClient, StorePipeline
from events.runtime.keys import ReadModelKeys, ShardKeys
from events.runtime.reads import Read
from events.runtime.scripts import script_source
from events.store.archive.framing import ArchiveUnavailableError, DamagedArchiveError

PUBLIC_VIEWS = ("open", "recent", "cases")
PERSONAL_VIEWS = ("awaiting", "queue", "invited", "active", "finished")
LEAST_FIRST = ("awaiting", "queue", "invited", "cases")
MAX_MATCHES_SCANNED = 500
"""Matches examined for one page of a list of which only some are wanted."""

_LIST_PAGE = script_source(__package__, "list_page")

log = structlog.get_logger("readmodels")


class ListRow(NamedTuple):
    """A match in a list: its packed summary (None: not here), and its version in the event store (0: not there)."""

    packed: bytes | None
    version: int


class MatchLists:
    """The summaries and lists of the matches of an installation; milliseconds behind the events.

    While the archive cannot be read, lists are incomplete and say so; those that must be complete raise
    ArchiveUnavailableError.
    """

    def __init__(self, client: StoreClient, prefix: str, shards: int, archived: ArchivedModels | None = None) -> None:
        self.client = client
        self.keys = ReadModelKeys(prefix, shards)
        self._reader = Reader(client, self.keys.generation, range(self.keys.shards))
        self.read = self._reader.read
        self.archived = archived

    def summary(self, match_id: str) -> Summary | None:
        """Return the summary of a match, or None when it is unknown or not projected yet."""
        projected = self.projected([match_id])[0]
        return projected.summary if projected else None

    def projected(self, match_ids: Sequence[str]) -> list[Projected | None]:
        """Return the summaries of ``match_ids`` with their digests, in the same order; archived ones take longer."""
        live = self.live_projected(match_ids)
        if self.archived is None or None not in live:
            return live
        absent = [match_id for match_id, projected in zip(match_ids, live, strict=True) if projected is None]
        archived = self.archived.projected(absent)
        return [projected or archived.get(match_id) for match_id, projected in zip(match_ids, live, strict=True)]

    def live_projected(self, match_ids: Sequence[str]) -> list[Projected | None]:
        """Return the summaries of those matches that are not archived, in one round trip."""

        def queue(pipeline: StorePipeline, current: Current) -> None:
            for match_id in match_ids:
                pipeline.get(self.keys.summary(match_id, current[self.keys.shard_of(match_id)]))

        shards = {self.keys.shard_of(match_id) for match_id in match_ids}
        return [unpack_summary(packed) for packed in self.read(queue, shards)]

    def matches(
        self,
        view: str,
        player: str | None = None,
        game: str | None = None,
        cursor: str | None = None,
        limit: int = 50,
        public: bool = False,
        wanted: Callable[[Summary], bool] = lambda _: True,
    ) -> paging.Page[Summary]:
        """Return a page of the ``wanted`` matches in a view, of one ``game`` if given, no private ones if ``public``.

        It is full if MAX_MATCHES_SCANNED matches contain enough; the next page goes on after them. Matches that have
        gone on since their summaries were made are on it, wanted or not: the caller has to look at them as they stand.

        - "open" (newest first) and "recent" (last changed first): public matches, of ``player`` if given; "cases"
        without one.
        - Only with ``player``: "awaiting", "invited" (longest wait first), "queue" (first deadline first), "active",
        "finished".

        Raises ValueError for an unknown view, a missing player, an invalid cursor, and a limit outside 1 to 200.
        """
        paging.check_page_size(limit)
        names = _lists_of_view(view, player, game)
        public = public or (view in PUBLIC_VIEWS and player is not None)

        def belongs(summary: Summary) -> bool:
            fits = not (public and summary.private) and (game is None or summary.game == game)
            return fits and _in_view(summary, view)

        newest_first, after = view not in LEAST_FIRST, paging.parse_cursor(cursor)

        def read(with_archive: bool) -> paging.Page[Summary]:
            rows: dict[str, ListRow] = {}
            places = self.places(names, newest_first, after, limit, rows, with_archive)
            read_others = self.projected if with_archive else self.live_projected
            entries: list[tuple[paging.Place, Summary]] = []
            stale, last, scanned = list[str](), None, 0
            for last, summary in self.summaries(places, limit + 1, rows, read_others):
                scanned += 1
                row = rows.get(summary.match)
                is_stale = row is not None and row.version not in (0, summary.version)
                if belongs(summary) and (is_stale or wanted(summary)):
                    entries.append((last, summary))
                    stale += [summary.match] * is_stale
                if len(entries) > limit or scanned > MAX_MATCHES_SCANNED:
                    break
            page: paging.Page[Summary] = paging.page_of(entries, limit)
            if page.next is None and scanned > MAX_MATCHES_SCANNED and last is not None:
                page = page._replace(next=paging.format_cursor(last))
            return page._replace(stale=stale)

        try:
            return read(with_archive=True)
        except (ArchiveUnavailableError, DamagedArchiveError) as error:
            log.warning("a list lacks archived matches", view=view, error=str(error))
            return read(with_archive=False)._replace(incomplete=True)

    def read_of_latest(self, view: str, player: str, size: int) -> Read[list[Summary]]:
        """Return the read of the latest matches of ``player`` in a view, up to ``size`` live ones of each shard."""
        (name,) = _lists_of_view(view, player, None)
        part = paging.Range("ZREVRANGEBYSCORE", "+inf", "-inf", size)

        def queue(pipeline: StorePipeline, current: Current) -> None:
            for shard in range(self.keys.shards):
                self._queue_rows(pipeline, shard, current[shard], name, part)

        def parse(replies: list[list[tuple[bytes, bytes, bytes | None, bytes]]]) -> list[Summary]:
            unpacked = [unpack_summary(packed) for _, _, packed, _ in chain.from_iterable(replies)]
            return [projected.summary for projected in unpacked if projected is not None]

        return self._reader.read_of(queue).then(parse)

    def _queue_rows(self, pipeline: StorePipeline, shard: int, generation: int, name: str, part: paging.Range) -> None:
        key, prefix = self.keys.listed(shard, name, generation), self.keys.summaries(shard, generation)
        order = (part.first, part.last, part.size, part.command)
        pipeline.eval(_LIST_PAGE, 1, key, *order, prefix, ShardKeys(self.keys.prefix, shard).base)

    def places(
        self,
        names: Sequence[str],
        newest_first: bool,
        after: paging.Place | None,
        limit: int,
        rows: dict[str, ListRow],
        with_archive: bool = True,
    ) -> Iterator[paging.Place]:
        """Yield the places of the matches in lists, and put the live ones into ``rows``."""

        def list_in(shard: int, name: str) -> paging.QueueRange:
            def queue(pipeline: StorePipeline, current: Current, part: paging.Range) -> None:
                self._queue_rows(pipeline, shard, current[shard], name, part)

            return queue

        def read(queue: paging.Queue) -> list[list[tuple[bytes, float]]]:
            replies = self.read(queue)
            for match_id, _, packed, version in chain.from_iterable(replies):
                rows[match_id.decode()] = ListRow(packed, int(version or 0))
            return [[(match_id, float(score)) for match_id, score, _, _ in reply] for reply in replies]

        lists = [list_in(shard, name) for name in names for shard in range(self.keys.shards)]
        # A shard's fair share and some more: most pages are full after one round trip.
        live = paging.merge(read, lists, newest_first, after, 4 + 2 * limit // len(lists))
        names = [name for name in names if name.partition(":")[0] in KINDS_OF_LISTS]
        if self.archived is None or not with_archive or not names:
            return live
        # Live ones are looked at first: a match that is archived meanwhile is met twice, not missed.
        archived = self.archived.places(names, newest_first, after)
        return (place for place, _ in groupby(heapq.merge(live, archived, reverse=newest_first)))

    def summaries(
        self,
        places: Iterator[paging.Place],
        batch: int,
        rows: Mapping[str, ListRow],
        read_others: Callable[[Sequence[str]], list[Projected | None]],
    ) -> Iterator[tuple[paging.Place, Summary]]:
        """Yield the summaries of the matches at ``places``: those in ``rows``, and the others as they are read."""
        while listed := list(islice(places, batch)):
            others = [place.member for place in listed if place.member not in rows or rows[place.member].packed is None]
            projected = dict(zip(others, read_others(others), strict=True)) if others else {}
            for place in listed:
                row = rows.get(place.member)
                match = projected[place.member] if row is None or row.packed is None else unpack_summary(row.packed)
                if match is not None:
                    yield place, match.summary


def _lists_of_view(view: str, player: str | None, game: str | None) -> list[str]:
    """Return the lists that a view is read from; raises ValueError for an unknown view and a missing player."""
    if view in PERSONAL_VIEWS:
        if player is None:
            raise ValueError(f"the view {view!r} needs a player")
        return [f"{view}:{player}"]
    if view not in PUBLIC_VIEWS:
        raise ValueError(f"there is no view {view!r}")
    if player is not None:
        return [f"active:{player}", f"finished:{player}"]
    return [f"{view}:{game}" if game and view != "cases" else view]


def _in_view(summary: Summary, view: str) -> bool:
    """Tell whether a match from the lists of a view is in it: the lists of a player have more."""
    if view == "open":
        return summary.status == Status.OPEN and any(seat.player is None for seat in summary.seats)
    return summary.case if view == "cases" else view != "recent" or summary.status != Status.ABORTED
