"""The people of a simulated year: where they live, when they sleep, how they play, when they are absent."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from random import Random
from typing import NamedTuple
from zoneinfo import ZoneInfo

from domain.match.terms import DAY, HOUR

ZONES = (
    "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Santiago", "Africa/Cairo", "America/Havana",
    "Africa/Casablanca", "Asia/Kathmandu", "Pacific/Auckland", "Asia/Tokyo", "America/St_Johns", "Pacific/Kiritimati",
)  # fmt: skip
"""Some change to daylight saving time at midnight, one by half an hour, one for Ramadan, some never."""


class Absence(NamedTuple):
    """An absence (instants in milliseconds since 1970 UTC), announced to the server as a vacation or not at all."""

    since: int
    until: int
    announced_at: int | None


class Person(NamedTuple):
    """A player.

    Awake from the hour ``wakes_at`` to the hour ``sleeps_at`` (local time), reacts to a change of a match after
    ``pace`` milliseconds on average, and tends to resign matches of more than ``stamina`` plies.
    """

    id: str
    zone: str
    wakes_at: int
    sleeps_at: int
    pace: int
    free_days: tuple[int, ...]
    saves_flags: bool
    plays_forced: bool
    stamina: int
    absences: tuple[Absence, ...]

    def next_active(self, at: int) -> int:
        """Return the first instant from ``at`` on at which the person is awake and present."""
        while True:
            away = next((absence.until for absence in self.absences if absence.since <= at < absence.until), at)
            awake = self._awake(away)
            if awake == at:
                return at
            at = awake

    def _awake(self, at: int) -> int:
        local = datetime.fromtimestamp(at // 1000, ZoneInfo(self.zone))
        if self.wakes_at <= local.hour < self.sleeps_at:
            return at
        morning = local.replace(hour=self.wakes_at, minute=7, second=0)
        if local.hour >= self.sleeps_at:
            morning += timedelta(days=1)
        return max(at + HOUR, int(morning.timestamp()) * 1000)

    def is_workday(self, at: int, free_days: Sequence[int]) -> bool:
        """Return whether ``at`` is outside ``free_days`` where the person lives."""
        return datetime.fromtimestamp(at / 1000, ZoneInfo(self.zone)).weekday() not in free_days


def make_people(number: int, begin: int, random: Random) -> list[Person]:
    """Return ``number`` random people with their plans for the year that starts at ``begin``."""
    return [_person(f"p{index:03}", begin, random) for index in range(number)]


def _person(id: str, begin: int, random: Random) -> Person:
    wakes_at = random.randint(5, 10)
    free = random.choice([(), (), (), (5, 6), (5, 6), (6,), (4,), (4, 5), (0, 3, 6)])
    return Person(
        id=id, zone=random.choice(ZONES), wakes_at=wakes_at, sleeps_at=wakes_at + random.randint(8, 13),
        pace=int(random.choice([2, 5, 9, 20, 30]) * HOUR), free_days=free, saves_flags=random.random() < 0.7,
        plays_forced=random.random() < 0.3, stamina=random.randint(12, 60), absences=_absences(begin, random),
    )  # fmt: skip


def _absences(begin: int, random: Random) -> tuple[Absence, ...]:
    """Return some absences: announced ones, of which a few exceed the allowance, and unannounced ones."""
    planned = []
    for _ in range(random.randint(0, 5)):
        since = begin + int(random.random() * 365 * DAY)
        length = int(random.choice([1, 2, 4, 7, 14, 21, 35]) * DAY + random.random() * DAY)
        announced_at = since - int(random.random() * 30 * DAY) if random.random() < 0.6 else None
        planned.append(
            Absence(since, since + length, announced_at if announced_at is None else max(begin, announced_at))
        )
    return tuple(sorted(planned, key=lambda absence: absence.since))


def year_start(year: int) -> int:
    """Return the instant at which ``year`` starts, in UTC."""
    return int(datetime(year, 1, 1, tzinfo=UTC).timestamp()) * 1000


def count_dst_changes(people: Sequence[Person], begin: int, end: int) -> int:
    """Return the number of changes of the UTC offset, between two instants, in the zones of ``people``."""
    zones = sorted({person.zone for person in people})
    offsets = [[_offset(zone, at) for at in range(begin, end, DAY)] for zone in zones]
    return sum(before != after for days in offsets for before, after in pairwise(days))


def _offset(zone: str, at: int) -> timedelta | None:
    return datetime.fromtimestamp(at // 1000, ZoneInfo(zone)).utcoffset()
