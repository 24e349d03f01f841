"""Calendars and preferences as the timekeeper brings them into matches, and what is left to do after a kill."""

from dataclasses import replace

from domain.match import vacation
from domain.match.clock import Pause, left
from domain.match.commands import OfferDraw, PauseClock, ResumeClock, SetCalendar, SubmitMove
from domain.match.enums import Control, PauseReason, Status
from domain.match.events import CalendarSet, ClockPaused
from domain.match.terms import DAY, HOUR, STANDARD
from events.store.codec import event_of
from tests.support.matches import T0
from tests.support.timekept import THREE_DAYS, House, booked, in_berlin

WEDNESDAY = Pause(reason=PauseReason.WEEKEND, seat=0, since=T0 + 2800_000, until=T0 + 2800_000 + DAY)
"""In Berlin; the matches here begin on a Tuesday, shortly before midnight there."""


def test_free_days_are_foreseen_at_once_and_recorded_nowhere(house: House) -> None:
    match = house.start()
    version = house.state(match).version
    house.change("alice", in_berlin(2))
    assert house.foreseen(match) == T0 + 4 * DAY
    house.change("alice", in_berlin())
    assert house.foreseen(match) == T0 + 3 * DAY
    house.change("alice", booked(T0 + DAY, T0 + 8 * DAY))
    assert house.foreseen(match) == T0 + 10 * DAY
    assert (house.state(match).version, house.falls(match)) == (version, T0 + 3 * DAY)


def test_a_free_day_is_recorded_as_a_pause_before_the_flag_falls(house: House) -> None:
    match = house.start()
    house.change("alice", in_berlin(2))
    house.beats_until(T0 + 3 * DAY)
    (event,) = house.settle(match)
    assert event == ClockPaused(
        at=house.now, reason=PauseReason.WEEKEND, since=WEDNESDAY.since, seat=0, until=WEDNESDAY.until
    )
    assert house.store.read(match)[-1].data == {
        "reason": "weekend",
        "since": WEDNESDAY.since,
        "seat": 0,
        "until": WEDNESDAY.until,
    }
    assert house.falls(match) == house.foreseen(match) == T0 + 4 * DAY


def test_a_flag_does_not_fall_at_the_instant_at_which_a_free_day_begins(house: House) -> None:
    house.opt_out("alice")
    match = house.start(replace(THREE_DAYS, control=Control.BANK, bank=3 * DAY + 2800_000, cap=10 * DAY))
    saturday = T0 + 3 * DAY + 2800_000
    assert house.falls(match) == saturday
    house.change("alice", in_berlin(5))
    house.beats_until(saturday)
    house.settle(match)
    assert house.state(match).status == Status.PLAYING
    assert house.falls(match) == saturday + DAY


def test_a_move_costs_no_time_of_a_free_day(house: House) -> None:
    match = house.start(STANDARD)
    house.change("alice", in_berlin(2))
    house.beats_until(T0 + 2 * DAY)
    house.execute(match, SubmitMove(player="alice", move="d2-c3"), house.matches.load(match).head.tag)
    clock = house.state(match).clock
    assert clock is not None
    # Ten days at the start, one more for each of two moves, and of two days one was free.
    assert left(clock, 0, house.now) == 11 * DAY
    assert WEDNESDAY in clock.pauses


def test_free_days_of_those_who_are_not_to_move_are_recorded_by_nothing(house: House) -> None:
    match = house.start()
    house.change("bob", in_berlin(2))
    house.beats_until(T0 + 2 * DAY)
    house.execute(match, SubmitMove(player="alice", move="d2-c3"))
    assert house.pauses(match) == ()


def test_a_calendar_that_is_changed_counts_from_then_on(house: House) -> None:
    match = house.start()
    house.change("alice", in_berlin(2))
    house.beats_until(T0 + DAY // 2)
    house.change("alice", in_berlin(now=house.now))
    half = T0 + DAY // 2 - WEDNESDAY.since
    assert house.foreseen(match) == T0 + 3 * DAY + half
    house.beats_until(T0 + 3 * DAY)
    house.settle(match)
    assert house.falls(match) == T0 + 3 * DAY + half


def test_a_free_day_that_was_recorded_ends_with_the_calendar_that_had_it(house: House) -> None:
    match = house.start()
    house.change("alice", in_berlin(2))
    house.beats_until(T0 + DAY // 2)
    house.execute(match, OfferDraw(player="alice"))
    assert house.pauses(match) == (WEDNESDAY,)
    house.change("alice", in_berlin(now=house.now))
    assert house.pauses(match) == (replace(WEDNESDAY, until=house.now),)
    assert house.falls(match) == house.foreseen(match)


def test_a_calendar_that_changes_all_the_time_makes_no_clock_large(house: House) -> None:
    match = house.start()
    house.beats_until(T0 + HOUR)
    for _ in range(20):
        house.now += 1000
        house.do(
            match, PauseClock(reason=PauseReason.WEEKEND, player="alice", since=WEDNESDAY.since, until=WEDNESDAY.until)
        )
        house.do(match, ResumeClock(reason=PauseReason.WEEKEND, player="alice"))
    assert house.pauses(match) == (replace(WEDNESDAY, until=house.now),)
    assert house.falls(match) == T0 + 3 * DAY + house.now - WEDNESDAY.since


def test_a_match_that_has_recorded_a_calendar_lays_it_down_and_loses_no_free_day(house: House) -> None:
    match = house.start()
    availability = house.change("alice", in_berlin(2))
    house.do(match, SetCalendar(player="alice", calendar=availability.calendar))
    house.beats_until(T0 + DAY // 2)
    house.settle(match)
    assert event_of(house.store.read(match)[-1]) == CalendarSet(at=house.now, seat=0, calendar=None)
    assert house.foreseen(match) == T0 + 4 * DAY
    house.beats_until(T0 + 3 * DAY + DAY // 2)
    house.settle(match)
    assert house.falls(match) == T0 + 4 * DAY


def test_free_days_reach_no_match_whose_terms_do_not_have_them(house: House) -> None:
    match = house.start(replace(THREE_DAYS, weekends=False))
    before = house.state(match).version
    house.change("alice", in_berlin(2))
    assert house.state(match).version == before


def test_a_new_match_knows_the_preference_of_its_players_and_records_nothing_of_their_time(house: House) -> None:
    house.availability.change("bob", in_berlin(5, 6))
    house.availability.change("bob", booked(T0 + DAY, T0 + 2 * DAY))
    house.availability.change("bob", lambda own: own._replace(plays_forced=True))
    match = house.start(moved=False)
    version = house.state(match).version
    house.timekeeper.start(match, house.now)
    assert house.state(match).version == version
    assert [seat for seat, orders in house.matches.load(match).orders.items() if orders.forced] == [1]


def test_a_preference_for_forced_moves_reaches_running_matches_that_allow_lines(house: House) -> None:
    match, without = house.start(), house.start(replace(THREE_DAYS, lines=False))
    house.change("alice", lambda own: own._replace(plays_forced=True))
    assert house.matches.load(match).orders[0].forced
    assert house.matches.load(without).orders == {}
    house.change("alice", lambda own: own._replace(plays_forced=False))
    assert house.matches.load(match).orders == {}


def test_a_change_that_was_killed_midway_is_finished_by_its_mark(house: House) -> None:
    matches = [house.start(), house.start(), house.start()]
    house.change("alice", booked(T0, T0 + 8 * DAY))
    for match in matches:
        house.execute(match, OfferDraw(player="alice"))
    house.beats_until(T0 + DAY)
    _, mark = house.availability.change("alice", lambda own: own._replace(book=vacation.ended(own.book, house.now)))
    house.another().sync(matches[0], house.now)
    versions = [house.state(match).version for match in matches]
    assert house.availability.pending() == [mark]
    assert mark is not None
    house.timekeeper.follow(mark, house.now)
    assert [house.falls(match) for match in matches] == [T0 + 4 * DAY] * 3
    assert [house.state(match).version for match in matches] == [versions[0], versions[1] + 1, versions[2] + 1]
    assert house.availability.pending() == []


def test_a_match_that_cannot_be_replayed_keeps_no_other_from_following(house: House) -> None:
    house.names.append("nothing")
    match = house.start()
    house.change("alice", lambda own: own._replace(plays_forced=True))
    house.names.remove("nothing")
    assert house.matches.load(match).orders[0].forced


def test_offsets_that_are_known_no_longer_are_looked_up_again(house: House) -> None:
    house.change("alice", in_berlin(5, 6))
    before = house.availability.read(["alice"])["alice"]
    house.now = before.known_until - 365 * DAY
    match = house.start()
    house.timekeeper.start(match, house.now)
    after = house.availability.read(["alice"])["alice"]
    assert after.known_until > before.known_until
    assert after.former[-1].calendar == before.calendar
