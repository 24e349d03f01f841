"""The people of a simulated year: where they live, when they sleep, how they play, and when they are away."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from random import Random
from typing import NamedTuple
from zoneinfo import ZoneInfo

from domain.match.terms import DAY, HOUR

ZONES = (
    "Europe/Berlin",
    "America/New_York",
    "Australia/Lord_Howe",
    "America/Santiago",
    "Africa/Cairo",
    "America/Havana",
    "Africa/Casablanca",
    "Asia/Kathmandu",
    "Pacific/Auckland",
    "Asia/Tokyo",
    "America/St_Johns",
    "Pacific/Kiritimati",
)
"""Some change their clocks at midnight, one by half an hour, one for Ramadan, and some never."""


class Absence(NamedTuple):
    """Away from ``since`` to ``until`` (milliseconds since 1970 UTC); told the server at ``told``, if at all."""

    since: int
    until: int
    told: int | None


class Person(NamedTuple):
    """Somebody who plays.

    Awake from the hour ``rises`` to the hour ``retires`` (local time), answers ``pace`` milliseconds after a match has
    changed on average, has those ``free_days`` of the week, and gives matches of more than ``stamina`` plies up.
    """

    id: str
    zone: str
    rises: int
    retires: int
    pace: int
    free_days: tuple[int, ...]
    saves_flags: bool
    plays_forced: bool
    stamina: int
    absences: tuple[Absence, ...]

    def up(self, at: int) -> int:
        """Return the first instant from ``at`` on at which the person is awake and not away."""
        while True:
            away = next((absence.until for absence in self.absences if absence.since <= at < absence.until), at)
            awake = self._awake(away)
            if awake == at:
                return at
            at = awake

    def _awake(self, at: int) -> int:
        local = datetime.fromtimestamp(at // 1000, ZoneInfo(self.zone))
        if self.rises <= local.hour < self.retires:
            return at
        morning = local.replace(hour=self.rises, minute=7, second=0)
        if local.hour >= self.retires:
            morning += timedelta(days=1)
        return max(at + HOUR, int(morning.timestamp()) * 1000)

    def works(self, at: int, free_days: Sequence[int]) -> bool:
        """Tell whether it is none of ``free_days`` at ``at`` where the person lives."""
        return datetime.fromtimestamp(at / 1000, ZoneInfo(self.zone)).weekday() not in free_days


def crowd(number: int, begin: int, random: Random) -> list[Person]:
    """Return that many people, drawn from ``random``, with their plans for a year from ``begin`` on."""
    return [_person(f"p{index:03}", begin, random) for index in range(number)]


def _person(id: str, begin: int, random: Random) -> Person:
    rises = random.randint(5, 10)
    free = random.choice([(), (), (), (5, 6), (5, 6), (6,), (4,), (4, 5), (0, 3, 6)])
    return Person(
        id=id,
        zone=random.choice(ZONES),
        rises=rises,
        retires=rises + random.randint(8, 13),
        pace=int(random.choice([2, 5, 9, 20, 30]) * HOUR),
        free_days=free,
        saves_flags=random.random() < 0.7,
        plays_forced=random.random() < 0.3,
        stamina=random.randint(12, 60),
        absences=_absences(begin, random),
    )


def _absences(begin: int, random: Random) -> tuple[Absence, ...]:
    """Return some holidays, a few of them longer than the allowance, and some days of which nobody was told."""
    planned = []
    for _ in range(random.randint(0, 5)):
        since = begin + int(random.random() * 365 * DAY)
        length = int(random.choice([1, 2, 4, 7, 14, 21, 35]) * DAY + random.random() * DAY)
        told = since - int(random.random() * 30 * DAY) if random.random() < 0.6 else None
        planned.append(Absence(since, since + length, told if told is None else max(begin, told)))
    return tuple(sorted(planned, key=lambda absence: absence.since))


def new_year(year: int) -> int:
    """Return the instant at which ``year`` begins, in UTC."""
    return int(datetime(year, 1, 1, tzinfo=UTC).timestamp()) * 1000


def changes_of_clocks(people: Sequence[Person], begin: int, end: int) -> int:
    """Return how often, between two instants, the clocks were changed in a zone where somebody lives."""
    zones = sorted({person.zone for person in people})
    offsets = [[_offset(zone, at) for at in range(begin, end, DAY)] for zone in zones]
    return sum(one != other for days in offsets for one, other in pairwise(days))


def _offset(zone: str, at: int) -> timedelta | None:
    return datetime.fromtimestamp(at // 1000, ZoneInfo(zone)).utcoffset()
