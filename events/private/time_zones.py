"""Time zones of the pinned tzdata package, whatever the machine has: all processes know the same offsets."""

from datetime import UTC, datetime
from functools import lru_cache
from importlib.resources import files
from zoneinfo import ZoneInfo

from domain.match.calendar import Offset
from domain.match.terms import DAY

YEARS_BEHIND = 1
YEARS_AHEAD = 5


@lru_cache(maxsize=1)
def zone_names() -> frozenset[str]:
    """Return the names of all time zones (IANA)."""
    return frozenset(files("tzdata").joinpath("zones").read_text(encoding="ascii").split())


def years_around(year: int) -> tuple[int, int]:
    """Return the instants from which on and until which offsets are known in ``year``."""
    first, last = (datetime(each, 1, 1, tzinfo=UTC) for each in (year - YEARS_BEHIND, year + YEARS_AHEAD + 1))
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
