"""Who did what: a bundle signed with the server's own key is refused where its events cannot have come about."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from domain.match import commands as c
from domain.match.authority import Authority
from domain.match.enums import Ground, PauseReason, RulingKind
from domain.match.event_types import TYPES
from domain.match.lines import ConditionalMoves, Line, laid_down
from domain.match.state import CLOCK, Seat
from domain.match.terms import DAY, HOUR, STANDARD
from events.proof.audit import audit
from events.proof.verification import BEYOND
from tests.golden import stored as golden
from tests.support.bundles import (
    SIGNED_AT,
    STORIES,
    after_two_plies,
    bundle_of,
    disputed,
    envelopes,
    flagged,
    resigned,
    ruled,
)
from tests.support.forging import Forgery, dated, forged, read_forgery, saying
from tests.support.matches import T0, PlayedMatch, creation, started
from tests.support.tables import named_cases, table
from tests.support.verifying import fault, steps

WORDS = "0" * 64


def opened() -> PlayedMatch:
    return PlayedMatch()


def offered() -> PlayedMatch:
    match = after_two_plies()
    match.do(c.OfferDraw(player="alice"))
    return match


def drawn() -> PlayedMatch:
    match = offered()
    match.do(c.AcceptDraw(player="bob"))
    return match


def asked_to_take_back() -> PlayedMatch:
    match = started(STANDARD._replace(takebacks=True))
    match.move("alice", "c3-d4")
    match.move("bob", "b6-a5")
    match.do(c.RequestTakeback(player="bob"))
    return match


def on_vacation() -> PlayedMatch:
    """Return a match in which White takes a vacation and comes back early."""
    match = after_two_plies()
    match.do(c.PauseClock(reason=PauseReason.VACATION, player="alice", since=match.now, until=match.now + 5 * DAY))
    match.do(c.ResumeClock(reason=PauseReason.VACATION, player="alice"), match.now + DAY)
    return match


def away() -> PlayedMatch:
    """Return a match that the server was away from, as clocks that are a little apart record it."""
    match = after_two_plies()
    match.do(c.PauseClock(reason=PauseReason.OUTAGE, player=None, since=T0, until=match.now + 60_000))
    return match


def given() -> PlayedMatch:
    match = after_two_plies()
    match.do(c.GiveTime(player="bob", seat=0, time=HOUR))
    return match


def claimed() -> PlayedMatch:
    """Return a match in which Black has claimed that White's time is up."""
    match = after_two_plies()
    match.do(c.CallTime(player="bob"), match.now + 30 * DAY)
    return match


def open_case() -> PlayedMatch:
    """Return a match with a case in which White has said its part, that an arbiter froze and let go on."""
    match = after_two_plies()
    match.do(c.RaiseDispute(player="bob", ply=2, ground=Ground.CONDUCT, statement=WORDS))
    match.do(c.FileStatement(player="alice", statement=WORDS))
    match.do(c.Freeze(arbiter="ann", frozen=True))
    match.do(c.Freeze(arbiter="ann", frozen=False))
    return match


def appealed() -> PlayedMatch:
    """Return a match whose ruling by ann was appealed and upheld by ben, and that ben has reopened."""
    match = ruled(after_two_plies(), c.Rule(arbiter="ann", ruling=RulingKind.LET_STAND, reason=WORDS, rule=WORDS))
    match.do(c.Appeal(player="bob", statement=WORDS))
    match.do(c.Rule(arbiter="ben", ruling=RulingKind.LET_STAND, reason=WORDS, rule=WORDS))
    match.do(c.ReopenCase(person="ben", dispute=1, statement=WORDS))
    return match


def adjusted() -> PlayedMatch:
    """Return a match whose clocks an arbiter has set."""
    return ruled(
        after_two_plies(),
        c.Rule(arbiter="ann", ruling=RulingKind.ADJUST_CLOCKS, reason=WORDS, rule=WORDS, remaining=(DAY, DAY)),
    )


def declined() -> PlayedMatch:
    """Return a match in which Black did not agree to another ruleset."""
    match = after_two_plies()
    match.do(c.ProposeRuleset(arbiter="ann", ruleset=2, reason=WORDS))
    match.do(c.DeclineRuleset(player="bob"))
    return match


def laid_down_by_black() -> PlayedMatch:
    match = started()
    lines = [Line(move="c3-d4", then=None, next=(Line(move="b6-a5"),))]
    match.orders[1] = laid_down(match.state, "bob", ConditionalMoves(), lines, None, match.now)
    match.move("alice", "c3-d4")
    return match


def invited() -> PlayedMatch:
    return PlayedMatch(creation(Seat.taken("alice"), Seat.invited("bob")))


MATCHES = STORIES | {
    made.__name__.replace("_", "-"): made
    for made in (
        adjusted, after_two_plies, appealed, asked_to_take_back, away, claimed, declined, drawn, given, invited,
        laid_down_by_black, offered, on_vacation, open_case, opened, started,
    )
}  # fmt: skip


def test_every_type_of_event_has_a_forged_case() -> None:
    assert {row[1] for row in table(__file__, "forged events")} == TYPES.keys()


@pytest.mark.parametrize(("kind", "made", "forgeries", "version", "said"), named_cases(__file__, "forged events"))
def test_impossible_acts_refused(kind: str, made: str, forgeries: list[list[Any]], version: int, said: str) -> None:
    assert steps(bundle_of(MATCHES[made]()))["authority"].proved
    found = fault(forged(MATCHES[made](), *(read_forgery(*row) for row in forgeries)))
    assert (found.place, found.reason[: len(said)]) == (f"version {version}", said)


def test_what_was_laid_down_is_done_at_once_and_only_where_the_terms_allow_it() -> None:
    assert steps(bundle_of(laid_down_by_black()))["authority"].proved
    later = fault(forged(laid_down_by_black(), dated(lambda at: at + 1, since=5)))
    assert later.reason.startswith("what was laid down is done together with the event in front of it")
    off = {**STANDARD._asdict(), "lines": False}
    refused = fault(forged(laid_down_by_black(), saying(1, terms={k: v for k, v in off.items() if v is not None})))
    assert (refused.place, refused.reason) == (
        "version 5",
        "bob could not do this: the terms of this match do not allow conditional lines or forced moves",
    )


def test_what_no_event_shows_is_said_and_not_proved() -> None:
    assert BEYOND not in steps(bundle_of(resigned()))
    assert steps(bundle_of(disputed()))[BEYOND].finding == (
        "the server alone vouches for this: that ann was an arbiter (version 7)"
    )
    assert steps(bundle_of(laid_down_by_black()))[BEYOND].finding.endswith(
        "that the players had laid down what was done for them (version 5)"
    )
    found = steps(bundle_of(on_vacation()))[BEYOND]
    assert (found.finding[-46:], found.proved) == ("in the availability of the players (version 6)", False)


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
    assert "that the operator corrected a clock that was wrong (version 7)" in steps(packed)[BEYOND].finding
