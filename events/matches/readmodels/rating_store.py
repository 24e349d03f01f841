"""Ratings in Redis: how a recalculation reads them, and how its outcome is written."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from events.matches.readmodels import standings
from events.matches.readmodels.recalculation import PlayerDay, RatingRecalculation, Unsettled
from events.runtime.connections import StoreClient, StorePipeline
from events.runtime.keys import RatingKeys
from events.runtime.scripts import script_source
from events.store.converter import pack, unpack

_FORGET_EMPTY_POOL = script_source(__package__, "forget_empty_pool")


class RedisPeriods:
    """The ratings of a pool in a generation."""

    def __init__(self, client: StoreClient, keys: RatingKeys, pool: str) -> None:
        self._client = client
        self._keys = keys
        self._pool = pool

    def ends(self, wanted: Collection[PlayerDay]) -> Mapping[PlayerDay, standings.Ends]:
        """See StoredPeriods."""
        with self._client.pipeline(transaction=False) as pipeline:
            for player, day in wanted:
                timeline = self._keys.timeline(self._pool, player)
                pipeline.zrevrangebyscore(timeline, day, "-inf", start=0, num=2)
                pipeline.zrangebyscore(timeline, f"({day}", "+inf", start=0, num=1, withscores=True)
                pipeline.hget(self._keys.day(self._pool, day), standings.count_field(player))
            replies = iter(pipeline.execute())
        return {of: _ends(of[1], next(replies), next(replies), next(replies)) for of in wanted}

    def parts(self, wanted: Mapping[PlayerDay, range]) -> Mapping[PlayerDay, list[standings.DayPart]]:
        """See StoredPeriods."""
        with self._client.pipeline(transaction=False) as pipeline:
            for (player, day), numbers in wanted.items():
                pipeline.hmget(
                    self._keys.day(self._pool, day), [standings.part_field(player, number) for number in numbers]
                )
            replies = pipeline.execute()
        return {
            of: [
                part
                for packed, number in zip(reply, numbers, strict=True)
                if (part := standings.unpack_part(packed, number))
            ]
            for (of, numbers), reply in zip(wanted.items(), replies, strict=True)
        }


def _ends(day: int, packed: list[bytes], later: list[tuple[bytes, float]], parts: bytes | None) -> standings.Ends:
    ends = [standings.unpack_end(packed_end) for packed_end in packed]
    own = ends.pop(0) if ends and ends[0].day == day else None
    count = int(parts) if parts else int(own is not None)
    return standings.Ends(ends[0] if ends else None, own, int(later[0][1]) if later else None, count)


def write_recalculation(pipeline: StorePipeline, keys: RatingKeys, of_pool: RatingRecalculation) -> None:
    """Queue on ``pipeline`` the results of a step, except the work that it has left."""
    pool = of_pool.pool
    days: dict[int, dict[Any, Any]] = defaultdict(dict)
    gone: dict[int, list[str]] = defaultdict(list)
    for player, day, played in of_pool.days():
        for number, part in played.changed_parts():
            if part is None:
                gone[day].append(standings.part_field(player, number))
            else:
                days[day][standings.part_field(player, number)] = standings.pack_part(part, number)
        if (count := standings.part_count(played.matches)) > 1:
            days[day][standings.count_field(player)] = count
        elif played.stored > 1:
            gone[day].append(standings.count_field(player))
    for day, fields in gone.items():
        pipeline.hdel(keys.day(pool, day), *fields)
    for day, parts in days.items():
        pipeline.hset(keys.day(pool, day), mapping=parts)
    for player, day, end in of_pool.ends():
        pipeline.zremrangebyscore(keys.timeline(pool, player), day, day)
        if end is not None:
            pipeline.zadd(keys.timeline(pool, player), {standings.pack_end(end): day})
    ranks = dict(of_pool.ranks())
    ranked: dict[Any, float] = {player: rating for player, rating in ranks.items() if rating is not None}
    if ranked:
        pipeline.zadd(keys.ranked(pool), ranked)
    if len(ranked) < len(ranks):
        pipeline.zrem(keys.ranked(pool), *(ranks.keys() - ranked.keys()))
    places = dict(of_pool.places_in_leaderboard())
    rated: dict[Any, float] = {player: rating for player, rating in places.items() if rating is not None}
    if rated:
        pipeline.sadd(keys.pools, pool)
        pipeline.zadd(keys.leaderboard(pool), rated)
    if len(rated) < len(places):
        pipeline.zrem(keys.leaderboard(pool), *(places.keys() - rated.keys()))
        pipeline.eval(_FORGET_EMPTY_POOL, 2, keys.pools, keys.leaderboard(pool), pool)


def read_unsettled(client: StoreClient, keys: RatingKeys, count: int) -> list[Unsettled]:
    """Return the unsettled days in all pools, the earliest day first, up to ``count`` days of players."""
    return [unpack(Unsettled, packed) for packed in client.zrange(keys.unsettled, 0, count - 1)]


def write_unsettled(
    pipeline: StorePipeline, keys: RatingKeys, taken: Iterable[Unsettled], left: Iterable[Unsettled]
) -> None:
    """Queue an update of the unsettled set on ``pipeline``: remove ``taken``, then add ``left``."""
    to_do = set(left)
    done = {item for item in taken if item not in to_do}
    if done:
        pipeline.zrem(keys.unsettled, *map(pack, done))
    if to_do:
        pipeline.zadd(keys.unsettled, {pack(item): item.order for item in to_do})
