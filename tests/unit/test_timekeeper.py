"""The timekeeper: flags, outages, vacations, calendars and preferences as it brings them into matches."""

from dataclasses import replace

import pytest

from domain.match import vacation
from domain.match.clock import Pause, left
from domain.match.commands import CallTime, OfferDraw, PauseClock, Resign, ResumeClock, SubmitMove
from domain.match.due import MAX_BEAT_GAP_MS, Outage, step_before_turn
from domain.match.enums import Control, FlagRule, PauseReason, Status
from domain.match.events import ClockPaused, ClockResumed, FlagFell
from domain.match.refusals import CommandError
from domain.match.terms import DAY, HOUR, MINUTE, STANDARD
from events.store.codec import event_of
from tests.support.matches import T0
from tests.support.timekept import THREE_DAYS, MemoryInstallation, booked, in_berlin


def test_who_moves_late_on_an_expected_version_hears_that_the_match_is_over(installation: MemoryInstallation) -> None:
    installation.opt_out("alice")
    match = installation.start()
    installation.beats_until(installation.falls(match))
    with pytest.raises(CommandError, match="this match is over"):
        installation.execute(match, SubmitMove(player="alice", move="d2-c3"), installation.matches.load(match).head.tag)


def test_an_outage_is_credited_before_a_flag_falls(installation: MemoryInstallation) -> None:
    installation.opt_out("alice")
    match = installation.start()
    installation.beats_until(T0 + DAY)
    installation.now = T0 + 3 * DAY + HOUR
    installation.execute(match, SubmitMove(player="alice", move="d2-c3"), installation.matches.load(match).head.tag)
    assert installation.state(match).play.moves[-1] == "d2-c3"
    assert installation.pauses(match) == (
        Pause(reason=PauseReason.OUTAGE, seat=None, since=T0 + DAY, until=T0 + 3 * DAY + HOUR),
    )
    assert installation.heartbeat.uncredited() == [Outage(T0 + DAY, T0 + 3 * DAY + HOUR)]


def test_an_outage_is_credited_to_a_seat_that_has_moved_since(installation: MemoryInstallation) -> None:
    installation.opt_out("alice", "bob")
    match = installation.start(STANDARD)
    installation.beats_until(T0 + DAY)
    installation.now = T0 + 2 * DAY
    installation.do(match, SubmitMove(player="alice", move="d2-c3"))
    installation.settle(match)
    clock = installation.state(match).clock
    assert clock is not None
    assert left(clock, 0, installation.now) == 11 * DAY
    installation.beats_until(T0 + 2 * DAY)
    assert [each.type for each in installation.store.read(match)].count("clock-paused") == 1


def test_a_short_silence_is_no_outage(installation: MemoryInstallation) -> None:
    installation.opt_out("alice")
    match = installation.start()
    installation.beats_until(installation.falls(match) - MAX_BEAT_GAP_MS)
    installation.now = installation.falls(match)
    assert isinstance(installation.settle(match)[0], FlagFell)


def test_a_claim_finds_the_automatic_vacation_of_who_has_some_left(installation: MemoryInstallation) -> None:
    match = installation.start(THREE_DAYS._replace(flag=FlagRule.CLAIM))
    installation.beats_until(T0 + 3 * DAY + MINUTE)
    with pytest.raises(CommandError, match="23 hours"):
        installation.execute(match, CallTime(player="bob"), installation.matches.load(match).head.tag)
    assert installation.pauses(match) == (
        Pause(reason=PauseReason.VACATION, seat=0, since=T0 + 3 * DAY, until=T0 + 4 * DAY),
    )


@pytest.mark.parametrize("claimant", ["alice", "mallory"])
def test_a_claim_of_who_cannot_claim_costs_nobody_a_vacation(installation: MemoryInstallation, claimant: str) -> None:
    match = installation.start(THREE_DAYS._replace(flag=FlagRule.CLAIM))
    installation.beats_until(T0 + 3 * DAY + MINUTE)
    with pytest.raises(CommandError):
        installation.execute(match, CallTime(player=claimant))
    assert installation.availability.read(["alice"])["alice"].book == ()
    installation.execute(match, SubmitMove(player="alice", move="d2-c3"))


def test_a_late_player_of_a_match_by_claim_may_still_move(installation: MemoryInstallation) -> None:
    match = installation.start(THREE_DAYS._replace(flag=FlagRule.CLAIM))
    installation.beats_until(T0 + 5 * DAY)
    installation.execute(match, SubmitMove(player="alice", move="d2-c3"))
    assert installation.availability.read(["alice"])["alice"].book == ()


def test_a_match_that_is_over_is_left_alone(installation: MemoryInstallation) -> None:
    match = installation.start()
    installation.do(match, Resign(player="alice"))
    installation.change("alice", booked(T0 + DAY, T0 + 8 * DAY))
    installation.beats_until(T0 + 40 * DAY)
    assert installation.settle(match) == []


def test_a_day_of_automatic_vacation_keeps_a_flag_up(installation: MemoryInstallation) -> None:
    match = installation.start()
    instant = installation.falls(match)
    installation.beats_until(instant)
    assert installation.settle(match) == [
        ClockPaused(at=instant, reason=PauseReason.VACATION, since=instant, seat=0, until=instant + DAY, automatic=True)
    ]
    assert installation.store.read(match)[-1].actor == "clock"
    assert installation.availability.read(["alice"])["alice"].book == (vacation.Vacation(instant, instant + DAY, True),)
    assert installation.falls(match) == instant + DAY
    installation.execute(match, SubmitMove(player="alice", move="d2-c3"))
    assert installation.state(match).status == Status.PLAYING


def test_automatic_vacation_is_taken_day_by_day_until_none_is_left(installation: MemoryInstallation) -> None:
    match = installation.start()
    first = installation.falls(match)
    installation.beats_until(first + 100 * DAY)
    installation.settle(match)
    state = installation.state(match)
    assert state.status == Status.FINISHED
    assert state.result.fallen is not None
    book = installation.availability.read(["alice"])["alice"].book
    assert state.result.fallen.deadline == first + len(book) * DAY
    assert vacation.left(book, 2023) == 0


def test_a_first_move_costs_no_vacation(installation: MemoryInstallation) -> None:
    match = installation.start(moved=False)
    installation.beats_until(installation.falls(match))
    installation.settle(match)
    assert installation.state(match).status == Status.ABORTED
    assert installation.availability.read(["alice"])["alice"].book == ()


def test_where_the_terms_forbid_vacation_none_is_taken(installation: MemoryInstallation) -> None:
    match = installation.start(THREE_DAYS._replace(vacations=False))
    installation.change("alice", booked(T0 + DAY, T0 + 8 * DAY))
    assert installation.pauses(match) == ()
    installation.beats_until(installation.falls(match))
    assert isinstance(installation.settle(match)[0], FlagFell)


def test_two_flags_on_one_day_cost_one_day(installation: MemoryInstallation) -> None:
    first = installation.start()
    installation.now += HOUR
    second = installation.start()
    installation.beats_until(installation.falls(second))
    installation.settle(first)
    installation.settle(second)
    book = installation.availability.read(["alice"])["alice"].book
    assert len(book) == 1
    assert installation.falls(first) == installation.falls(second) - HOUR == book[0].until


def test_a_vacation_stops_the_clocks_of_all_matches_when_it_counts(installation: MemoryInstallation) -> None:
    matches = [installation.start(), installation.start()]
    installation.change("alice", booked(T0 + DAY, T0 + 8 * DAY))
    assert [installation.pauses(match) for match in matches] == [(), ()]
    installation.beats_until(T0 + 3 * DAY)
    for match in matches:
        assert installation.foreseen(match) == T0 + 10 * DAY
        installation.settle(match)
        assert installation.pauses(match) == (
            Pause(reason=PauseReason.VACATION, seat=0, since=T0 + DAY, until=T0 + 8 * DAY),
        )
        assert installation.falls(match) == T0 + 10 * DAY
        assert installation.store.read(match)[-1].actor == "alice"


def test_a_vacation_that_is_cancelled_before_it_begins_is_in_no_event(installation: MemoryInstallation) -> None:
    match = installation.start()
    installation.change("alice", booked(T0 + DAY, T0 + 8 * DAY))
    version = installation.execute(match, OfferDraw(player="alice")).version
    installation.change(
        "alice", lambda own: own._replace(book=vacation.cancelled(own.book, T0 + DAY, installation.now))
    )
    installation.settle(match)
    assert installation.state(match).version == version
    assert "clock-paused" not in [event.type for event in installation.store.read(match)]


def test_who_comes_back_early_plays_on_and_keeps_the_rest(installation: MemoryInstallation) -> None:
    match = installation.start()
    installation.change("alice", booked(T0, T0 + 8 * DAY))
    installation.execute(match, OfferDraw(player="alice"))
    installation.beats_until(T0 + 2 * DAY)
    availability = installation.change(
        "alice", lambda own: own._replace(book=vacation.ended(own.book, installation.now))
    )
    assert installation.falls(match) == T0 + 5 * DAY
    assert vacation.left(availability.book, 2023) == 28 * DAY
    assert isinstance(event_of(installation.store.read(match)[-1]), ClockResumed)


def test_a_cancelled_vacation_leaves_the_others_standing(installation: MemoryInstallation) -> None:
    match = installation.start()
    installation.change("alice", booked(T0, T0 + 2 * DAY))
    installation.change("alice", booked(T0 + 3 * DAY, T0 + 5 * DAY))
    installation.change("alice", booked(T0 + 6 * DAY, T0 + 7 * DAY))
    installation.now += HOUR
    installation.change(
        "alice", lambda own: own._replace(book=vacation.cancelled(own.book, T0 + 3 * DAY, installation.now))
    )
    assert installation.foreseen(match) == T0 + 5 * DAY
    installation.beats_until(T0 + 4 * DAY)
    installation.execute(match, SubmitMove(player="alice", move="d2-c3"))
    installation.execute(match, SubmitMove(player="bob", move="a7-b6"))
    installation.settle(match)
    assert installation.foreseen(match) == T0 + 8 * DAY


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
    match = installation.start(THREE_DAYS._replace(control=Control.BANK, bank=3 * DAY + 2800_000, cap=10 * DAY))
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
    move = SubmitMove(player="alice", move="d2-c3")
    recorded = installation.timekeeper.record_time(loaded, move, installation.now, read_before)
    assert recorded is not None
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
    match = installation.start(THREE_DAYS._replace(weekends=False))
    before = installation.state(match).version
    installation.change("alice", in_berlin(2))
    assert installation.state(match).version == before


def test_a_preference_for_forced_moves_reaches_matches_that_allow_lines(installation: MemoryInstallation) -> None:
    match, without = installation.start(), installation.start(THREE_DAYS._replace(lines=False))
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
