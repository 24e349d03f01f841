"""Time zones: the offsets of the pinned package, to the second, as the domain wants them."""

from datetime import UTC, datetime

import pytest

from domain.match.calendar import Calendar, check, is_free, next_change
from domain.match.terms import DAY, HOUR
from events.private.availability import offsets_of, years_around, zone_names


def at(text: str) -> int:
    """Return the instant that an RFC 3339 text names, in milliseconds since 1970 UTC."""
    return int(datetime.fromisoformat(text).timestamp()) * 1000


def test_summer_time_begins_and_ends_at_its_instants() -> None:
    offsets = {offset.since: offset.minutes for offset in offsets_of("Europe/Berlin", 2026)}
    assert offsets[at("2026-03-29T01:00:00+00:00")] == 120
    assert offsets[at("2026-10-25T01:00:00+00:00")] == 60


@pytest.mark.parametrize(("zone", "minutes"), [("UTC", 0), ("Asia/Kathmandu", 345), ("Pacific/Kiritimati", 840)])
def test_a_zone_without_summer_time_has_one_offset(zone: str, minutes: int) -> None:
    (offset,) = offsets_of(zone, 2026)
    assert (offset.since, offset.minutes) == (at("2025-01-01T00:00:00+00:00"), minutes)


def test_offsets_reach_some_years_ahead() -> None:
    since, until = years_around(2026)
    assert (since, until) == (at("2025-01-01T00:00:00+00:00"), at("2032-01-01T00:00:00+00:00"))
    assert offsets_of("Europe/Berlin", 2026)[-1].since == at("2031-10-26T01:00:00+00:00")


@pytest.mark.parametrize("zone", ["Mars/Olympus", "", "../../etc/passwd", "Europe", "europe/berlin"])
def test_a_zone_that_does_not_exist_is_refused(zone: str) -> None:
    with pytest.raises(KeyError):
        offsets_of(zone, 2026)


@pytest.mark.parametrize("zone", ["Africa/Casablanca", "America/St_Johns", "Antarctica/Troll", "Australia/Lord_Howe"])
def test_unusual_zones_make_calendars_that_the_domain_accepts(zone: str) -> None:
    assert zone in zone_names()
    check(Calendar(offsets_of(zone, 2026), (5, 6)))


def test_the_sunday_on_which_the_clocks_go_back_has_25_hours() -> None:
    calendar = Calendar(offsets_of("Europe/Berlin", 2026), (6,))
    begin = at("2026-10-24T22:00:00+00:00")
    assert datetime.fromtimestamp(begin / 1000, UTC).weekday() == 5
    assert not is_free(calendar, begin - 1)
    end = begin
    while is_free(calendar, end):
        end = next_change(calendar, end)
    assert end - begin == DAY + HOUR
