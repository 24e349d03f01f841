"""Time zones, and free days of the week in a player's own time, through every kind of change of the clocks."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, strategies as st

from domain.match.calendar import MAX_FREE_DAYS, Calendar, Offset, check, is_free, next_change
from domain.match.clock import Clock, left, move, new_clock, spent, start
from domain.match.refusals import CommandError
from domain.match.terms import DAY, HOUR, MINUTE, days_per_move
from events.people.availability import offsets_of, years_around, zone_names
from tests.support.draws import draws
from tests.support.zones import ZONES, calendar_of, instant, local, set_calendar

YEARS = {zone: (instant(2024, 1, 1), instant(2025, 1, 1)) for zone in ZONES} | {
    "America/Sao_Paulo": (instant(2018, 7, 1), instant(2019, 7, 1)),
    "Pacific/Apia": (instant(2011, 7, 1), instant(2012, 7, 1)),
}
"""For each zone a year in which its clocks were changed."""

WEEKENDS = {zone: calendar_of(zone, (5, 6), *YEARS[zone]) for zone in ZONES}

CHANGES = {
    "Europe/Berlin": 2, "America/New_York": 2, "Australia/Lord_Howe": 2, "America/Sao_Paulo": 2, "Pacific/Apia": 3,
    "Asia/Kathmandu": 0, "UTC": 0,
}  # fmt: skip


@pytest.mark.parametrize("zone", ZONES)
def test_a_day_is_free_by_the_local_calendar_through_every_change_of_the_clocks(zone: str) -> None:
    calendar, (since, until) = WEEKENDS[zone], YEARS[zone]
    assert len(calendar.offsets) - 1 == CHANGES[zone]
    for at in range(since, until, 2 * HOUR):
        assert is_free(calendar, at) == (local(zone, at).weekday() in (5, 6)), local(zone, at)
    for offset in calendar.offsets[1:]:
        for at in range(offset.since - 30 * HOUR, offset.since + 30 * HOUR, 15 * MINUTE):
            assert is_free(calendar, at) == (local(zone, at).weekday() in (5, 6)), local(zone, at)


@pytest.mark.parametrize("zone", ZONES)
def test_between_two_changes_it_is_one_local_day(zone: str) -> None:
    calendar, (since, until) = WEEKENDS[zone], YEARS[zone]
    at = since
    while at < until:
        change = next_change(calendar, at)
        assert at < change <= at + DAY
        assert local(zone, at).date() == local(zone, change - 1).date()
        at = change


@pytest.mark.parametrize("zone", ZONES)
def test_changes_of_the_clocks_cost_and_give_nothing(zone: str) -> None:
    """What runs in a year is exactly what is not free in local time: an hour is an hour, whatever clocks show."""
    since, until = YEARS[zone]
    clock = start(new_clock(days_per_move(120), 2), 0, since)
    assert spent(set_calendar(clock, 0, WEEKENDS[zone]._replace(free_days=()), since), 0, since, until) == until - since
    clock = set_calendar(clock, 0, WEEKENDS[zone], since)
    free = sum(15 * MINUTE for at in range(since, until, 15 * MINUTE) if is_free(WEEKENDS[zone], at))
    assert spent(clock, 0, since, until) == until - since - free
    for offset in WEEKENDS[zone].offsets[1:]:
        noon = offset.since - 12 * HOUR
        assert spent(clock, 0, noon, noon + DAY) + _free(zone, noon, noon + DAY) == DAY


def _free(zone: str, since: int, until: int) -> int:
    return sum(15 * MINUTE for at in range(since, until, 15 * MINUTE) if local(zone, at).weekday() in (5, 6))


@pytest.mark.parametrize(
    ("zone", "free_day", "hours"),
    [
        ("Europe/Berlin", (instant(2024, 3, 30, 23), instant(2024, 3, 31, 22)), 23),
        ("Europe/Berlin", (instant(2024, 10, 26, 22), instant(2024, 10, 27, 23)), 25),
        ("Australia/Lord_Howe", (instant(2024, 4, 6, 13), instant(2024, 4, 7, 13, 30)), 24.5),
        ("America/Sao_Paulo", (instant(2018, 11, 4, 3), instant(2018, 11, 5, 2)), 23),
    ],
)
def test_a_free_sunday_is_as_long_as_it_is_there(zone: str, free_day: tuple[int, int], hours: float) -> None:
    begin, end = free_day
    sundays = WEEKENDS[zone]._replace(free_days=(6,))
    assert (is_free(sundays, begin - 1), is_free(sundays, begin)) == (False, True)
    assert (is_free(sundays, end - 1), is_free(sundays, end)) == (True, False)
    assert end - begin == hours * HOUR


def test_who_skips_a_saturday_that_never_came_has_one_free_day_less() -> None:
    """Apia had no 30 December 2011, a Friday: Thursday was followed by Saturday."""
    calendar = WEEKENDS["Pacific/Apia"]._replace(free_days=(4,))
    week = range(instant(2011, 12, 26, 10), instant(2012, 1, 2, 10), HOUR)
    assert not any(is_free(calendar, at) for at in week)


@given(
    since=st.integers(instant(2023, 1, 1), instant(2026, 1, 1)),
    days=st.integers(1, 20),
    zone=st.sampled_from(ZONES),
    free=st.sets(st.integers(0, 6), max_size=MAX_FREE_DAYS),
)
@draws(60)
def test_what_runs_and_what_is_free_add_up(since: int, days: int, zone: str, free: set[int]) -> None:
    calendar = WEEKENDS[zone]._replace(free_days=tuple(sorted(free)))
    clock = set_calendar(start(new_clock(days_per_move(120), 2), 0, since), 0, calendar, since)
    until = since + days * DAY
    at, standing = since, 0
    while at < until:
        change = min(next_change(calendar, at), until)
        standing += (change - at) * is_free(calendar, at)
        at = change
    assert spent(clock, 0, since, until) == until - since - standing


def fit(free_days: tuple[int, ...] = (), *offsets: Offset) -> Calendar:
    return Calendar(offsets or (Offset(0, 0),), free_days)


@pytest.mark.parametrize(
    ("calendar", "field", "reason"),
    [
        (fit((0, 1, 2, 3)), "free_days", "at most 3 days"),
        (fit((7,)), "free_days", "numbers from 0"),
        (fit((-1,)), "free_days", "numbers from 0"),
        (fit((5, 5)), "free_days", "different"),
        (Calendar((), ()), "time_zone", "not in order"),
        (fit((), Offset(5, 0), Offset(5, 60)), "time_zone", "not in order"),
        (fit((), Offset(6, 0), Offset(5, 60)), "time_zone", "not in order"),
        (fit((), Offset(0, 17 * 60)), "time_zone", "so far from UTC"),
    ],
)
def test_a_calendar_that_cannot_be_is_refused_with_its_place(calendar: Calendar, field: str, reason: str) -> None:
    with pytest.raises(CommandError, match=reason) as refused:
        check(calendar)
    assert (refused.value.code, refused.value.field) == ("invalid-calendar", field)


@pytest.mark.parametrize("zone", ZONES)
def test_calendars_of_real_zones_are_fit(zone: str) -> None:
    calendar = WEEKENDS[zone]
    check(calendar)
    assert {is_free(calendar, at) for at in range(*YEARS[zone], DAY)} == {False, True}


def test_the_first_offset_is_also_valid_before_it() -> None:
    calendar = Calendar((Offset(instant(2024, 1, 1), 600),), (0,))
    assert is_free(calendar, instant(2023, 12, 24, 14))
    assert not is_free(calendar, instant(2023, 12, 24, 13))


def test_the_time_of_a_move_made_in_a_free_day_is_not_charged() -> None:
    saturday = instant(2024, 6, 1, 9)
    clock: Clock = set_calendar(new_clock(days_per_move(2), 2), 0, WEEKENDS["Europe/Berlin"], 0)
    clock = start(clock, 0, saturday)
    assert left(clock, 0, saturday + DAY) == 2 * DAY
    clock = move(clock, 0, 1, saturday + DAY)
    assert left(clock, 1, saturday + DAY + timedelta(hours=3) // timedelta(milliseconds=1)) == 45 * HOUR


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
