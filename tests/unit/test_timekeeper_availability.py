"""Calendars and preferences as the timekeeper brings them into matches, and what is left to do after a kill."""

from dataclasses import replace

from domain.match import vacation
from domain.match.clock import Pause, left
from domain.match.commands import OfferDraw, PauseClock, ResumeClock, SubmitMove
from domain.match.due import step_before_turn
from domain.match.enums import Control, PauseReason, Status
from domain.match.events import ClockPaused
from domain.match.terms import DAY, HOUR, STANDARD
from tests.support.matches import T0
from tests.support.timekept import THREE_DAYS, MemoryInstallation, booked, in_berlin

WEDNESDAY = Pause(reason=PauseReason.WEEKEND, seat=0, since=T0 + 2800_000, until=T0 + 2800_000 + DAY)
"""In Berlin; the matches here begin on a Tuesday, shortly before midnight there."""


def test_a_free_day_is_recorded_as_a_pause_before_the_flag_falls(installation: MemoryInstallation) -> None:
    match = installation.start()
    installation.change("alice", in_berlin(2))
    installation.beats_until(T0 + 3 * DAY)
    (event,) = installation.settle(match)
    assert event == ClockPaused(
        at=installation.now, reason=PauseReason.WEEKEND, since=WEDNESDAY.since, seat=0, until=WEDNESDAY.until
    )
    assert installation.store.read(match)[-1].data == {
        "reason": "weekend",
        "since": WEDNESDAY.since,
        "seat": 0,
        "until": WEDNESDAY.until,
    }
    assert installation.falls(match) == installation.foreseen(match) == T0 + 4 * DAY


def test_a_flag_does_not_fall_at_the_instant_at_which_a_free_day_begins(installation: MemoryInstallation) -> None:
    installation.opt_out("alice")
    match = installation.start(replace(THREE_DAYS, control=Control.BANK, bank=3 * DAY + 2800_000, cap=10 * DAY))
    saturday = T0 + 3 * DAY + 2800_000
    assert installation.falls(match) == saturday
    installation.change("alice", in_berlin(5))
    installation.beats_until(saturday)
    installation.settle(match)
    assert installation.state(match).status == Status.PLAYING
    assert installation.falls(match) == saturday + DAY


def test_a_move_costs_no_time_of_a_free_day(installation: MemoryInstallation) -> None:
    match = installation.start(STANDARD)
    installation.change("alice", in_berlin(2))
    installation.beats_until(T0 + 2 * DAY)
    installation.execute(match, SubmitMove(player="alice", move="d2-c3"), installation.matches.load(match).head.tag)
    clock = installation.state(match).clock
    assert clock is not None
    # Ten days at the start, one more for each of two moves, and of two days one was free.
    assert left(clock, 0, installation.now) == 11 * DAY
    assert WEDNESDAY in clock.pauses


def test_a_vacation_that_was_cancelled_after_it_was_read_is_not_recorded(installation: MemoryInstallation) -> None:
    match = installation.start(STANDARD)
    installation.change("alice", booked(T0 + DAY, T0 + 8 * DAY))
    read_before = installation.availability.read(["alice"])
    installation.change("alice", lambda own: own._replace(book=()))
    installation.beats_until(T0 + 2 * DAY)
    loaded = installation.matches.load(match)
    assert step_before_turn(loaded.state, read_before, installation.now) is not None
    recorded = installation.timekeeper.record_turn(loaded, installation.now, read_before)
    assert recorded.head == loaded.head


def test_free_days_of_those_who_are_not_to_move_are_recorded_by_nothing(installation: MemoryInstallation) -> None:
    match = installation.start()
    installation.change("bob", in_berlin(2))
    installation.beats_until(T0 + 2 * DAY)
    installation.execute(match, SubmitMove(player="alice", move="d2-c3"))
    assert installation.pauses(match) == ()


def test_a_calendar_that_is_changed_counts_from_then_on(installation: MemoryInstallation) -> None:
    match = installation.start()
    installation.change("alice", in_berlin(2))
    installation.beats_until(T0 + DAY // 2)
    installation.change("alice", in_berlin(now=installation.now))
    half = T0 + DAY // 2 - WEDNESDAY.since
    assert installation.foreseen(match) == T0 + 3 * DAY + half
    installation.beats_until(T0 + 3 * DAY)
    installation.settle(match)
    assert installation.falls(match) == T0 + 3 * DAY + half


def test_a_free_day_that_was_recorded_ends_with_the_calendar_that_had_it(installation: MemoryInstallation) -> None:
    match = installation.start()
    installation.change("alice", in_berlin(2))
    installation.beats_until(T0 + DAY // 2)
    installation.execute(match, OfferDraw(player="alice"))
    assert installation.pauses(match) == (WEDNESDAY,)
    installation.change("alice", in_berlin(now=installation.now))
    assert installation.pauses(match) == (replace(WEDNESDAY, until=installation.now),)
    assert installation.falls(match) == installation.foreseen(match)


def test_a_calendar_that_changes_all_the_time_makes_no_clock_large(installation: MemoryInstallation) -> None:
    match = installation.start()
    installation.beats_until(T0 + HOUR)
    for _ in range(20):
        installation.now += 1000
        installation.do(
            match, PauseClock(reason=PauseReason.WEEKEND, player="alice", since=WEDNESDAY.since, until=WEDNESDAY.until)
        )
        installation.do(match, ResumeClock(reason=PauseReason.WEEKEND, player="alice"))
    assert installation.pauses(match) == (replace(WEDNESDAY, until=installation.now),)
    assert installation.falls(match) == T0 + 3 * DAY + installation.now - WEDNESDAY.since


def test_free_days_reach_no_match_whose_terms_do_not_have_them(installation: MemoryInstallation) -> None:
    match = installation.start(replace(THREE_DAYS, weekends=False))
    before = installation.state(match).version
    installation.change("alice", in_berlin(2))
    assert installation.state(match).version == before


def test_a_preference_for_forced_moves_reaches_matches_that_allow_lines(installation: MemoryInstallation) -> None:
    match, without = installation.start(), installation.start(replace(THREE_DAYS, lines=False))
    installation.change("alice", lambda own: own._replace(plays_forced=True))
    assert installation.matches.load(match).orders[0].forced
    assert installation.matches.load(without).orders == {}
    installation.change("alice", lambda own: own._replace(plays_forced=False))
    assert installation.matches.load(match).orders == {}


def test_a_change_that_was_killed_midway_is_finished_by_its_mark(installation: MemoryInstallation) -> None:
    matches = [installation.start(), installation.start(), installation.start()]
    installation.change("alice", booked(T0, T0 + 8 * DAY))
    for match in matches:
        installation.execute(match, OfferDraw(player="alice"))
    installation.beats_until(T0 + DAY)
    installation.availability.change("alice", lambda own: own._replace(book=vacation.ended(own.book, installation.now)))
    installation.another().sync(matches[0], installation.now)
    versions = [installation.state(match).version for match in matches]
    assert installation.availability.pending() == ["alice"]
    installation.timekeeper.follow_changes(installation.now)
    assert [installation.falls(match) for match in matches] == [T0 + 4 * DAY] * 3
    assert [installation.state(match).version for match in matches] == [versions[0], versions[1] + 1, versions[2] + 1]
    assert installation.availability.pending() == []


def test_a_match_that_cannot_be_replayed_keeps_no_other_from_following(installation: MemoryInstallation) -> None:
    installation.names.append("nothing")
    match = installation.start()
    installation.change("alice", lambda own: own._replace(plays_forced=True))
    installation.names.remove("nothing")
    assert installation.matches.load(match).orders[0].forced


def test_offsets_that_are_known_no_longer_are_looked_up_again(installation: MemoryInstallation) -> None:
    installation.change("alice", in_berlin(5, 6))
    before = installation.availability.read(["alice"])["alice"]
    installation.now = before.known_until - 365 * DAY
    match = installation.start()
    installation.timekeeper.start(match, installation.now)
    after = installation.availability.read(["alice"])["alice"]
    assert after.known_until > before.known_until
    assert after.former[-1].calendar == before.calendar
