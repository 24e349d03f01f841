"""The read models as the API and the workers read them."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import islice, product

import structlog

from domain.rating import START_RATING
from events.matches.readmodels import paging, standings
from events.matches.readmodels.archived import ArchivedModels
from events.matches.readmodels.generations import RATINGS, Current, Reader
from events.matches.readmodels.lists import DRAWN, LOST, WON
from events.matches.readmodels.match_lists import ListRow, MatchLists
from events.matches.readmodels.rated_matches import RatedMatch, RatedMatchReader
from events.matches.readmodels.summary import DAY_MS, RatedResult, Summary, Unrated, why_unrated
from events.runtime.connections import StoreClient, StorePipeline
from events.runtime.keys import RatingKeys
from events.runtime.reads import Read, read_alone
from events.runtime.scripts import script_source
from events.runtime.wall_clock import now_ms
from events.store.converter import unpack

BATCH = 1000
MIN_MATCHES_LISTED = 3
"""Rated matches after which a player is listed with a provisional rating where the list has room."""

MAX_RESTED_PLAYERS = 500
"""A page of a leaderboard passes over this many players, at least, whose ratings have become uncertain since."""

_PART_OF_MATCH = script_source(__package__, "part_of_match")

log = structlog.get_logger("readmodels")


class ReadModels(MatchLists):
    """The read models of an installation; milliseconds behind its events."""

    def __init__(
        self,
        client: StoreClient,
        prefix: str,
        shards: int,
        now: Callable[[], int] = now_ms,
        archived: ArchivedModels | None = None,
    ) -> None:
        super().__init__(client, prefix, shards, archived)
        self._ratings_reader = Reader(client, lambda _: self.keys.rating_generation, [RATINGS])
        self._read_ratings = self._ratings_reader.read
        self._now = now

    def matches_of(self, player: str, views: Sequence[str] = ("active", "finished", "invited")) -> list[str]:
        """Return the ids of all matches that ``player`` has a seat in, is invited to or has created, sorted."""
        members = self._members([f"{view}:{player}" for view in views])
        return sorted({match_id for match_ids in members for match_id in match_ids})

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

    def head_to_head(self, player: str, other: str, public: bool = False) -> list[standings.HeadToHead]:
        """Return how ``player`` has scored against ``other`` in finished matches, one for each pool, by name."""
        first, second = sorted((player, other))
        lists = ("met",) if public else ("met", "met-privately")
        scores: dict[str, Counter[str]] = {}
        for members in self._members([f"{met}:{first}:{second}" for met in lists]):
            for member in members:
                pool, result, _ = member.split(" ", 2)
                scores.setdefault(pool, Counter())[result] += 1
        wins, losses = (WON, LOST) if player == first else (LOST, WON)
        return [
            standings.HeadToHead(pool, score[wins], score[DRAWN], score[losses])
            for pool, score in sorted(scores.items())
        ]

    def first_seats(self, player: str, other: str) -> tuple[int, int]:
        """Return how often ``player`` and ``other`` have had the first seat in matches with one another."""
        first, second = sorted((player, other))
        names = [f"{met}:{first}:{second}" for met in ("met", "met-privately")]
        seats = [member.rpartition(" ")[2] for members in self._members(names) for member in members]
        began = (sum(seat.startswith("0-") for seat in seats), sum(seat.endswith("-0") for seat in seats))
        return began if player == first else began[::-1]

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

    def ratings(self, player: str) -> list[standings.PlayerRating]:
        """Return the ratings of a player, one for each pool with rated matches of the player, by its name."""
        return [rating for rating in self.ratings_in((player, pool) for pool in self.pools()) if rating]

    def rating_history(self, player: str, pool: str) -> list[standings.RatingChange]:
        """Return all changes of a player's rating in a pool, oldest first."""
        (packed,) = self._read_ratings(
            lambda pipeline, current: pipeline.zrange(self._rating_keys(current).timeline(pool, player), 0, -1)
        )
        entries = self._played(player, pool, [standings.unpack_end(end).day for end in packed])
        changes = []
        before = START_RATING
        for entry in entries:
            after = entry.after.rating
            changes.append(standings.RatingChange(entry.match, entry.at, before, after, entry.after.deviation))
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
        for player, earlier, stored in zip(players, replies, replies, strict=True):
            part = standings.unpack_part(stored[1], stored[0]) if stored else None
            start = standings.rating_at_start(standings.unpack_end(earlier[0]) if earlier else None, result.day)
            change = None if part is None else standings.change_in(part, result.match, start)
            if change is not None:  # else the match has been taken out, or put into another day, since the first read
                changes[player] = change
        return changes

    def provisional_ratings(self, pool: str, limit: int) -> list[standings.PlayerRating]:
        """Return the provisional ratings after MIN_MATCHES_LISTED or more, of the ``limit`` highest ones in a pool."""

        def rated(pipeline: StorePipeline, current: Current, part: paging.Range) -> None:
            key = self._rating_keys(current).leaderboard(pool)
            pipeline.zrevrangebyscore(key, part.first, part.last, start=0, num=part.size, withscores=True)

        places = islice(paging.merge(self._read_ratings, [rated], True, None, limit), limit)
        ratings = self.ratings_in((place.member, pool) for place in places)
        return [rating for rating in ratings if rating and rating.provisional and rating.matches >= MIN_MATCHES_LISTED]

    def rated_between(
        self, pool: str, least: float, most: float, after: paging.Place | None, chunk: int = 50
    ) -> Iterator[paging.Place]:
        """Yield the players of a pool with ratings from ``least`` to ``most``, the highest first, those after a place.

        A rating may have become uncertain.
        """

        def rated(pipeline: StorePipeline, current: Current, part: paging.Range) -> None:
            key = self._rating_keys(current).leaderboard(pool)
            pipeline.zrevrangebyscore(key, part.first, least, start=0, num=part.size, withscores=True)

        first = paging.Place(most, "\uffff") if after is None else after
        return paging.merge(self._read_ratings, [rated], True, first, chunk)

    def leaderboard(self, pool: str, cursor: str | None = None, limit: int = 50) -> paging.Page[standings.PlayerRating]:
        """Return a page of the players with a firm rating in a pool, the highest first.

        A page may have fewer than ``limit``, or none, and still a next one. Raises ValueError like ``matches``.
        """
        paging.check_page_size(limit)

        def board(pipeline: StorePipeline, current: Current, part: paging.Range) -> None:
            key = self._rating_keys(current).ranked(pool)
            pipeline.zrevrangebyscore(key, part.first, part.last, start=0, num=part.size, withscores=True)

        places = paging.merge(self._read_ratings, [board], True, paging.parse_cursor(cursor), limit + 1)
        ranked: list[tuple[paging.Place, standings.PlayerRating]] = []
        read, last = 0, None
        while len(ranked) <= limit and read < MAX_RESTED_PLAYERS and (batch := list(islice(places, limit + 1))):
            ratings = self.ratings_in((place.member, pool) for place in batch)
            ranked += [
                (place, rating)
                for place, rating in zip(batch, ratings, strict=True)
                if rating and not rating.provisional
            ]
            read, last = read + len(batch), batch[-1]
        page: paging.Page[standings.PlayerRating] = paging.page_of(ranked, limit)
        if page.next is None and last is not None and next(places, None) is not None:
            return page._replace(next=paging.format_cursor(last))
        return page

    def rated_matches(
        self, player: str, pool: str, cursor: str | None = None, limit: int = 25
    ) -> paging.Page[RatedMatch]:
        """Return a page of how a player's rating came about; see ``RatedMatchReader``."""
        return RatedMatchReader(self._read_ratings, self.keys).page(pool, player, cursor, limit)

    def unrated_matches(
        self, player: str, pool: str, cursor: str | None = None, limit: int = 25, public: bool = False
    ) -> paging.Page[tuple[Summary, Unrated]]:
        """Return a player's ended matches of a pool that do not count for ratings, the last changed first.

        They are among the next 200 that ended: a page may be empty and have a next one. Raises ValueError like
        ``matches``.
        """
        paging.check_page_size(limit)
        page = self.matches("finished", player, pool.rpartition("-")[0], cursor, paging.MAX_PAGE_SIZE, public)
        unrated = [
            (match, why) for match in page.items if match.pool == pool and (why := why_unrated(match)) is not None
        ]
        if len(unrated) <= limit:
            return paging.Page(unrated, page.next, page.incomplete)
        last = unrated[limit - 1][0]
        return paging.Page(
            unrated[:limit], paging.format_cursor(paging.Place(last.updated_at, last.match)), page.incomplete
        )

    def rated(self) -> Iterator[Summary]:
        """Yield all matches that count for ratings, the first to end first."""
        rows: dict[str, ListRow] = {}
        places = self.places(["rated"], False, None, BATCH, rows)
        yield from (summary for _, summary in self.summaries(places, BATCH, rows, self.projected))

    def read_of_ratings(self, wanted: Iterable[tuple[str, str]]) -> Read[list[standings.PlayerRating | None]]:
        """Return the read of the rating of each player and pool in ``wanted``, None where there is none."""
        wanted = list(wanted)
        today = self._now() // DAY_MS

        def queue(pipeline: StorePipeline, current: Current) -> None:
            for player, pool in wanted:
                pipeline.zrange(self._rating_keys(current).timeline(pool, player), -1, -1)

        return self._ratings_reader.read_of(queue).then(
            lambda replies: [
                standings.unpack_end(last[0]).player_rating(player, pool, today) if last else None
                for (player, pool), last in zip(wanted, replies, strict=True)
            ]
        )

    def ratings_in(self, wanted: Iterable[tuple[str, str]]) -> list[standings.PlayerRating | None]:
        """Return the rating of each player and pool in ``wanted``, None where there is none."""
        return read_alone(self.client, self.read_of_ratings(wanted))

    def _played(self, player: str, pool: str, days: Sequence[int]) -> list[standings.DayEntry]:
        """Return the matches of rated days: a first part of each, then the others of those that have more."""

        def queue_first(pipeline: StorePipeline, current: Current) -> None:
            for day in days:
                pipeline.hmget(self._rating_keys(current).day(pool, day), [player, standings.count_field(player)])

        first = {day: reply for day, reply in zip(days, self._read_ratings(queue_first), strict=True) if reply[0]}
        fields = {
            day: [standings.part_field(player, more) for more in range(1, int(count or 1))]
            for day, (_, count) in first.items()
        }

        def queue_others(pipeline: StorePipeline, current: Current) -> None:
            for day, others in fields.items():
                if others:
                    pipeline.hmget(self._rating_keys(current).day(pool, day), others)

        others = iter(self._read_ratings(queue_others) if any(fields.values()) else ())
        stored = ([packed, *(next(others) if fields[day] else ())] for day, (packed, _) in first.items())
        parts = [standings.unpack_part(part, number) for of_day in stored for number, part in enumerate(of_day)]
        return [entry for part in parts if part for entry in part.entries]

    def _rating_keys(self, current: Current) -> RatingKeys:
        return self.keys.rating_keys(current[RATINGS])

    def _members(self, names: Sequence[str]) -> list[list[str]]:
        def queue(pipeline: StorePipeline, current: Current) -> None:
            for shard, name in product(range(self.keys.shards), names):
                pipeline.zrange(self.keys.listed(shard, name, current[shard]), 0, -1)

        live = [[member.decode() for member in members] for members in self.read(queue)]
        if self.archived is None:
            return live
        live_members = {member for members in live for member in members}
        archived = (place.member for place in self.archived.places(names, newest_first=True))
        return [*live, [member for member in dict.fromkeys(archived) if member not in live_members]]
