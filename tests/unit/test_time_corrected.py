"""Matches that a wrong clock has dated in the future, and what brings them back to the present."""

import pytest

from domain.match.audit import Examination
from domain.match.clock import Pause, left
from domain.match.commands import CorrectTime, OfferDraw, PauseClock, RaiseDispute, Resign, SubmitMove
from domain.match.due import Outage
from domain.match.enums import Ground, PauseReason, Status
from domain.match.events import ClockResumed, TimeCorrected
from domain.match.terms import DAY, HOUR, OPEN_FOR
from events.service.clock_repair import correct_matches, correct_outages, find_future_outages
from events.store.codec import event_of
from tests.support.matches import T0, creation
from tests.support.timekept import House

TEN_YEARS = 3653 * DAY


def corrected(house: House) -> list[str]:
    """Correct whatever a wrong clock has left behind; return the matches that had to be."""
    correct_outages(house.heartbeat, house.now)
    found = correct_matches(house.store, house.matches, house.timekeeper, lambda: house.now)
    return [each.match for each in found]


def deviations(house: House, match: str) -> list[str]:
    """Return what an examination of the events of ``match`` finds wrong."""
    examination = Examination(match)
    steps = [examination.take(event_of(envelope)) for envelope in house.store.read(match)]
    return [step.deviation for step in steps if step.deviation is not None]


@pytest.fixture
def wrong_year(house: House) -> House:
    """Return a house in which it was ten years later for a moment: all its clocks were settled, and bob moved then."""
    house.opt_out("alice", "bob")
    for _ in range(3):
        house.start()
    house.do("m3", Resign(player="alice"))
    house.beats_until(house.now + HOUR)
    house.execute("m1", SubmitMove(player="alice", move="d2-c3"))
    house.now += TEN_YEARS
    for match in house.names:
        house.settle(match)
    house.execute("m1", SubmitMove(player="bob", move="f6-e5"))
    house.now += 8000 - TEN_YEARS
    return house


def test_a_wrong_year_stops_clocks_until_they_are_brought_back(wrong_year: House) -> None:
    assert wrong_year.state("m1").updated_at == T0 + HOUR + TEN_YEARS
    assert corrected(wrong_year) == ["m1", "m2"]
    for match in ("m1", "m2"):
        state = wrong_year.state(match)
        assert (state.status, state.updated_at) == (Status.PLAYING, wrong_year.now)
        assert wrong_year.now < wrong_year.falls(match) <= wrong_year.now + 3 * DAY
        assert deviations(wrong_year, match) == []
        last = wrong_year.store.read(match)[-1]
        assert (event_of(last), last.actor) == (TimeCorrected(at=wrong_year.now), "console")


def test_a_clock_that_stands_still_for_ten_years_goes_on(house: House) -> None:
    match = house.start()
    since = house.now
    house.heartbeat.beat(since + TEN_YEARS, 0)
    house.now += HOUR
    house.do(match, PauseClock(reason=PauseReason.OUTAGE, player=None, since=since, until=since + TEN_YEARS))
    assert house.falls(match) > since + TEN_YEARS
    assert corrected(house) == [match]
    assert house.falls(match) == house.now + 3 * DAY
    assert event_of(house.store.read(match)[-1]) == ClockResumed(at=house.now, reason=PauseReason.OUTAGE)
    assert house.heartbeat.outages() == [Outage(since, house.now)]
    assert house.settle(match) == []


def test_a_repair_that_is_made_again_changes_nothing(wrong_year: House) -> None:
    assert corrected(wrong_year)
    heads = [wrong_year.store.head(match) for match in wrong_year.names]
    assert corrected(wrong_year) == []
    assert [wrong_year.store.head(match) for match in wrong_year.names] == heads


def test_a_repair_that_was_killed_is_completed_by_the_next_one(wrong_year: House) -> None:
    correct_outages(wrong_year.heartbeat, wrong_year.now)
    found = correct_matches(wrong_year.store, wrong_year.matches, wrong_year.timekeeper, lambda: wrong_year.now)
    assert next(found).match == "m1"
    wrong_year.now += HOUR
    assert corrected(wrong_year) == ["m2"]
    assert find_future_outages(wrong_year.heartbeat, wrong_year.now) == []


def test_play_goes_on_at_the_present_and_costs_time_again(wrong_year: House) -> None:
    corrected(wrong_year)
    since = wrong_year.now
    wrong_year.beats_until(since)
    wrong_year.heartbeat = type(wrong_year.heartbeat)()
    wrong_year.timekeeper = wrong_year.another()
    wrong_year.now += DAY
    clock = wrong_year.state("m1").clock
    assert clock is not None
    assert left(clock, 0, wrong_year.now) == 2 * DAY
    wrong_year.execute("m1", OfferDraw(player="alice"))
    assert wrong_year.state("m1").updated_at == since + DAY
    wrong_year.now = wrong_year.falls("m1")
    wrong_year.settle("m1")
    assert (wrong_year.state("m1").status, wrong_year.now) == (Status.FINISHED, since + 3 * DAY)


def test_a_match_that_ended_in_the_future_has_ended_now(house: House) -> None:
    match = house.start()
    house.now += TEN_YEARS
    house.settle(match)
    house.execute(match, Resign(player="alice"))
    house.now -= TEN_YEARS
    assert corrected(house) == [match]
    state = house.state(match)
    assert (state.status, state.result.ended_at, state.updated_at) == (Status.FINISHED, house.now, house.now)
    assert deviations(house, match) == []


def test_a_dispute_raised_in_the_future_holds_the_clock_from_now_on(house: House) -> None:
    match = house.start()
    house.now += TEN_YEARS
    house.settle(match)
    house.execute(match, RaiseDispute(player="alice", ply=0, ground=Ground.CLOCK, statement="0" * 64))
    house.now -= TEN_YEARS
    assert corrected(house) == [match]
    state = house.state(match)
    assert (state.cases.frozen, state.cases.disputes[0].raised_at) == (True, house.now)
    assert house.pauses(match)[-1] == Pause(reason=PauseReason.DISPUTE, seat=None, since=house.now, until=None)


def test_a_match_that_is_not_dated_in_the_future_is_left_as_it_is(house: House) -> None:
    match = house.start()
    assert house.do(match, CorrectTime()).events == []


def test_an_outage_that_ends_in_the_future_is_credited_to_no_further_match(house: House) -> None:
    house.opt_out("alice", "bob")
    match = house.start()
    house.heartbeat.beat(house.now + TEN_YEARS, 0)
    deadline = house.falls(match)
    house.now = deadline
    house.settle(match)
    assert house.state(match).status == Status.FINISHED
    assert PauseReason.OUTAGE not in [pause.reason for pause in house.pauses(match)]


def test_an_outage_of_more_than_a_day_is_credited_and_waits_for_the_operators_word(house: House) -> None:
    match = house.start()
    since = house.now
    house.now += DAY
    house.settle(match)
    assert house.heartbeat.provisional() == []
    house.now += DAY + 1
    house.settle(match)
    outage = Outage(since + DAY, house.now)
    assert Pause(reason=PauseReason.OUTAGE, seat=None, since=outage.since, until=outage.until) in house.pauses(match)
    assert house.heartbeat.provisional() == [outage]
    assert house.heartbeat.confirm(outage)
    assert not house.heartbeat.confirm(outage)
    assert house.heartbeat.provisional() == []
    assert outage in house.heartbeat.outages()


def test_an_open_match_is_not_called_off_on_the_strength_of_an_outage_in_doubt(house: House) -> None:
    house.do("open", creation(match="open"))
    house.now += OPEN_FOR
    house.heartbeat.beat(house.now, 0)
    house.settle("open")
    assert house.state("open").status == Status.OPEN
    for outage in house.heartbeat.provisional():
        house.heartbeat.confirm(outage)
    house.settle("open")
    assert house.state("open").status == Status.ABORTED
