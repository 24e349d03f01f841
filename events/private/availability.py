"""What players have set about their own time: calendar, vacations and preferences.

Matches record what follows, as events. A change is stored with a pending sync, which stays until all matches have
followed it.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from threading import Lock
from typing import Any, NamedTuple

from domain.match import calendar, vacation
from domain.match.calendar import Calendar, Offset
from domain.match.refusals import CommandError
from domain.match.terms import DAY, HOUR
from domain.match.vacation import Vacation, Vacations, year_of
from events.private.time_zones import offsets_of, years_around
from events.runtime.connections import StoreClient, StorePipeline
from events.runtime.keys import PeopleKeys
from events.runtime.scripts import load_script
from events.runtime.transactions import transact
from events.runtime.wall_clock import rfc3339

MIN_KNOWN_AHEAD_MS = 2 * 365 * DAY
"""Offsets known for less time than this are looked up again: a match may last as long."""

FORMER_CALENDARS_KEPT_MS = 2 * 365 * DAY
MAX_FORMER_CALENDARS = 100
MIN_BETWEEN_CHANGES_MS = 7 * DAY
"""Free days that could change every day would let a clock stand still without end."""

CORRECTION_WINDOW_MS = HOUR
"""A mistake can be corrected within this time."""


class FormerCalendar(NamedTuple):
    """The calendar that was valid until the instant ``until``; None: no day was free."""

    until: int
    calendar: Calendar | None


class Availability(NamedTuple):
    """When a player's time runs.

    ``zone`` is an IANA name, ``offsets`` are known up to ``known_until``. ``free_days`` count from 0, Monday. With
    ``auto_vacation`` a day of vacation is taken where a flag would fall; with ``plays_forced`` the only legal move is
    played. ``former`` are the earlier calendars, in order.
    """

    zone: str = "UTC"
    free_days: tuple[int, ...] = ()
    auto_vacation: bool = True
    plays_forced: bool = False
    book: Vacations = ()
    offsets: tuple[Offset, ...] = (Offset(0, 0),)
    known_until: int = 0
    former: tuple[FormerCalendar, ...] = ()

    @property
    def calendar(self) -> Calendar | None:
        """The present calendar; None when no day is free."""
        return Calendar(self.offsets, self.free_days) if self.free_days else None


class PendingSync(NamedTuple):
    """A change that not all matches of the player have followed yet; ``forced``: of ``plays_forced``."""

    player: str
    revision: int
    forced: bool


Change = Callable[[Availability], Availability]


def with_calendar(availability: Availability, zone: str, free_days: Iterable[int], now: int) -> Availability:
    """Return ``availability`` with this zone and these free days. Raises CommandError with the field at fault."""
    try:
        offsets = offsets_of(zone, year_of(now))
    except KeyError:
        raise CommandError("invalid-calendar", f"there is no time zone {zone!r}", "time_zone") from None
    changed = Calendar(offsets, tuple(sorted(free_days)))
    calendar.check(changed)
    after = availability._replace(
        zone=zone, free_days=changed.free_days, offsets=offsets, known_until=years_around(year_of(now))[1]
    )
    if after.calendar == availability.calendar:
        return after
    former = [each for each in availability.former if each.until > now - FORMER_CALENDARS_KEPT_MS]
    return after._replace(former=(*former, FormerCalendar(now, availability.calendar))[-MAX_FORMER_CALENDARS:])


def refuse_early_change(before: Availability, after: Availability, now: int) -> None:
    """Raise CommandError when free days, or their zone, change too soon after the last change."""
    if after.calendar is None or after.calendar == before.calendar:
        return
    recent = [former.until for former in before.former if former.until > now - MIN_BETWEEN_CHANGES_MS]
    if recent and (len(recent) > 1 or now - recent[0] > CORRECTION_WINDOW_MS):
        again = rfc3339(recent[-1] + MIN_BETWEEN_CHANGES_MS)
        reason = f"free days and their time zone can be changed once in 7 days: again from {again} on"
        raise CommandError("invalid-calendar", reason, "free_days")


def offsets_expire_soon(availability: Availability, now: int) -> bool:
    """Tell whether offsets are needed and no longer known far enough ahead."""
    return bool(availability.free_days) and availability.known_until < now + MIN_KNOWN_AHEAD_MS


def with_fresh_offsets(availability: Availability, now: int) -> Availability:
    """Return ``availability`` with the offsets of its zone as known now, unchanged where they do not expire soon."""
    if not offsets_expire_soon(availability, now):
        return availability
    return with_calendar(availability, availability.zone, availability.free_days, now)


def with_automatic_vacation(availability: Availability, at: int) -> Availability:
    """Return ``availability`` with a day of automatic vacation at ``at``, unchanged if none is left."""
    book = vacation.automatic(availability.book, at) if availability.auto_vacation else None
    return availability if book is None else availability._replace(book=book)


class AvailabilityStore(ABC):
    """The availability of all players."""

    @abstractmethod
    def read(self, players: Iterable[str]) -> dict[str, Availability]:
        """Return the availability of each of ``players``, by default that of a player who has set nothing."""

    @abstractmethod
    def change(self, player: str, change: Change) -> tuple[Availability, PendingSync | None]:
        """Replace the availability by what ``change``, perhaps called again, returns; return it with the sync.

        Both are stored in one step. The sync is None when nothing has changed.
        """

    @abstractmethod
    def erase(self, player: str) -> None:
        """Erase the availability of ``player`` and its pending sync; matches keep what they have recorded."""

    @abstractmethod
    def pending(self) -> list[PendingSync]:
        """Return the changes that matches have yet to follow, at most one for each player."""

    @abstractmethod
    def acknowledge(self, sync: PendingSync) -> None:
        """Remove ``sync``, unless the availability has changed again since."""


class MemoryAvailabilityStore(AvailabilityStore):
    """Availability that lives as long as this object: for tests and simulations."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._stored: dict[str, tuple[int, Availability]] = {}
        self._pending: dict[str, PendingSync] = {}

    def read(self, players: Iterable[str]) -> dict[str, Availability]:
        """See AvailabilityStore."""
        return {player: self._stored.get(player, _NOTHING_SET)[1] for player in players}

    def change(self, player: str, change: Change) -> tuple[Availability, PendingSync | None]:
        """See AvailabilityStore."""
        with self._lock:
            revision, before = self._stored.get(player, _NOTHING_SET)
            after = change(before)
            if after == before:
                return after, None
            sync = _sync(player, revision + 1, before, after, self._pending.get(player))
            self._stored[player] = (sync.revision, after)
            self._pending[player] = sync
            return after, sync

    def erase(self, player: str) -> None:
        """See AvailabilityStore."""
        with self._lock:
            self._stored.pop(player, None)
            self._pending.pop(player, None)

    def pending(self) -> list[PendingSync]:
        """See AvailabilityStore."""
        return list(self._pending.values())

    def acknowledge(self, sync: PendingSync) -> None:
        """See AvailabilityStore."""
        with self._lock:
            if self._pending.get(sync.player) == sync:
                del self._pending[sync.player]


class RedisAvailabilityStore(AvailabilityStore):
    """Availability in Redis, one key for each player; all keys share the hash tag of the people."""

    def __init__(self, client: StoreClient, prefix: str) -> None:
        self._client = client
        self._keys = PeopleKeys(prefix)
        self._acknowledge = load_script(client, __package__, "acknowledge_change")

    def read(self, players: Iterable[str]) -> dict[str, Availability]:
        """See AvailabilityStore. One round trip."""
        wanted = list(dict.fromkeys(players))
        if not wanted:
            return {}
        packed = self._client.mget([self._keys.availability(player) for player in wanted])
        return {player: unpack_availability(each) for player, each in zip(wanted, packed, strict=True)}

    def change(self, player: str, change: Change) -> tuple[Availability, PendingSync | None]:
        """See AvailabilityStore. A concurrent writer makes ``change`` start again from what is stored then."""
        key, pending = self._keys.availability(player), self._keys.availability_syncs

        def attempt(pipeline: StorePipeline) -> tuple[Availability, PendingSync | None]:
            revision, before = _unpack(pipeline.get(key))
            after = change(before)
            if after == before:
                return after, None
            earlier = pipeline.hget(pending, player)
            sync = _sync(player, revision + 1, before, after, _unpack_sync(player, earlier))
            pipeline.multi()
            pipeline.set(key, _pack(sync.revision, after))
            pipeline.hset(pending, player, _pack_sync(sync))
            return after, sync

        return transact(self._client, [key], attempt)

    def erase(self, player: str) -> None:
        """See AvailabilityStore."""
        with self._client.pipeline(transaction=True) as pipeline:
            pipeline.delete(self._keys.availability(player))
            pipeline.hdel(self._keys.availability_syncs, player)
            pipeline.execute()

    def pending(self) -> list[PendingSync]:
        """See AvailabilityStore."""
        stored = self._client.hgetall(self._keys.availability_syncs)
        syncs = (_unpack_sync(player.decode(), packed) for player, packed in stored.items())
        return [sync for sync in syncs if sync is not None]

    def acknowledge(self, sync: PendingSync) -> None:
        """See AvailabilityStore."""
        self._acknowledge(keys=[self._keys.availability_syncs], args=[sync.player, _pack_sync(sync)])


_NOTHING_SET = (0, Availability())


def _sync(
    player: str, revision: int, before: Availability, after: Availability, earlier: PendingSync | None
) -> PendingSync:
    forced = before.plays_forced != after.plays_forced or (earlier is not None and earlier.forced)
    return PendingSync(player, revision, forced)


def _pack(revision: int, availability: Availability) -> str:
    return json.dumps([revision, availability._asdict()], separators=(",", ":"))


def unpack_availability(packed: bytes | None) -> Availability:
    """Return the availability stored as ``packed``; None: nothing is set."""
    return _unpack(packed)[1]


def _unpack(packed: bytes | None) -> tuple[int, Availability]:
    if packed is None:
        return _NOTHING_SET
    revision, fields = json.loads(packed)
    fields["free_days"] = tuple(fields["free_days"])
    fields["book"] = tuple(Vacation(*each) for each in fields["book"])
    fields["offsets"] = tuple(Offset(*each) for each in fields["offsets"])
    fields["former"] = tuple(FormerCalendar(until, _calendar(packed)) for until, packed in fields.get("former", ()))
    return revision, Availability(**fields)


def _calendar(packed: list[Any] | None) -> Calendar | None:
    if packed is None:
        return None
    offsets, free_days = packed
    return Calendar(tuple(Offset(*each) for each in offsets), tuple(free_days))


def _pack_sync(sync: PendingSync) -> str:
    return json.dumps([sync.revision, sync.forced])


def _unpack_sync(player: str, packed: bytes | None) -> PendingSync | None:
    return None if packed is None else PendingSync(player, *json.loads(packed))
