"""What players have set about their own time: calendar, vacations and preferences, in ordinary keys beside people.

A diary says what its player wants; what it means for a match is said there, as events. Between the two anybody may be
killed: a change leaves a mark, in the same step, that stays until all matches of the player have followed it.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from threading import Lock
from typing import Any, NamedTuple

from redis.exceptions import WatchError

from domain.match import calendar, vacation
from domain.match.calendar import Calendar, Offset
from domain.match.refusals import Refused
from domain.match.terms import DAY, HOUR
from domain.match.vacation import Book, Vacation, year_of
from events.private.time_zones import offsets_of, years_around
from events.runtime.connections import StoreClient
from events.runtime.scripts import load_script
from events.runtime.wall_clock import rfc3339

ATTEMPTS = 50
LONGEST_KNOWN = 2 * 365 * DAY
"""Offsets that are known for no longer than this are looked up again: a match may last so long."""


FORMER_KEPT_MS = 2 * 365 * DAY
MAX_FORMER_CALENDARS = 100
CHANGED_AGAIN_AFTER_MS = 7 * DAY
"""Free days that could be changed every day would let a clock stand still without end."""

CORRECTED_WITHIN_MS = HOUR
"""A mistake can be put right at once."""


class FormerCalendar(NamedTuple):
    """Until the instant ``until`` the calendar was this one; None: no day was free."""

    until: int
    calendar: Calendar | None


class Diary(NamedTuple):
    """How a player's time runs.

    ``zone`` is an IANA name; its ``offsets`` are kept as they were known when the calendar was set, until the instant
    ``known_until``. ``free_days`` of the week count from 0, Monday. With ``auto_vacation`` a day of vacation is taken
    where a flag would fall; with ``plays_forced`` a move that is the only one is played for the player. ``former`` are
    the calendars before, in the order of time, as far back as a turn may reach.
    """

    zone: str = "UTC"
    free_days: tuple[int, ...] = ()
    auto_vacation: bool = True
    plays_forced: bool = False
    book: Book = ()
    offsets: tuple[Offset, ...] = (Offset(0, 0),)
    known_until: int = 0
    former: tuple[FormerCalendar, ...] = ()

    @property
    def calendar(self) -> Calendar | None:
        """The calendar that counts now; None when no day is free."""
        return Calendar(self.offsets, self.free_days) if self.free_days else None


class Mark(NamedTuple):
    """A change of the diary of ``player`` that its matches have yet to follow, in ``revision`` of the diary.

    ``forced`` tells that ``plays_forced`` is among what has changed.
    """

    player: str
    revision: int
    forced: bool


Change = Callable[[Diary], Diary]


def arranged(diary: Diary, zone: str, free_days: Iterable[int], now: int) -> Diary:
    """Return ``diary`` with this zone and these free days; raises Refused, with the field, when they are unfit."""
    try:
        offsets = offsets_of(zone, year_of(now))
    except KeyError:
        raise Refused("unfit-calendar", f"there is no time zone {zone!r}", "zone") from None
    changed = Calendar(offsets, tuple(sorted(free_days)))
    calendar.check(changed)
    after = diary._replace(
        zone=zone, free_days=changed.free_days, offsets=offsets, known_until=years_around(year_of(now))[1]
    )
    if after.calendar == diary.calendar:
        return after
    former = [each for each in diary.former if each.until > now - FORMER_KEPT_MS]
    return after._replace(former=(*former, FormerCalendar(now, diary.calendar))[-MAX_FORMER_CALENDARS:])


def refuse_hasty_change(before: Diary, after: Diary, now: int) -> None:
    """Raise Refused when ``after`` has other free days, or another zone for them, too soon after the last change."""
    if after.calendar is None or after.calendar == before.calendar:
        return
    recent = [former.until for former in before.former if former.until > now - CHANGED_AGAIN_AFTER_MS]
    if recent and (len(recent) > 1 or now - recent[0] > CORRECTED_WITHIN_MS):
        again = rfc3339(recent[-1] + CHANGED_AGAIN_AFTER_MS)
        reason = f"free days, and the zone that they count in, can be changed once in 7 days: again from {again} on"
        raise Refused("unfit-calendar", reason, "free_days")


def outlived(diary: Diary, now: int) -> bool:
    """Tell whether the offsets of ``diary`` are needed and not known for long enough any more."""
    return bool(diary.free_days) and diary.known_until < now + LONGEST_KNOWN


def renewed(diary: Diary, now: int) -> Diary:
    """Return ``diary`` with the offsets of its zone as they are known now, or as it is where that is not needed."""
    return arranged(diary, diary.zone, diary.free_days, now) if outlived(diary, now) else diary


def saved(diary: Diary, at: int) -> Diary:
    """Return ``diary`` with a day of automatic vacation at ``at``, where a flag would fall, if there is one to take."""
    book = vacation.automatic(diary.book, at) if diary.auto_vacation else None
    return diary if book is None else diary._replace(book=book)


class Diaries(ABC):
    """The diaries of all players. Implementations are safe to share between threads."""

    @abstractmethod
    def read(self, players: Iterable[str]) -> dict[str, Diary]:
        """Return the diary of each of ``players``; who has set nothing has an empty one. Raises redis errors."""

    @abstractmethod
    def change(self, player: str, change: Change) -> tuple[Diary, Mark | None]:
        """Make the diary of ``player`` what ``change`` returns, and leave a mark, in one step; return both.

        The mark is None when nothing has changed. ``change`` may be called several times; what it raises is passed on,
        and nothing has changed then. Raises redis errors.
        """

    @abstractmethod
    def erase(self, player: str) -> None:
        """Throw the diary of ``player`` away, with its mark; matches keep what they know. Raises redis errors."""

    @abstractmethod
    def marks(self) -> list[Mark]:
        """Return the changes that matches have yet to follow, one for each player. Raises redis errors."""

    @abstractmethod
    def followed(self, mark: Mark) -> None:
        """Take ``mark`` away, unless the diary has changed again since. Raises redis errors."""


class MemoryDiaries(Diaries):
    """Diaries that live as long as this object: for tests and simulations."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._diaries: dict[str, tuple[int, Diary]] = {}
        self._marks: dict[str, Mark] = {}

    def read(self, players: Iterable[str]) -> dict[str, Diary]:
        """See Diaries."""
        return {player: self._diaries.get(player, _NONE)[1] for player in players}

    def change(self, player: str, change: Change) -> tuple[Diary, Mark | None]:
        """See Diaries."""
        with self._lock:
            revision, before = self._diaries.get(player, _NONE)
            after = change(before)
            if after == before:
                return after, None
            mark = _mark(player, revision + 1, before, after, self._marks.get(player))
            self._diaries[player] = (mark.revision, after)
            self._marks[player] = mark
            return after, mark

    def erase(self, player: str) -> None:
        """See Diaries."""
        with self._lock:
            self._diaries.pop(player, None)
            self._marks.pop(player, None)

    def marks(self) -> list[Mark]:
        """See Diaries."""
        return list(self._marks.values())

    def followed(self, mark: Mark) -> None:
        """See Diaries."""
        with self._lock:
            if self._marks.get(mark.player) == mark:
                del self._marks[mark.player]


class RedisDiaries(Diaries):
    """Diaries in the Redis of ``client``, each one key; all keys share the hash tag of the people."""

    def __init__(self, client: StoreClient, prefix: str) -> None:
        self._client = client
        self._keys = f"{prefix}{{people}}:diary:"
        self._marks = f"{prefix}{{people}}:diaries-changed"
        self._followed = load_script(client, __package__, "acknowledge_change")

    def read(self, players: Iterable[str]) -> dict[str, Diary]:
        """See Diaries. One round trip."""
        wanted = list(dict.fromkeys(players))
        if not wanted:
            return {}
        packed = self._client.mget([f"{self._keys}{player}" for player in wanted])
        return {player: _unpacked(each)[1] for player, each in zip(wanted, packed, strict=True)}

    def change(self, player: str, change: Change) -> tuple[Diary, Mark | None]:
        """See Diaries. Who is faster makes the transaction fail, and the change is made on what is there then."""
        key = f"{self._keys}{player}"
        with self._client.pipeline(transaction=True) as pipeline:
            for _ in range(ATTEMPTS):
                pipeline.watch(key)
                revision, before = _unpacked(pipeline.get(key))
                after = change(before)
                if after == before:
                    return after, None
                earlier = pipeline.hget(self._marks, player)
                mark = _mark(player, revision + 1, before, after, _unpacked_mark(player, earlier))
                pipeline.multi()
                pipeline.set(key, _packed(mark.revision, after))
                pipeline.hset(self._marks, player, _packed_mark(mark))
                try:
                    pipeline.execute()
                except WatchError:
                    continue
                return after, mark
        raise WatchError(f"the diary of {player} is being changed all the time")

    def erase(self, player: str) -> None:
        """See Diaries."""
        with self._client.pipeline(transaction=True) as pipeline:
            pipeline.delete(f"{self._keys}{player}")
            pipeline.hdel(self._marks, player)
            pipeline.execute()

    def marks(self) -> list[Mark]:
        """See Diaries."""
        found: Mapping[bytes, bytes] = self._client.hgetall(self._marks)
        marks = (_unpacked_mark(player.decode(), packed) for player, packed in found.items())
        return [mark for mark in marks if mark is not None]

    def followed(self, mark: Mark) -> None:
        """See Diaries."""
        self._followed(keys=[self._marks], args=[mark.player, _packed_mark(mark)])


_NONE = (0, Diary())


def _mark(player: str, revision: int, before: Diary, after: Diary, earlier: Mark | None) -> Mark:
    forced = before.plays_forced != after.plays_forced or (earlier is not None and earlier.forced)
    return Mark(player, revision, forced)


def _packed(revision: int, diary: Diary) -> str:
    return json.dumps([revision, diary._asdict()], separators=(",", ":"))


def _unpacked(packed: bytes | None) -> tuple[int, Diary]:
    if packed is None:
        return _NONE
    revision, fields = json.loads(packed)
    fields["free_days"] = tuple(fields["free_days"])
    fields["book"] = tuple(Vacation(*each) for each in fields["book"])
    fields["offsets"] = tuple(Offset(*each) for each in fields["offsets"])
    fields["former"] = tuple(FormerCalendar(until, _calendar(packed)) for until, packed in fields.get("former", ()))
    return revision, Diary(**fields)


def _calendar(packed: list[Any] | None) -> Calendar | None:
    if packed is None:
        return None
    offsets, free_days = packed
    return Calendar(tuple(Offset(*each) for each in offsets), tuple(free_days))


def _packed_mark(mark: Mark) -> str:
    return json.dumps([mark.revision, mark.forced])


def _unpacked_mark(player: str, packed: bytes | None) -> Mark | None:
    return None if packed is None else Mark(player, *json.loads(packed))
