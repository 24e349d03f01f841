"""The read models as the API and the workers read them."""

import heapq
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import groupby, islice, product
from typing import Any

import structlog

from domain.match.enums import Status
from domain.rating import START_RATING
from events.matches.readmodels.archived import ArchivedModels
from events.matches.readmodels.generations import RATINGS, Current, Reader
from events.matches.readmodels.lists import DRAWN, LOST, WON
from events.matches.readmodels.paging import (
    MAX_PAGE_SIZE,
    KeyOf,
    Page,
    Place,
    check_page_size,
    format_cursor,
    merge,
    parse_cursor,
)
from events.matches.readmodels.rated_matches import RatedMatch, RatedMatchReader
from events.matches.readmodels.standings import (
    Entry,
    HeadToHead,
    PlayerRating,
    RatingChange,
    change_in,
    count_field,
    part_field,
    rating_at_start,
    unpack_end,
    unpack_part,
)
from events.matches.readmodels.summary import (
    DAY_MS,
    Projected,
    RatedResult,
    Summary,
    Unrated,
    unpack_summary,
    why_unrated,
)
from events.runtime.connections import StoreClient, StorePipeline
from events.runtime.keys import RatingKeys, ReadModelKeys
from events.runtime.scripts import script_source
from events.runtime.wall_clock import now_ms
from events.store.archive.framing import ArchiveUnavailableError, DamagedArchiveError
from events.store.converter import unpack

PUBLIC_VIEWS = ("open", "recent", "cases")
PERSONAL_VIEWS = ("awaiting", "queue", "invited", "active", "finished")
LEAST_FIRST = ("awaiting", "queue", "invited", "cases")
BATCH = 1000
MAX_RESTED_PLAYERS = 500
"""A page of a leaderboard passes over this many players, at least, whose ratings have become uncertain since."""

_PART_OF_MATCH = script_source(__package__, "part_of_match")

log = structlog.get_logger("readmodels")


class ReadModels:
    """What has been projected from the events of an installation; milliseconds behind them.

    While the archive cannot be read, lists are incomplete and say so; what must be complete raises
    ArchiveUnavailableError.
    """

    def __init__(
        self,
        client: StoreClient,
        prefix: str,
        shards: int,
        now: Callable[[], int] = now_ms,
        archived: ArchivedModels | None = None,
    ) -> None:
        self.client = client
        self.keys = ReadModelKeys(prefix, shards)
        self.read = Reader(client, self.keys.generation, range(self.keys.shards)).read
        self._read_ratings = Reader(client, lambda _: self.keys.rating_generation, [RATINGS]).read
        self._now = now
        self._archived = archived

    def summary(self, match_id: str) -> Summary | None:
        """Return the summary of a match, or None when it is unknown or not projected yet."""
        projected = self.projected([match_id])[0]
        return projected.summary if projected else None

    def projected(self, match_ids: Sequence[str]) -> list[Projected | None]:
        """Return the summaries of ``match_ids`` with their digests, in the same order; archived ones take longer."""
        found = self.live_projected(match_ids)
        if self._archived is None or None not in found:
            return found
        absent = [match_id for match_id, known in zip(match_ids, found, strict=True) if known is None]
        archived = self._archived.projected(absent)
        return [known or archived.get(match_id) for match_id, known in zip(match_ids, found, strict=True)]

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
    ) -> Page[Summary]:
        """Return a page of the matches in a view, of one ``game`` if given, without private ones if ``public``.

        - "open" (newest first) and "recent" (last changed first): public matches, of ``player`` if given; "cases"
        without one.
        - Only with ``player``: "awaiting", "invited" (longest wait first), "queue" (first deadline first), "active",
        "finished".

        Raises ValueError for an unknown view, a missing player, an invalid cursor, and a limit outside 1 to 200.
        """
        check_page_size(limit)
        names = _lists_of_view(view, player, game)
        public = public or (view in PUBLIC_VIEWS and player is not None)

        def belongs(summary: Summary) -> bool:
            fits = not (public and summary.private) and (game is None or summary.game == game)
            return fits and _in_view(summary, view)

        newest_first, after = view not in LEAST_FIRST, parse_cursor(cursor)

        def read(with_archive: bool) -> list[tuple[Place, Summary]]:
            places = self._places(names, newest_first, after, limit, with_archive)
            summaries = self._summaries(places, limit + 1, self.projected if with_archive else self.live_projected)
            return list(islice((item for item in summaries if belongs(item[1])), limit + 1))

        try:
            return _page(read(with_archive=True), limit)
        except (ArchiveUnavailableError, DamagedArchiveError) as error:
            log.warning("a list lacks archived matches", view=view, error=str(error))
            return _page(read(with_archive=False), limit)._replace(incomplete=True)

    def matches_of(self, player: str, views: Sequence[str] = ("active", "finished", "invited")) -> list[str]:
        """Return the ids of all matches that ``player`` has a seat in, is invited to or has created, sorted."""
        members = self._members([f"{view}:{player}" for view in views])
        return sorted({member for found in members for member in found})

    def listed_between(
        self, names: Sequence[str], since: int, until: int, shards: Collection[int] | None = None
    ) -> list[tuple[str, int]]:
        """Return the matches of ``shards`` in the lists ``names`` with an instant from ``since`` to ``until``."""
        asked = range(self.keys.shards) if shards is None else shards

        def queue(pipeline: StorePipeline, current: Current) -> None:
            for name, shard in product(names, asked):
                pipeline.zrangebyscore(self.keys.listed(shard, name, current[shard]), since, until, withscores=True)

        return [(match_id.decode(), int(score)) for reply in self.read(queue, asked) for match_id, score in reply]

    def active(self, player: str) -> list[str]:
        """Return the ids of the matches of ``player`` that have not ended, without invitations."""
        return self.matches_of(player, ("active",))

    def engagements(self, players: Sequence[str]) -> dict[str, int]:
        """Return in how many matches that have not ended each of ``players`` has a part, invitations included."""

        def queue(pipeline: StorePipeline, current: Current) -> None:
            for player, shard, view in product(players, range(self.keys.shards), ("active", "invited")):
                pipeline.zcard(self.keys.listed(shard, f"{view}:{player}", current[shard]))

        sizes = self.read(queue) if players else []
        share = 2 * self.keys.shards
        return {player: sum(sizes[place * share : (place + 1) * share]) for place, player in enumerate(players)}

    def head_to_head(self, player: str, other: str, public: bool = False) -> list[HeadToHead]:
        """Return how ``player`` has scored against ``other`` in finished matches, one for each pool, by name."""
        first, second = sorted((player, other))
        lists = ("met",) if public else ("met", "met-privately")
        scores: dict[str, Counter[str]] = {}
        for members in self._members([f"{met}:{first}:{second}" for met in lists]):
            for member in members:
                pool, result, _ = member.split(" ", 2)
                scores.setdefault(pool, Counter())[result] += 1
        wins, losses = (WON, LOST) if player == first else (LOST, WON)
        return [HeadToHead(pool, score[wins], score[DRAWN], score[losses]) for pool, score in sorted(scores.items())]

    def have_met(self, player: str, other: str) -> bool:
        """Tell whether two players have finished a match with one another."""
        first, second = sorted((player, other))
        names = [f"{met}:{first}:{second}" for met in ("met", "met-privately")]

        def queue(pipeline: StorePipeline, current: Current) -> None:
            for name, shard in product(names, range(self.keys.shards)):
                pipeline.exists(self.keys.listed(shard, name, current[shard]))

        return any(self.read(queue))

    def pools(self) -> list[str]:
        """Return the names of the pools that have ratings, sorted."""
        (members,) = self._read_ratings(lambda pipeline, current: pipeline.smembers(self._rating_keys(current).pools))
        return sorted(pool.decode() for pool in members)

    def ratings(self, player: str) -> list[PlayerRating]:
        """Return the ratings of a player, one for each pool with rated matches of the player, by its name."""
        return [rating for rating in self._ratings((player, pool) for pool in self.pools()) if rating]

    def rating_history(self, player: str, pool: str) -> list[RatingChange]:
        """Return all changes of a player's rating in a pool, oldest first."""
        (packed,) = self._read_ratings(
            lambda pipeline, current: pipeline.zrange(self._rating_keys(current).timeline(pool, player), 0, -1)
        )
        entries = self._played(player, pool, [unpack_end(end).day for end in packed])
        changes = []
        before = START_RATING
        for entry in entries:
            after = entry.after.rating
            changes.append(RatingChange(entry.match, entry.at, before, after, entry.after.deviation))
            before = after
        return changes

    def rating_change(self, match_id: str) -> dict[str, tuple[float, float]]:
        """Return the ratings before and after a rated match by player; nothing while it does not count."""
        (packed,) = self._read_ratings(
            lambda pipeline, current: pipeline.hget(self._rating_keys(current).rated, match_id)
        )
        if packed is None:
            return {}
        result = unpack(RatedResult, packed)
        players = list(dict.fromkeys(result.players))

        def queue(pipeline: StorePipeline, current: Current) -> None:
            keys = self._rating_keys(current)
            day = keys.day(result.pool, result.day)
            for player in players:
                pipeline.zrevrangebyscore(keys.timeline(result.pool, player), f"({result.day}", "-inf", start=0, num=1)
                pipeline.eval(_PART_OF_MATCH, 1, day, player, result.match, result.at)

        replies = iter(self._read_ratings(queue))
        changes = {}
        for player, earlier, found in zip(players, replies, replies, strict=True):
            part = unpack_part(found[1], found[0]) if found else None
            start = rating_at_start(unpack_end(earlier[0]) if earlier else None, result.day)
            change = None if part is None else change_in(part, result.match, start)
            if change is not None:  # else the match has been taken out, or put into another day, since the first read
                changes[player] = change
        return changes

    def leaderboard(self, pool: str, cursor: str | None = None, limit: int = 50) -> Page[PlayerRating]:
        """Return a page of the players with a firm rating in a pool, the highest first.

        A page may have fewer than ``limit``, or none, and still a next one. Raises ValueError like ``matches``.
        """
        check_page_size(limit)

        def board(current: Current) -> str:
            return self._rating_keys(current).ranked(pool)

        places = merge(self._read_ratings, [board], True, parse_cursor(cursor), limit + 1)
        found: list[tuple[Place, PlayerRating]] = []
        read, last = 0, None
        while len(found) <= limit and read < MAX_RESTED_PLAYERS and (batch := list(islice(places, limit + 1))):
            ratings = self._ratings((place.member, pool) for place in batch)
            found += [
                (place, each) for place, each in zip(batch, ratings, strict=True) if each and not each.provisional
            ]
            read, last = read + len(batch), batch[-1]
        page: Page[PlayerRating] = _page(found, limit)
        if page.next is None and last is not None and next(places, None) is not None:
            return page._replace(next=format_cursor(last))
        return page

    def rated_matches(self, player: str, pool: str, cursor: str | None = None, limit: int = 25) -> Page[RatedMatch]:
        """Return a page of how a player's rating came about; see ``RatedMatchReader``."""
        return RatedMatchReader(self._read_ratings, self.keys).page(pool, player, cursor, limit)

    def unrated_matches(
        self, player: str, pool: str, cursor: str | None = None, limit: int = 25, public: bool = False
    ) -> Page[tuple[Summary, Unrated]]:
        """Return a player's ended matches of a pool that do not count for ratings, the last changed first.

        They are among the next 200 that ended: a page may be empty and have a next one. Raises ValueError like
        ``matches``.
        """
        check_page_size(limit)
        page = self.matches("finished", player, pool.rpartition("-")[0], cursor, MAX_PAGE_SIZE, public)
        found = [(each, why) for each in page.items if each.pool == pool and (why := why_unrated(each)) is not None]
        if len(found) <= limit:
            return Page(found, page.next, page.incomplete)
        last = found[limit - 1][0]
        return Page(found[:limit], format_cursor(Place(last.updated_at, last.match)), page.incomplete)

    def rated(self) -> Iterator[Summary]:
        """Yield all matches that count for ratings, the first to end first."""
        places = self._places(["rated"], False, None, BATCH)
        yield from (summary for _, summary in self._summaries(places, BATCH, self.projected))

    def _ratings(self, wanted: Iterable[tuple[str, str]]) -> list[PlayerRating | None]:
        wanted = list(wanted)
        today = self._now() // DAY_MS

        def queue(pipeline: StorePipeline, current: Current) -> None:
            for player, pool in wanted:
                pipeline.zrange(self._rating_keys(current).timeline(pool, player), -1, -1)

        return [
            unpack_end(last[0]).player_rating(player, pool, today) if last else None
            for (player, pool), last in zip(wanted, self._read_ratings(queue), strict=True)
        ]

    def _played(self, player: str, pool: str, days: Sequence[int]) -> list[Entry]:
        """Return the matches of rated days: a first part of each, then the others of those that have more."""

        def queue_first(pipeline: StorePipeline, current: Current) -> None:
            for day in days:
                pipeline.hmget(self._rating_keys(current).day(pool, day), [player, count_field(player)])

        first = {day: found for day, found in zip(days, self._read_ratings(queue_first), strict=True) if found[0]}
        fields = {
            day: [part_field(player, more) for more in range(1, int(count or 1))] for day, (_, count) in first.items()
        }

        def queue_others(pipeline: StorePipeline, current: Current) -> None:
            for day, others in fields.items():
                if others:
                    pipeline.hmget(self._rating_keys(current).day(pool, day), others)

        others = iter(self._read_ratings(queue_others) if any(fields.values()) else ())
        stored = ([packed, *(next(others) if fields[day] else ())] for day, (packed, _) in first.items())
        parts = [unpack_part(part, number) for of_day in stored for number, part in enumerate(of_day)]
        return [entry for part in parts if part for entry in part.entries]

    def _rating_keys(self, current: Current) -> RatingKeys:
        return self.keys.rating_keys(current[RATINGS])

    def _places(
        self, names: Sequence[str], newest_first: bool, after: Place | None, limit: int, with_archive: bool = True
    ) -> Iterator[Place]:
        def list_in(shard: int, name: str) -> KeyOf:
            return lambda current: self.keys.listed(shard, name, current[shard])

        lists = [list_in(shard, name) for name in names for shard in range(self.keys.shards)]
        # A shard's fair share and some more: most pages are full after one round trip.
        live = merge(self.read, lists, newest_first, after, 4 + 2 * limit // len(lists))
        if self._archived is None or not with_archive:
            return live
        # Live ones are looked at first: what is archived meanwhile is met twice, not missed.
        archived = self._archived.places(names, newest_first, after)
        return (place for place, _ in groupby(heapq.merge(live, archived, reverse=newest_first)))

    def _members(self, names: Sequence[str]) -> list[list[str]]:
        def queue(pipeline: StorePipeline, current: Current) -> None:
            for shard, name in product(range(self.keys.shards), names):
                pipeline.zrange(self.keys.listed(shard, name, current[shard]), 0, -1)

        live = [[member.decode() for member in members] for members in self.read(queue)]
        if self._archived is None:
            return live
        known = {member for members in live for member in members}
        archived = (place.member for place in self._archived.places(names, newest_first=True))
        return [*live, [member for member in dict.fromkeys(archived) if member not in known]]

    def _summaries(
        self, places: Iterator[Place], batch: int, read: Callable[[Sequence[str]], list[Projected | None]]
    ) -> Iterator[tuple[Place, Summary]]:
        while found := list(islice(places, batch)):
            projected = read([place.member for place in found])
            yield from ((place, known.summary) for place, known in zip(found, projected, strict=True) if known)


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


def _page(found: list[tuple[Place, Any]], limit: int) -> Page[Any]:
    """Return the first ``limit`` of what was found as a page; if there is one more, there is a next page."""
    more = format_cursor(found[limit - 1][0]) if len(found) > limit else None
    return Page([item for _, item in found[:limit]], more)
