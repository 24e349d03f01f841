"""Moves rating periods out of live memory: days that have been over for some time go to files, and come back.

Whatever changes an archived day first brings back all days from it on, so a recalculation (``recalculation``) never
meets one.

Crash-safe: a file is durable and read back before the store refers to it. Days are moved some at a time, each time in
one transaction that also moves the boundary: a day is live or archived, never both or neither. Killed in between, the
rest stays where it is, and a later file begins after what was moved. Several processes may do this at once, beside
others that rate: each transaction watches the revision of the ratings, which all of them change.
"""

import json
import secrets
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby, islice
from typing import Any

from events.readmodels.archived_periods import (
    NOTHING_ARCHIVED,
    ArchivedDays,
    ArchivedPeriods,
    archived_days,
    result_place,
)
from events.readmodels.period_files import PeriodFile, PlayedDay, PlayerPeriods, build_period_file
from events.readmodels.standings import Part, count_field, pack_end, pack_part, part_field, unpack_end, unpack_part
from events.readmodels.summary import RatedResult
from events.runtime import beats
from events.runtime.connections import StoreClient, StorePipeline
from events.runtime.keys import RatingKeys
from events.runtime.transactions import transact
from events.store.converter import pack, unpack

MIN_MATCHES_PER_FILE = 512
MAX_MATCHES_PER_FILE = 8192
"""About: a day is never divided."""

MATCHES_PER_STEP = 200
RESULTS_PER_SCAN = 1000
PLAYERS_PER_READ = 100


class ArchivedPeriodsError(Exception):
    """What is to be changed on ``day`` is archived, in the generation with the keys ``keys``."""

    def __init__(self, keys: RatingKeys, day: int) -> None:
        super().__init__(f"the rating periods of day {day} are archived")
        self.keys = keys
        self.day = day


class PeriodArchive:
    """Moves rating periods to files and back.

    ``last_due`` returns the last day that is to be archived now, NOTHING_ARCHIVED for none. Methods raise
    StoreUnavailableError, ArchiveUnavailableError, and DamagedArchiveError.
    """

    def __init__(self, client: StoreClient, periods: ArchivedPeriods, last_due: Callable[[], int]) -> None:
        self.periods = periods
        self._client = client
        self._last_due = last_due

    def archive(self, keys: RatingKeys, min_matches: int = MIN_MATCHES_PER_FILE) -> int:
        """Move the earliest days that are due to a file, once they have ``min_matches``; return how many matches went.

        A day that changes meanwhile stays, with all later ones.
        """
        counts = Counter(result.day for result in self._live_results(keys, self._last_due()))
        if not counts or counts.total() < min_matches:
            return 0
        last = _last_of_file(counts)
        token = self._reserve(keys, last)
        archived = self.periods.days(keys)
        results = sorted(self._live_results(keys, last), key=lambda each: each.at)
        players = self._read(keys, results)
        if players is None:
            return 0
        file = self.periods.files.write(build_period_file(token.decode(), players, results), results[0].day)
        until, moved = archived.until, 0
        for step in _steps(results):
            beats.beat()
            if not self._drop(keys, token, file, until, step):
                break
            until, moved = step[-1].day, moved + len(step)
        return moved

    def restore(self, keys: RatingKeys, day: int) -> None:
        """Bring back all archived days from ``day`` on."""
        while (archived := self.periods.days(keys)).until >= day:
            file = archived.files[-1]
            first = max(day, file.first)
            players = list(self.periods.files.players(file))
            results = [each for each in self.periods.files.results(file) if first <= each.day <= archived.until]
            results.sort(key=lambda each: each.at)
            # The last step goes down to ``first``, whether anything was played on that day or not.
            steps = [(step[0].day, step) for step in _steps(results)] or [(first, [])]
            steps[0] = (first, steps[0][1])
            for step_first, step in reversed(steps):
                beats.beat()
                left = self._bring_back(keys, archived, step_first, step, players)
                if left is None:
                    break
                archived = left

    def _reserve(self, keys: RatingKeys, last: int) -> bytes:
        """Return the token that the store has until one of the days up to ``last`` changes.

        Whatever is being changed now is changed again: with the revision as it is then, it sees the token.
        """
        token = f"{last} {secrets.token_hex(8)}"
        with self._client.pipeline(transaction=True) as pipeline:
            pipeline.incr(keys.revision)
            pipeline.set(keys.archiving, token)
            pipeline.execute()
        return token.encode()

    def _live_results(self, keys: RatingKeys, last: int) -> Iterator[RatedResult]:
        """Yield the live results of the days up to ``last``: all that are there all the time, each once."""
        met = set()
        found = self._client.hscan_iter(keys.rated, count=RESULTS_PER_SCAN) if last > NOTHING_ARCHIVED else iter(())
        for number, (match_id, packed) in enumerate(found):
            if number % RESULTS_PER_SCAN == 0:
                beats.beat()
            result = unpack(RatedResult, packed)
            if result.day <= last and match_id not in met:
                met.add(match_id)
                yield result

    def _read(self, keys: RatingKeys, results: Sequence[RatedResult]) -> list[PlayerPeriods] | None:
        """Return what players have in the days of ``results``; None when these are changing."""
        places = sorted({(each.pool, player, each.day) for each in results for player in each.players})
        wanted = [
            (pool, player, [day for _, _, day in days])
            for (pool, player), days in groupby(places, lambda place: place[:2])
        ]
        found: list[PlayerPeriods] = []
        left = iter(wanted)
        while batch := list(islice(left, PLAYERS_PER_READ)):
            beats.beat()
            read = self._read_players(keys, batch)
            if read is None:
                return None
            found += read
        return found

    def _read_players(
        self, keys: RatingKeys, wanted: Sequence[tuple[str, str, Sequence[int]]]
    ) -> list[PlayerPeriods] | None:
        with self._client.pipeline(transaction=False) as pipeline:
            for pool, player, days in wanted:
                timeline = keys.timeline(pool, player)
                pipeline.zrevrangebyscore(timeline, f"({days[0]}", "-inf", start=0, num=1)
                pipeline.zrangebyscore(timeline, days[0], days[-1])
                for day in days:
                    pipeline.hmget(keys.day(pool, day), [player, count_field(player)])
            replies = iter(pipeline.execute())
            begun = [(next(replies), next(replies), [next(replies) for _ in days]) for _, _, days in wanted]
            for (pool, player, days), (_, _, first) in zip(wanted, begun, strict=True):
                for day, (_, count) in zip(days, first, strict=True):
                    fields = [part_field(player, number) for number in range(1, int(count or 1))]
                    pipeline.hmget(keys.day(pool, day), [*fields, count_field(player)])
            others = iter(pipeline.execute())
        found = []
        for (pool, player, days), (before, packed, first) in zip(wanted, begun, strict=True):
            ends = {end.day: end for end in (unpack_end(each) for each in packed)}
            played = []
            for day, (begin, _) in zip(days, first, strict=True):
                parts = [unpack_part(each, number) for number, each in enumerate([begin, *next(others)[:-1]])]
                stored = tuple(part for part in parts if part is not None)
                if day not in ends or len(stored) < len(parts):
                    return None
                played.append(PlayedDay(ends[day], stored))
            previous = unpack_end(before[0]) if before else None
            found.append(PlayerPeriods(pool, player, previous, tuple(played)))
        return found

    def _drop(self, keys: RatingKeys, token: bytes, file: PeriodFile, until: int, step: Sequence[RatedResult]) -> bool:
        """Drop the live days of ``step``, which are in ``file``; return False when they may have changed."""
        last = step[-1].day
        ends = {(each.pool, player): each.day for each in step for player in each.players}

        def drop(pipeline: StorePipeline) -> bool:
            unsettled: Any = pipeline.zrange(keys.unsettled, 0, 0, withscores=True)
            if pipeline.get(keys.archiving) != token or (unsettled and unsettled[0][1] < last + 1):
                return False
            if archived_days(pipeline.get(keys.archived_until), {}).until != until:
                return False
            pipeline.multi()
            pipeline.incr(keys.revision)
            pipeline.set(keys.archived_until, last)
            pipeline.hset(keys.period_files, str(file.first), json.dumps([file.name, file.size]))
            pipeline.unlink(*{keys.day(each.pool, each.day) for each in step})
            for (pool, player), day in ends.items():
                pipeline.zremrangebyscore(keys.timeline(pool, player), "-inf", f"({day}")
            pipeline.hdel(keys.rated, *(each.match for each in step))
            for each in step:
                key, field = result_place(keys, each.match)
                pipeline.hset(key, mapping={field: each.day})
            return True

        return transact(self._client, [keys.revision], drop)

    def _bring_back(
        self,
        keys: RatingKeys,
        known: ArchivedDays,
        first: int,
        step: Sequence[RatedResult],
        players: Sequence[PlayerPeriods],
    ) -> ArchivedDays | None:
        """Make the archived days from ``first`` on live, with the results ``step``; return which are left.

        None when other days are archived now than is ``known``.
        """
        before = tuple(file for file in known.files if file.first < first)
        left = ArchivedDays(first - 1 if before else NOTHING_ARCHIVED, before)

        def bring_back(pipeline: StorePipeline) -> ArchivedDays | None:
            if archived_days(pipeline.get(keys.archived_until), pipeline.hgetall(keys.period_files)) != known:
                return None
            pipeline.multi()
            pipeline.incr(keys.revision)
            pipeline.unlink(keys.archiving)
            for file in known.files[len(before) :]:
                pipeline.hdel(keys.period_files, str(file.first))
            if before:
                pipeline.set(keys.archived_until, left.until)
            else:
                pipeline.unlink(keys.archived_until)
            for periods in players:
                _write_days(pipeline, keys, periods, first, known.until)
            live: dict[Any, Any] = {each.match: pack(each) for each in step}
            if live:
                pipeline.hset(keys.rated, mapping=live)
            for each in step:
                key, field = result_place(keys, each.match)
                pipeline.hdel(key, field)
            return left

        return transact(self._client, [keys.revision], bring_back)


def is_disturbed(archiving: bytes | None, day: int) -> bool:
    """Tell whether a change on ``day`` concerns days that are being archived, by the token of these."""
    return archiving is not None and day <= int(archiving.split()[0])


def _write_days(pipeline: StorePipeline, keys: RatingKeys, periods: PlayerPeriods, first: int, last: int) -> None:
    """Queue the days of a player from ``first`` to ``last`` as they were live, and the end on which they build."""
    pool, player, *_ = periods
    days = [played for played in periods.up_to(last) if played.end.day >= first]
    if not days:
        return
    before = periods.end_before(days[0].end.day)
    ends = [*([] if before is None else [before]), *(played.end for played in days)]
    # What an earlier version has stored of the same day reads otherwise.
    pipeline.zremrangebyscore(keys.timeline(pool, player), ends[0].day, ends[-1].day)
    pipeline.zadd(keys.timeline(pool, player), {pack_end(end): end.day for end in ends})
    for end, parts in days:
        fields: dict[Any, Any] = _fields(player, parts)
        pipeline.hset(keys.day(pool, end.day), mapping=fields)


def _fields(player: str, parts: Sequence[Part]) -> dict[Any, Any]:
    fields: dict[Any, Any] = {part_field(player, number): pack_part(part, number) for number, part in enumerate(parts)}
    return fields | ({count_field(player): len(parts)} if len(parts) > 1 else {})


def _last_of_file(counts: Counter[int]) -> int:
    """Return the last day of a file of about MAX_MATCHES_PER_FILE, by the number of matches of each day."""
    total = 0
    for day in sorted(counts):
        total += counts[day]
        if total >= MAX_MATCHES_PER_FILE:
            break
    return day


def _steps(results: Sequence[RatedResult]) -> Iterator[list[RatedResult]]:
    """Yield results, which are in the order of their ends, in whole days, about MATCHES_PER_STEP at a time."""
    step: list[RatedResult] = []
    for _, of_day in groupby(results, lambda each: each.day):
        step += of_day
        if len(step) >= MATCHES_PER_STEP:
            yield step
            step = []
    if step:
        yield step
