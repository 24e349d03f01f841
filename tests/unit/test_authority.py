"""Who did what: a bundle signed with the server's own key is refused where its events cannot have come about."""

from dataclasses import asdict, replace
from typing import Any

import pytest

from domain.match import commands as c
from domain.match.enums import Ground, PauseReason, RulingKind
from domain.match.event_types import TYPES
from domain.match.lines import ConditionalMoves, Line, laid_down
from domain.match.state import Seat
from domain.match.terms import DAY, HOUR, STANDARD
from events.proof.verification import BEYOND
from tests.support.bundles import (
    STORIES,
    after_two_plies,
    bundle_of,
    disputed,
    resigned,
    ruled,
)
from tests.support.forging import dated, forged, read_forgery, saying
from tests.support.matches import T0, PlayedMatch, creation, started
from tests.support.tables import named_cases, table
from tests.support.verifying import fault, steps

WORDS = "0" * 64


def opened() -> PlayedMatch:
    """Return a match whose second seat is open."""
    return PlayedMatch()


def offered() -> PlayedMatch:
    match = after_two_plies()
    match.do(c.OfferDraw(player="alice"))
    return match


def drawn() -> PlayedMatch:
    """Return a match that ended in an agreed draw."""
    match = offered()
    match.do(c.AcceptDraw(player="bob"))
    return match


def asked_to_take_back() -> PlayedMatch:
    """Return a match in which Black asks to take the last move back."""
    match = started(replace(STANDARD, takebacks=True))
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
    """Return a match in which Black has given White an hour."""
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
    """Return a match in which a move that Black had laid down was played."""
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
    off = {**asdict(STANDARD), "lines": False}
    refused = fault(forged(laid_down_by_black(), saying(1, terms={k: v for k, v in off.items() if v is not None})))
    assert (refused.place, refused.reason) == (
        "version 5",
        "bob could not do this: the terms of this match do not allow conditional lines or forced moves",
    )


def test_what_no_event_shows_is_said_and_not_proved() -> None:
    assert BEYOND not in steps(bundle_of(resigned()))
    assert steps(bundle_of(disputed()))[BEYOND].found == (
        "the server alone vouches for this: that ann was an arbiter (version 7)"
    )
    assert steps(bundle_of(laid_down_by_black()))[BEYOND].found.endswith(
        "that the players had laid down what was done for them (version 5)"
    )
    found = steps(bundle_of(on_vacation()))[BEYOND]
    assert (found.found[-46:], found.proved) == ("in the availability of the players (version 6)", False)
