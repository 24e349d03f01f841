"""The timekeeper: when a flag falls, what a late move or a claim meets, and to whom an outage is credited."""

from dataclasses import replace

import pytest

from domain.match.clock import Pause, left
from domain.match.commands import CallTime, Resign, SubmitMove
from domain.match.due import MAX_BEAT_GAP_MS, Outage
from domain.match.enums import FlagRule, PauseReason
from domain.match.events import FlagFell
from domain.match.refusals import CommandError
from domain.match.terms import DAY, HOUR, MINUTE, STANDARD
from tests.support.matches import T0
from tests.support.timekept import THREE_DAYS, MemoryInstallation, booked


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
    match = installation.start(replace(THREE_DAYS, flag=FlagRule.CLAIM))
    installation.beats_until(T0 + 3 * DAY + MINUTE)
    with pytest.raises(CommandError, match="23 hours"):
        installation.execute(match, CallTime(player="bob"), installation.matches.load(match).head.tag)
    assert installation.pauses(match) == (
        Pause(reason=PauseReason.VACATION, seat=0, since=T0 + 3 * DAY, until=T0 + 4 * DAY),
    )


@pytest.mark.parametrize("claimant", ["alice", "mallory"])
def test_a_claim_of_who_cannot_claim_costs_nobody_a_vacation(installation: MemoryInstallation, claimant: str) -> None:
    match = installation.start(replace(THREE_DAYS, flag=FlagRule.CLAIM))
    installation.beats_until(T0 + 3 * DAY + MINUTE)
    with pytest.raises(CommandError):
        installation.execute(match, CallTime(player=claimant))
    assert installation.availability.read(["alice"])["alice"].book == ()
    installation.execute(match, SubmitMove(player="alice", move="d2-c3"))


def test_a_late_player_of_a_match_by_claim_may_still_move(installation: MemoryInstallation) -> None:
    match = installation.start(replace(THREE_DAYS, flag=FlagRule.CLAIM))
    installation.beats_until(T0 + 5 * DAY)
    installation.execute(match, SubmitMove(player="alice", move="d2-c3"))
    assert installation.availability.read(["alice"])["alice"].book == ()


def test_a_match_that_is_over_is_left_alone(installation: MemoryInstallation) -> None:
    match = installation.start()
    installation.do(match, Resign(player="alice"))
    installation.change("alice", booked(T0 + DAY, T0 + 8 * DAY))
    installation.beats_until(T0 + 40 * DAY)
    assert installation.settle(match) == []
