"""Matches that a wrong clock has dated in the future, and what brings them back to the present."""

import pytest

from domain.match.audit import Examination
from domain.match.clock import Pause, left
from domain.match.commands import CorrectTime, OfferDraw, PauseClock, RaiseDispute, Resign, SubmitMove
from domain.match.due import Outage
from domain.match.enums import Ground, PauseReason, Status
from domain.match.events import ClockResumed, TimeCorrected
from domain.match.terms import DAY, HOUR, MAX_OPEN_MS
from events.matches.timekeeper import correct_matches, correct_outages, find_future_outages
from events.store.codec import event_of
from tests.support.matches import T0, creation
from tests.support.timekept import MemoryInstallation

TEN_YEARS = 3653 * DAY


def corrected(installation: MemoryInstallation) -> list[str]:
    """Correct whatever a wrong clock has left behind; return the matches that had to be."""
    correct_outages(installation.heartbeat, installation.now)
    found = correct_matches(installation.store, installation.matches, installation.timekeeper, lambda: installation.now)
    return [each.match for each in found]


def deviations(installation: MemoryInstallation, match_id: str) -> list[str]:
    """Return what an examination of the events of ``match`` finds wrong."""
    examination = Examination(match_id)
    steps = [examination.take(event_of(envelope)) for envelope in installation.store.read(match_id)]
    return [step.deviation for step in steps if step.deviation is not None]


@pytest.fixture
def wrong_year(installation: MemoryInstallation) -> MemoryInstallation:
    """Return an installation in which it was ten years later for a moment: clocks were settled then, and bob moved."""
    installation.opt_out("alice", "bob")
    for _ in range(3):
        installation.start()
    installation.do("m3", Resign(player="alice"))
    installation.beats_until(installation.now + HOUR)
    installation.execute("m1", SubmitMove(player="alice", move="d2-c3"))
    installation.now += TEN_YEARS
    for match in installation.names:
        installation.settle(match)
    installation.execute("m1", SubmitMove(player="bob", move="f6-e5"))
    installation.now += 8000 - TEN_YEARS
    return installation


def test_a_wrong_year_stops_clocks_until_they_are_brought_back(wrong_year: MemoryInstallation) -> None:
    assert wrong_year.state("m1").updated_at == T0 + HOUR + TEN_YEARS
    assert corrected(wrong_year) == ["m1", "m2"]
    for match in ("m1", "m2"):
        state = wrong_year.state(match)
        assert (state.status, state.updated_at) == (Status.PLAYING, wrong_year.now)
        assert wrong_year.now < wrong_year.falls(match) <= wrong_year.now + 3 * DAY
        assert deviations(wrong_year, match) == []
        last = wrong_year.store.read(match)[-1]
        assert (event_of(last), last.actor) == (TimeCorrected(at=wrong_year.now), "console")


def test_a_clock_that_stands_still_for_ten_years_goes_on(installation: MemoryInstallation) -> None:
    match = installation.start()
    since = installation.now
    installation.heartbeat.beat(since + TEN_YEARS, 0)
    installation.now += HOUR
    installation.do(match, PauseClock(reason=PauseReason.OUTAGE, player=None, since=since, until=since + TEN_YEARS))
    assert installation.falls(match) > since + TEN_YEARS
    assert corrected(installation) == [match]
    assert installation.falls(match) == installation.now + 3 * DAY
    assert event_of(installation.store.read(match)[-1]) == ClockResumed(at=installation.now, reason=PauseReason.OUTAGE)
    assert installation.heartbeat.outages() == [Outage(since, installation.now)]
    assert installation.settle(match) == []


def test_a_repair_that_is_made_again_changes_nothing(wrong_year: MemoryInstallation) -> None:
    assert corrected(wrong_year)
    heads = [wrong_year.store.head(match) for match in wrong_year.names]
    assert corrected(wrong_year) == []
    assert [wrong_year.store.head(match) for match in wrong_year.names] == heads


def test_a_repair_that_was_killed_is_completed_by_the_next_one(wrong_year: MemoryInstallation) -> None:
    correct_outages(wrong_year.heartbeat, wrong_year.now)
    found = correct_matches(wrong_year.store, wrong_year.matches, wrong_year.timekeeper, lambda: wrong_year.now)
    assert next(found).match == "m1"
    wrong_year.now += HOUR
    assert corrected(wrong_year) == ["m2"]
    assert find_future_outages(wrong_year.heartbeat, wrong_year.now) == []


def test_play_goes_on_at_the_present_and_costs_time_again(wrong_year: MemoryInstallation) -> None:
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


def test_a_match_that_ended_in_the_future_has_ended_now(installation: MemoryInstallation) -> None:
    match = installation.start()
    installation.now += TEN_YEARS
    installation.settle(match)
    installation.execute(match, Resign(player="alice"))
    installation.now -= TEN_YEARS
    assert corrected(installation) == [match]
    state = installation.state(match)
    assert (state.status, state.result.ended_at, state.updated_at) == (
        Status.FINISHED,
        installation.now,
        installation.now,
    )
    assert deviations(installation, match) == []


def test_a_dispute_raised_in_the_future_holds_the_clock_from_now_on(installation: MemoryInstallation) -> None:
    match = installation.start()
    installation.now += TEN_YEARS
    installation.settle(match)
    installation.execute(match, RaiseDispute(player="alice", ply=0, ground=Ground.CLOCK, statement="0" * 64))
    installation.now -= TEN_YEARS
    assert corrected(installation) == [match]
    state = installation.state(match)
    assert (state.cases.frozen, state.cases.disputes[0].raised_at) == (True, installation.now)
    assert installation.pauses(match)[-1] == Pause(
        reason=PauseReason.DISPUTE, seat=None, since=installation.now, until=None
    )


def test_a_match_that_is_not_dated_in_the_future_is_left_as_it_is(installation: MemoryInstallation) -> None:
    match = installation.start()
    assert installation.do(match, CorrectTime()).events == []


def test_an_outage_that_ends_in_the_future_is_credited_to_no_further_match(installation: MemoryInstallation) -> None:
    installation.opt_out("alice", "bob")
    match = installation.start()
    installation.heartbeat.beat(installation.now + TEN_YEARS, 0)
    deadline = installation.falls(match)
    installation.now = deadline
    installation.settle(match)
    assert installation.state(match).status == Status.FINISHED
    assert PauseReason.OUTAGE not in [pause.reason for pause in installation.pauses(match)]


def test_an_outage_of_over_a_day_is_credited_and_awaits_the_operators_word(installation: MemoryInstallation) -> None:
    match = installation.start()
    since = installation.now
    installation.now += DAY
    installation.settle(match)
    assert installation.heartbeat.provisional() == []
    installation.now += DAY + 1
    installation.settle(match)
    outage = Outage(since + DAY, installation.now)
    assert Pause(reason=PauseReason.OUTAGE, seat=None, since=outage.since, until=outage.until) in installation.pauses(
        match
    )
    assert installation.heartbeat.provisional() == [outage]
    assert installation.heartbeat.confirm(outage)
    assert not installation.heartbeat.confirm(outage)
    assert installation.heartbeat.provisional() == []
    assert outage in installation.heartbeat.outages()


def test_an_open_match_is_not_called_off_on_an_outage_in_doubt(installation: MemoryInstallation) -> None:
    installation.do("open", creation(match_id="open"))
    installation.now += MAX_OPEN_MS
    installation.heartbeat.beat(installation.now, 0)
    installation.settle("open")
    assert installation.state("open").status == Status.OPEN
    for outage in installation.heartbeat.provisional():
        installation.heartbeat.confirm(outage)
    installation.settle("open")
    assert installation.state("open").status == Status.ABORTED
