"""Calendars and preferences as the timekeeper brings them into matches, and what is left to do after a kill."""

from domain.match.clock import VACATION, Pause
from domain.match.events import CalendarSet
from domain.match.terms import DAY
from events.codec import event_of
from tests.support.matches import NOON
from tests.support.timekept import THREE_DAYS, House, booked, in_berlin


def test_free_days_reach_every_match_and_stop_its_clock(house: House) -> None:
    match = house.start()  # a Tuesday evening in Berlin
    house.change("alice", in_berlin(2))
    clock = house.state(match).clock
    assert clock is not None
    assert house.falls(match) == NOON + 4 * DAY
    (last,) = house.store.read(match)[-1:]
    assert isinstance(event_of(last), CalendarSet)
    house.change("alice", in_berlin())
    assert house.falls(match) == NOON + 3 * DAY


def test_free_days_reach_no_match_whose_terms_do_not_have_them(house: House) -> None:
    match = house.start(THREE_DAYS._replace(weekends=False))
    before = house.state(match).version
    house.change("alice", in_berlin(2))
    assert house.state(match).version == before


def test_a_new_match_knows_calendar_vacation_and_preference_from_its_start(house: House) -> None:
    house.diaries.change("bob", in_berlin(5, 6))
    house.diaries.change("bob", booked(NOON + DAY, NOON + 2 * DAY))
    house.diaries.change("bob", lambda diary: diary._replace(plays_forced=True))
    match = house.start(moved=False)
    house.timekeeper.begin(match, house.now)
    clock = house.state(match).clock
    assert clock is not None
    assert clock.calendars[1] is not None
    assert clock.calendars[1].free_days == (5, 6)
    assert clock.pauses == (Pause(VACATION, 1, NOON + DAY, NOON + 2 * DAY),)
    assert [seat for seat, orders in house.matches.load(match).orders.items() if orders.forced] == [1]


def test_a_preference_for_forced_moves_reaches_running_matches_that_allow_lines(house: House) -> None:
    match, without = house.start(), house.start(THREE_DAYS._replace(lines=False))
    house.change("alice", lambda diary: diary._replace(plays_forced=True))
    assert house.matches.load(match).orders[0].forced
    assert house.matches.load(without).orders == {}
    house.change("alice", lambda diary: diary._replace(plays_forced=False))
    assert house.matches.load(match).orders == {}


def test_a_change_that_was_killed_midway_is_finished_by_its_mark(house: House) -> None:
    matches = [house.start(), house.start(), house.start()]
    _, mark = house.diaries.change("alice", booked(NOON + DAY, NOON + 8 * DAY))
    house.another().update(matches[0], house.now)
    versions = [house.state(match).version for match in matches]
    assert house.diaries.marks() == [mark]
    assert mark is not None
    house.timekeeper.follow(mark, house.now)
    assert [house.falls(match) for match in matches] == [NOON + 10 * DAY] * 3
    assert [house.state(match).version for match in matches] == [versions[0], versions[1] + 1, versions[2] + 1]
    assert house.diaries.marks() == []


def test_a_match_that_cannot_be_replayed_keeps_no_other_from_following(house: House) -> None:
    house.names.append("nothing")
    match = house.start()
    house.change("alice", booked(NOON + DAY, NOON + 8 * DAY))
    house.names.remove("nothing")
    assert house.falls(match) == NOON + 10 * DAY


def test_offsets_that_are_known_no_longer_are_looked_up_again(house: House) -> None:
    house.change("alice", in_berlin(5, 6))
    before = house.diaries.read(["alice"])["alice"]
    house.now = before.known_until - 365 * DAY
    match = house.start()
    house.timekeeper.begin(match, house.now)
    after = house.diaries.read(["alice"])["alice"]
    assert after.known_until > before.known_until
    clock = house.state(match).clock
    assert clock is not None
    assert clock.calendars[0] == after.calendar
