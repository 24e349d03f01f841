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
from tests.support.timekept import THREE_DAYS, MemoryInstallation, booked


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
    match = installation.start(replace(THREE_DAYS, vacations=False))
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
