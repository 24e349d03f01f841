"""Vacations, taken or automatic, as the timekeeper brings them into matches."""

from dataclasses import replace

from domain.match import vacation
from domain.match.clock import Pause
from domain.match.commands import OfferDraw, SubmitMove
from domain.match.enums import PauseReason, Status
from domain.match.events import ClockPaused, ClockResumed, FlagFell
from domain.match.terms import DAY, HOUR
from events.store.codec import event_of
from tests.support.matches import T0
from tests.support.timekept import THREE_DAYS, House, booked


def test_a_day_of_automatic_vacation_keeps_a_flag_up(house: House) -> None:
    match = house.start()
    instant = house.falls(match)
    house.beats_until(instant)
    assert house.settle(match) == [
        ClockPaused(at=instant, reason=PauseReason.VACATION, since=instant, seat=0, until=instant + DAY, automatic=True)
    ]
    assert house.availability.read(["alice"])["alice"].book == (vacation.Vacation(instant, instant + DAY, True),)
    assert house.falls(match) == instant + DAY
    house.execute(match, SubmitMove(player="alice", move="d2-c3"))
    assert house.state(match).status == Status.PLAYING


def test_automatic_vacation_is_recorded_as_the_deed_of_the_clock(house: House) -> None:
    match = house.start()
    house.beats_until(house.falls(match))
    house.settle(match)
    assert house.store.read(match)[-1].actor == "clock"


def test_a_late_move_during_automatic_vacation_that_nobody_had_recorded_yet_counts(house: House) -> None:
    match = house.start()
    house.beats_until(house.falls(match) + HOUR)
    house.execute(match, SubmitMove(player="alice", move="d2-c3"), house.matches.load(match).head.tag)
    assert house.state(match).play.moves[-1] == "d2-c3"
    assert len(house.availability.read(["alice"])["alice"].book) == 1


def test_when_no_vacation_is_left_the_flag_falls(house: House) -> None:
    match = house.start()
    house.availability.change("alice", booked(T0 - 31 * DAY, T0 - DAY))
    instant = house.falls(match)
    house.beats_until(instant)
    assert isinstance(house.settle(match)[0], FlagFell)


def test_automatic_vacation_is_taken_day_by_day_until_none_is_left(house: House) -> None:
    match = house.start()
    first = house.falls(match)
    house.beats_until(first + 100 * DAY)
    house.settle(match)
    state = house.state(match)
    assert state.status == Status.FINISHED
    assert state.result.fallen is not None
    book = house.availability.read(["alice"])["alice"].book
    assert state.result.fallen.deadline == first + len(book) * DAY
    assert vacation.left(book, 2023) == 0


def test_a_first_move_costs_no_vacation(house: House) -> None:
    match = house.start(moved=False)
    house.beats_until(house.falls(match))
    house.settle(match)
    assert house.state(match).status == Status.ABORTED
    assert house.availability.read(["alice"])["alice"].book == ()


def test_where_the_terms_forbid_vacation_none_is_taken(house: House) -> None:
    match = house.start(replace(THREE_DAYS, vacations=False))
    house.change("alice", booked(T0 + DAY, T0 + 8 * DAY))
    assert house.pauses(match) == ()
    house.beats_until(house.falls(match))
    assert isinstance(house.settle(match)[0], FlagFell)


def test_two_flags_on_one_day_cost_one_day(house: House) -> None:
    first = house.start()
    house.now += HOUR
    second = house.start()
    house.beats_until(house.falls(second))
    house.settle(first)
    house.settle(second)
    book = house.availability.read(["alice"])["alice"].book
    assert len(book) == 1
    assert house.falls(first) == house.falls(second) - HOUR == book[0].until


def test_a_vacation_in_the_availability_that_its_taker_could_not_finish_counts(house: House) -> None:
    match = house.start()
    house.availability.change("alice", booked(T0 + DAY, T0 + 8 * DAY))
    house.beats_until(T0 + 4 * DAY)
    house.execute(match, SubmitMove(player="alice", move="d2-c3"))
    clock = house.state(match).clock
    assert clock is not None
    assert clock.pauses == (Pause(reason=PauseReason.VACATION, seat=0, since=T0 + DAY, until=T0 + 8 * DAY),)


def test_a_vacation_stops_the_clocks_of_all_matches_and_is_recorded_when_it_counts(house: House) -> None:
    matches = [house.start(), house.start()]
    house.change("alice", booked(T0 + DAY, T0 + 8 * DAY))
    assert [house.pauses(match) for match in matches] == [(), ()]
    house.beats_until(T0 + 3 * DAY)
    for match in matches:
        assert house.foreseen(match) == T0 + 10 * DAY
        house.settle(match)
        assert house.pauses(match) == (Pause(reason=PauseReason.VACATION, seat=0, since=T0 + DAY, until=T0 + 8 * DAY),)
        assert house.falls(match) == T0 + 10 * DAY
        assert house.store.read(match)[-1].actor == "alice"


def test_a_vacation_that_is_cancelled_before_it_begins_is_in_no_event(house: House) -> None:
    match = house.start()
    house.change("alice", booked(T0 + DAY, T0 + 8 * DAY))
    version = house.execute(match, OfferDraw(player="alice")).version
    house.change("alice", lambda own: own._replace(book=vacation.cancelled(own.book, T0 + DAY, house.now)))
    house.settle(match)
    assert house.state(match).version == version
    assert "clock-paused" not in [event.type for event in house.store.read(match)]


def test_who_comes_back_early_plays_on_and_keeps_the_rest(house: House) -> None:
    match = house.start()
    house.change("alice", booked(T0, T0 + 8 * DAY))
    house.execute(match, OfferDraw(player="alice"))
    house.beats_until(T0 + 2 * DAY)
    availability = house.change("alice", lambda own: own._replace(book=vacation.ended(own.book, house.now)))
    assert house.falls(match) == T0 + 5 * DAY
    assert vacation.left(availability.book, 2023) == 28 * DAY
    assert isinstance(event_of(house.store.read(match)[-1]), ClockResumed)


def test_a_cancelled_vacation_leaves_the_others_standing(house: House) -> None:
    match = house.start()
    house.change("alice", booked(T0, T0 + 2 * DAY))
    house.change("alice", booked(T0 + 3 * DAY, T0 + 5 * DAY))
    house.change("alice", booked(T0 + 6 * DAY, T0 + 7 * DAY))
    house.now += HOUR
    house.change("alice", lambda own: own._replace(book=vacation.cancelled(own.book, T0 + 3 * DAY, house.now)))
    assert house.foreseen(match) == T0 + 5 * DAY
    house.beats_until(T0 + 4 * DAY)
    house.execute(match, SubmitMove(player="alice", move="d2-c3"))
    house.execute(match, SubmitMove(player="bob", move="a7-b6"))
    house.settle(match)
    assert house.foreseen(match) == T0 + 8 * DAY
