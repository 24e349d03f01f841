"""Where authority ends: dates and vacations that can be, and honest matches, which are not accused."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from domain.match import commands as c
from domain.match.authority import Authority
from domain.match.enums import PauseReason
from domain.match.state import CLOCK
from domain.match.terms import DAY, HOUR
from events.proof.audit import audit
from events.proof.verification import BEYOND
from tests.golden import stored as golden
from tests.support.bundles import SIGNED_AT, STORIES, after_two_plies, bundle_of, envelopes, flagged, resigned
from tests.support.forging import Forgery, dated, forged
from tests.support.matches import T0, PlayedMatch
from tests.support.verifying import fault, steps


@pytest.mark.parametrize(
    ("forgery", "place", "said"),
    [
        (dated(lambda at: at - T0 - 1000), "version 1", "it is dated 0 ms, which is not after 1970 began"),
        (dated(lambda at: at - 2 * T0), "version 1", "it is dated -1699999999000 ms, which is not after 1970 began"),
        (dated(lambda at: at + DAY), "version 1", "it is dated 82801000 ms after the bundle was signed"),
        (dated(lambda _: SIGNED_AT + 5000, since=6), "version 6", "it is dated 5000 ms after the bundle was signed"),
        (dated(lambda at: at - HOUR, since=4), "version 4", "what was laid down"),
    ],
)
def test_events_are_dated_after_1970_in_order_before_the_signature(forgery: Forgery, place: str, said: str) -> None:
    if said == "what was laid down":
        said = "at: 1700000002000 follows from what was done, and 1699996403000 is recorded"
    found = fault(forged(resigned(), forgery))
    assert (found.place, found.reason) == (place, said)


def test_a_signature_by_a_clock_that_lags_within_bounds_is_dated_like_the_last_event() -> None:
    packed = forged(resigned(), dated(lambda _: SIGNED_AT + 3000, since=6))
    assert steps(packed)["authority"].proved


def vacations(days: int, number: int) -> PlayedMatch:
    """Return a match with ``number`` vacations of White in 2024, each of ``days`` days."""
    match, since = after_two_plies(), 1_704_067_200_000
    for place in range(number):
        begin = since + place * (days + 1) * DAY
        match.do(c.PauseClock(reason=PauseReason.VACATION, player="alice", since=begin, until=begin + days * DAY))
    return match


def test_the_vacations_of_a_year_are_bounded() -> None:
    assert steps(bundle_of(vacations(15, 4)))["authority"].proved
    found = fault(bundle_of(vacations(15, 5)))
    assert (found.place, found.reason) == ("version 10", "seat 0 has 75 days of vacation in 2024")


def test_a_vacation_that_ends_early_gives_its_days_back() -> None:
    match = after_two_plies()
    for _ in range(30):
        match.do(c.PauseClock(reason=PauseReason.VACATION, player="alice", since=match.now, until=match.now + 20 * DAY))
        match.do(c.ResumeClock(reason=PauseReason.VACATION, player="alice"))
    assert steps(bundle_of(match))["authority"].proved


@pytest.mark.parametrize("made", STORIES.values(), ids=list(STORIES))
def test_whatever_happens_in_a_match_somebody_could_do_it(made: Callable[[], PlayedMatch]) -> None:
    match = made()
    found = list(audit(match.name, envelopes(match.events, match.name), authority=Authority(match.name)))
    assert [record.objection for record in found] == [None] * len(match.events)


@pytest.mark.parametrize("path", sorted(golden.DIRECTORY.glob("*.gz")), ids=lambda path: path.name)
def test_golden_matches_are_not_accused(path: Path) -> None:
    match = golden.read(path)[0]
    for record in audit(match.match, golden.envelopes(match), authority=Authority(match.match)):
        assert record.objection is None


def test_in_a_match_that_the_rules_cannot_follow_only_the_clock_drops_a_flag_that_is_not_claimed() -> None:
    stored = envelopes(flagged().events, "m")
    moved = stored[3]._replace(data={**stored[3].data, "move": "a1-a1"})
    flag = stored[5]
    assert (moved.type, flag.type, flag.actor) == ("move-submitted", "flag-fell", CLOCK)
    for actor, objection in ((CLOCK, None), ("bob", f"only the {CLOCK} does this, and bob is recorded as its actor")):
        events = [*stored[:3], moved, stored[4], flag._replace(actor=actor)]
        found = list(audit("m", events, authority=Authority("m")))
        assert found[3].fault is not None
        assert found[5].unauthorized == objection


def test_a_match_that_a_wrong_clock_dated_ahead_verifies_once_the_time_is_corrected() -> None:
    match = after_two_plies()
    match.do(c.OfferDraw(player="alice"), SIGNED_AT + 2 * DAY)
    ahead = forged(match, dated(lambda at: at))
    assert steps(ahead)["authority"].proved
    match.do(c.CorrectTime(), T0 + HOUR)
    match.do(c.DeclineDraw(player="bob"))
    packed = bundle_of(match)
    assert json.loads(packed)["signature"]["signed_at"] == SIGNED_AT + 1000
    assert steps(packed)["authority"].proved
    assert "that the operator corrected a clock that was wrong (version 7)" in steps(packed)[BEYOND].found
