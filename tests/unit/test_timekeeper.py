"""The timekeeper: when a flag falls, what a late move or a claim meets, and to whom an outage is credited."""

from dataclasses import replace

import pytest

from domain.match.clock import Pause, left
from domain.match.commands import CallTime, Resign, SubmitMove
from domain.match.due import MAX_BEAT_GAP_MS, Outage
from domain.match.enums import FlagRule, Limit, PauseReason, Status
from domain.match.events import FlagFell, MatchAborted, MatchFinished
from domain.match.refusals import Refused
from domain.match.terms import DAY, HOUR, MINUTE, STANDARD, UNCLAIMED_FOR
from events.store.contract import EMPTY, StaleVersionError
from tests.support.matches import T0, creation
from tests.support.timekept import THREE_DAYS, House, booked


def test_a_flag_falls_at_its_instant_and_not_a_millisecond_before(house: House) -> None:
    house.opt_out("alice")
    match = house.start()
    instant = house.falls(match)
    assert instant == T0 + 3 * DAY
    house.beats_until(instant - 1)
    assert house.settle(match) == []
    house.beats_until(instant)
    assert house.settle(match) == [
        FlagFell(at=instant, seat=0, deadline=instant, limit=Limit.TIME),
        MatchFinished(at=instant, scores=(0.0, 1.0), reason="flag"),
    ]


def test_a_flag_that_two_settle_at_once_falls_once(house: House) -> None:
    house.opt_out("alice")
    match = house.start()
    other = house.another()
    other.sync(match, house.now)
    house.timekeeper.sync(match, house.now)
    house.beats_until(house.falls(match))
    house.timekeeper.settle(match, house.now)
    other.settle(match, house.now)
    assert [each.type for each in house.store.read(match)].count("flag-fell") == 1


def test_a_late_move_is_refused_and_the_flag_counts(house: House) -> None:
    house.opt_out("alice")
    match = house.start()
    house.beats_until(house.falls(match))
    with pytest.raises(Refused, match="this match is over: flag"):
        house.execute(match, SubmitMove(player="alice", move="d2-c3"))
    assert (house.state(match).status, house.state(match).result.scores) == (Status.FINISHED, (0.0, 1.0))


def test_a_move_in_time_counts_and_no_flag_falls_after_it(house: House) -> None:
    house.opt_out("alice", "bob")
    match = house.start()
    house.beats_until(house.falls(match) - 1)
    house.execute(match, SubmitMove(player="alice", move="d2-c3"))
    house.beats_until(house.now + 1)
    assert house.settle(match) == []
    assert house.falls(match) == house.now - 1 + 3 * DAY


def test_who_moves_late_on_an_expected_version_hears_that_the_match_is_over(house: House) -> None:
    house.opt_out("alice")
    match = house.start()
    house.beats_until(house.falls(match))
    with pytest.raises(Refused, match="this match is over"):
        house.execute(match, SubmitMove(player="alice", move="d2-c3"), house.matches.load(match).head.tag)


def test_a_match_that_nobody_joins_is_called_off(house: House) -> None:
    house.names.append("waiting")
    house.do("waiting", creation(match="waiting"))
    house.beats_until(T0 + 30 * DAY)
    (aborted,) = house.settle("waiting")
    assert isinstance(aborted, MatchAborted)


def test_an_outage_is_credited_before_a_flag_falls(house: House) -> None:
    house.opt_out("alice")
    match = house.start()
    house.beats_until(T0 + DAY)
    house.now = T0 + 3 * DAY + HOUR
    house.execute(match, SubmitMove(player="alice", move="d2-c3"), house.matches.load(match).head.tag)
    assert house.state(match).play.moves[-1] == "d2-c3"
    assert house.pauses(match) == (
        Pause(reason=PauseReason.OUTAGE, seat=None, since=T0 + DAY, until=T0 + 3 * DAY + HOUR),
    )
    assert house.heartbeat.uncredited() == [Outage(T0 + DAY, T0 + 3 * DAY + HOUR)]


def test_an_outage_is_credited_to_a_seat_that_has_moved_since(house: House) -> None:
    house.opt_out("alice", "bob")
    match = house.start(STANDARD)
    house.beats_until(T0 + DAY)
    house.now = T0 + 2 * DAY
    house.do(match, SubmitMove(player="alice", move="d2-c3"))
    house.settle(match)
    clock = house.state(match).clock
    assert clock is not None
    assert left(clock, 0, house.now) == 11 * DAY
    house.beats_until(T0 + 2 * DAY)
    assert [each.type for each in house.store.read(match)].count("clock-paused") == 1


def test_a_short_silence_is_no_outage(house: House) -> None:
    house.opt_out("alice")
    match = house.start()
    house.beats_until(house.falls(match) - MAX_BEAT_GAP_MS)
    house.now = house.falls(match)
    assert isinstance(house.settle(match)[0], FlagFell)


def test_a_flag_by_claim_falls_when_it_is_claimed_and_by_itself_after_long(house: House) -> None:
    house.opt_out("alice")
    terms = replace(THREE_DAYS, flag=FlagRule.CLAIM)
    claimed, unclaimed = house.start(terms), house.start(terms)
    house.beats_until(T0 + 3 * DAY + MINUTE)
    assert house.settle(claimed) == []
    house.execute(claimed, CallTime(player="bob"))
    fallen = house.state(claimed).result.fallen
    assert fallen is not None
    assert (fallen.deadline, fallen.at) == (T0 + 3 * DAY, T0 + 3 * DAY + MINUTE)
    house.beats_until(T0 + 3 * DAY + UNCLAIMED_FOR)
    assert isinstance(house.settle(unclaimed)[0], FlagFell)


def test_a_claim_finds_the_automatic_vacation_of_who_has_some_left(house: House) -> None:
    match = house.start(replace(THREE_DAYS, flag=FlagRule.CLAIM))
    house.beats_until(T0 + 3 * DAY + MINUTE)
    with pytest.raises(Refused, match="23 hours"):
        house.execute(match, CallTime(player="bob"), house.matches.load(match).head.tag)
    assert house.pauses(match) == (Pause(reason=PauseReason.VACATION, seat=0, since=T0 + 3 * DAY, until=T0 + 4 * DAY),)


@pytest.mark.parametrize("claimant", ["alice", "mallory"])
def test_a_claim_of_somebody_who_cannot_claim_costs_nobody_a_vacation(house: House, claimant: str) -> None:
    match = house.start(replace(THREE_DAYS, flag=FlagRule.CLAIM))
    house.beats_until(T0 + 3 * DAY + MINUTE)
    with pytest.raises(Refused):
        house.execute(match, CallTime(player=claimant))
    assert house.availability.read(["alice"])["alice"].book == ()
    house.execute(match, SubmitMove(player="alice", move="d2-c3"))


def test_a_late_player_of_a_match_by_claim_may_still_move(house: House) -> None:
    match = house.start(replace(THREE_DAYS, flag=FlagRule.CLAIM))
    house.beats_until(T0 + 5 * DAY)
    house.execute(match, SubmitMove(player="alice", move="d2-c3"))
    assert house.availability.read(["alice"])["alice"].book == ()


def test_what_is_refused_for_another_reason_is_refused_as_ever(house: House) -> None:
    match = house.start()
    with pytest.raises(Refused, match="not your turn"):
        house.execute(match, SubmitMove(player="bob", move="a7-b6"))
    with pytest.raises(StaleVersionError):
        house.execute(match, SubmitMove(player="alice", move="d2-c3"), EMPTY.tag)


def test_a_match_that_is_over_is_left_alone(house: House) -> None:
    match = house.start()
    house.do(match, Resign(player="alice"))
    house.change("alice", booked(T0 + DAY, T0 + 8 * DAY))
    house.beats_until(T0 + 40 * DAY)
    assert house.settle(match) == []
