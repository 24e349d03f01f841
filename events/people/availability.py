"""The settings of players about their own time: calendar, vacations and preferences.

Matches record the effects, as events. A change is stored with a pending sync, which stays until all matches have
followed it.
"""

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from functools import lru_cache
from importlib.resources import files
from itertools import chain
from typing import NamedTuple
from zoneinfo import ZoneInfo

from domain.match import calendar, vacation
from domain.match.calendar import Calendar, Offset
from domain.match.due import Availability, FormerCalendar
from domain.match.refusals import CommandError
from domain.match.terms import DAY, HOUR
from domain.match.vacation import year_of
from events.runtime.connections import StoreClient, StorePipeline
from events.runtime.keys import PeopleKeys
from events.runtime.reads import Read, read_alone
from events.runtime.transactions import transact
from events.runtime.wall_clock import rfc3339
from events.runtime.work_list import Claim, Repeats, WorkList
from events.store.converter import pack, unpack

YEARS_BEHIND = 1
YEARS_AHEAD = 5


@lru_cache(maxsize=1)
def zone_names() -> frozenset[str]:
    """Return the names of all time zones (IANA)."""
    return frozenset(files("tzdata").joinpath("zones").read_text(encoding="ascii").split())


def years_around(year: int) -> tuple[int, int]:
    """Return the instants from which on and until which offsets are known in ``year``."""
    first, last = (
        datetime(year_number, 1, 1, tzinfo=UTC) for year_number in (year - YEARS_BEHIND, year + YEARS_AHEAD + 1)
    )
    return int(first.timestamp()) * 1000, int(last.timestamp()) * 1000


@lru_cache(maxsize=500)
def zone_of(zone: str) -> ZoneInfo:
    """Return the time zone of this name (IANA); raises KeyError for one that does not exist."""
    if zone not in zone_names():
        raise KeyError(zone)
    with files("tzdata").joinpath("zoneinfo", *zone.split("/")).open("rb") as source:
        return ZoneInfo.from_file(source, key=zone)


@lru_cache(maxsize=500)
def offsets_of(zone: str, year: int) -> tuple[Offset, ...]:
    """Return the offsets of ``zone`` in the years around ``year``; raises KeyError for a zone that does not exist."""
    clock = zone_of(zone)
    since, until = years_around(year)
    offsets = [Offset(since, _minutes(clock, since))]
    for day in range(since + DAY, until, DAY):
        if _minutes(clock, day) != offsets[-1].minutes:
            offsets.append(_change(clock, day - DAY, day))
    return tuple(offsets)


def _minutes(clock: ZoneInfo, at: int) -> int:
    offset = datetime.fromtimestamp(at // 1000, clock).utcoffset()
    return 0 if offset is None else int(offset.total_seconds()) // 60


def _change(clock: ZoneInfo, before: int, after: int) -> Offset:
    """Return the one offset that begins after ``before`` and no later than ``after``, to the second."""
    minutes = _minutes(clock, after)
    while after - before > 1000:
        middle = (before + after) // 2000 * 1000
        before, after = (before, middle) if _minutes(clock, middle) == minutes else (middle, after)
    return Offset(after, minutes)


MIN_KNOWN_AHEAD_MS = 2 * 365 * DAY
"""Offsets known for less time than this are looked up again: a match may last as long."""

FORMER_CALENDARS_KEPT_MS = 2 * 365 * DAY
MAX_FORMER_CALENDARS = 100
MIN_BETWEEN_CHANGES_MS = 7 * DAY
"""Free days that could change every day would let a clock stand still without end."""

CORRECTION_WINDOW_MS = HOUR
"""A mistake can be corrected within this time."""


class Sync(NamedTuple):
    """A claimed change of a player's availability; ``forced`` tells whether ``plays_forced`` has changed."""

    claim: Claim
    player: str
    forced: bool


_FORCED = " forced"

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
    former = [calendar for calendar in availability.former if calendar.until > now - FORMER_CALENDARS_KEPT_MS]
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


class AvailabilityStore:
    """The availability of all players; ``syncs`` are the changes that matches have yet to follow, in lanes by player.

    ``now`` is a clock in place of the store's.
    """

    def __init__(self, client: StoreClient, prefix: str, now: Callable[[], int] | None = None) -> None:
        self._client = client
        self._keys = PeopleKeys(prefix)
        self.syncs = WorkList(client, [self._keys.syncs], now)

    def read(self, players: Iterable[str]) -> dict[str, Availability]:
        """Return the availability of each of ``players``, by default that of a player who has set nothing."""
        return read_alone(self._client, self.read_of(players))

    def read_of(self, players: Iterable[str]) -> Read[dict[str, Availability]]:
        """Return the read of the availability of ``players``: see ``read``."""
        wanted = list(dict.fromkeys(players))

        def queue(pipeline: StorePipeline) -> None:
            if wanted:
                pipeline.mget([self._keys.availability(player) for player in wanted])

        return Read(queue, lambda replies: dict(zip(wanted, map(unpack_availability, chain(*replies)), strict=True)))

    def change(self, player: str, change: Change) -> tuple[Availability, str | None]:
        """Replace the availability by the result of ``change``, perhaps called again; return it with the sync's lane.

        Both are stored in one step. The lane is None when nothing has changed.
        """
        key = self._keys.availability(player)

        def attempt(pipeline: StorePipeline) -> tuple[Availability, str | None]:
            before = unpack_availability(pipeline.get(key))
            after = change(before)
            if after == before:
                return after, None
            lane = sync_lane(player, before, after)
            pipeline.multi()
            pipeline.set(key, pack(after))
            self.syncs.add_on(pipeline, lane, player, 0, "", lane=lane, repeats=Repeats.AGAIN)
            return after, lane

        return transact(self._client, [key], attempt)

    def claim_sync(self, lane: str | None = None) -> Sync | None:
        """Claim a change that matches have yet to follow, of ``lane`` or any (None); None when there is none."""
        claim = self.syncs.claim(None if lane is None else [lane])
        return None if claim is None else Sync(claim, claim.owner, claim.lane.endswith(_FORCED))

    def finish_sync(self, sync: Sync) -> None:
        """Record that all matches have followed; a change since it was claimed is to be followed once more."""
        self.syncs.finish(sync.claim)

    def erase(self, player: str) -> None:
        """Erase the availability of ``player`` and changes that wait; matches keep their records."""
        self.syncs.discard(player)
        self._client.delete(self._keys.availability(player))


def sync_lane(player: str, before: Availability, after: Availability) -> str:
    """Return the lane of a change of ``player``."""
    return player if before.plays_forced == after.plays_forced else player + _FORCED


def unpack_availability(packed: bytes | None) -> Availability:
    """Return the availability stored as ``packed``; None: nothing is set."""
    return Availability() if packed is None else unpack(Availability, packed)
