"""Who did what: a bundle signed with the server's own key is refused where its events cannot have come about."""

from collections.abc import Callable
from dataclasses import asdict, replace
from typing import NamedTuple

import pytest

from domain.match import commands as c
from domain.match import events as e
from domain.match.enums import Channel, Ground, PauseReason, RulingKind
from domain.match.event_types import TYPES
from domain.match.lines import ConditionalMoves, Line, laid_down
from domain.match.state import CLOCK, CONSOLE, Seat, opponent_id
from domain.match.terms import DAY, HOUR, STANDARD
from events.proof.verification import BEYOND
from tests.support.bundles import (
    SIGNED_AT,
    STORIES,
    after_two_plies,
    against_an_opponent,
    bundle_of,
    disputed,
    draw_refused,
    flagged,
    forgiven,
    resigned,
    ruled,
    taken_back,
    taken_up_again,
    under_another_ruleset,
)
from tests.support.forging import Forgery, adding, by, dated, forged, saying, without
from tests.support.matches import T0, PlayedMatch, creation, started
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


def opening(arbiter: str) -> e.DisputeRaised:
    """Return a case that ``arbiter`` opens."""
    return e.DisputeRaised(
        at=SIGNED_AT - 1, dispute=1, ply=1, ground=Ground.CLOCK, statement=WORDS, freezes=True, arbiter=arbiter
    )


class Case(NamedTuple):
    """A forgery of a match, the type of event that it is about, and what is said of it: version and words."""

    kind: type[e.Event]
    made: Callable[[], PlayedMatch]
    forgery: Forgery
    version: int
    said: str


LATER = SIGNED_AT - 1
ALONE = "nothing that happened before brings a {} about"

CASES = {
    "created by a stranger": Case(e.MatchCreated, opened, by(1, "eve"), 1, "eve could not do this: other players must"),
    "joined for somebody": Case(e.PlayerJoined, resigned, by(2, "eve"), 2, "player: 'eve' follows from what was done"),
    "joined a kept seat": Case(
        e.PlayerJoined,
        lambda: PlayedMatch(creation(Seat.taken("alice"), Seat.invited("bob"))),
        adding(2, e.PlayerJoined(at=LATER, seat=1, player="eve"), "eve"),
        2,
        "eve could not do this: that seat is taken or kept",
    ),
    "started before the second seat was taken": Case(
        e.MatchStarted, opened, adding(2, e.MatchStarted(at=LATER), "alice"), 2, "nothing that happened before brings a"
    ),
    "not started by the last who joined": Case(e.MatchStarted, started, without(3), 2, "a match-started must follow"),
    "a stranger's move": Case(e.MoveSubmitted, resigned, by(4, "eve"), 4, "eve could not do this: you have no seat"),
    "the opponent's move": Case(e.MoveSubmitted, resigned, by(4, "bob"), 4, "bob could not do this: it is not your"),
    "a person's move as an opponent's": Case(
        e.MoveSubmitted, resigned, saying(4, channel="opponent"), 4, "alice is a person, and an answer of an opponent"
    ),
    "a person's move with a node budget": Case(
        e.MoveSubmitted, resigned, saying(4, nodes=400), 4, "alice is a person, and an answer of an opponent"
    ),
    "a move laid down that was not": Case(
        e.MoveSubmitted, resigned, saying(5, channel="conditional"), 5, "what was laid down is done together with"
    ),
    "a first move laid down": Case(
        e.MoveSubmitted,
        started,
        adding(4, e.MoveSubmitted(at=T0 + 2000, seat=0, ply=1, move="c3-d4", channel=Channel.CONDITIONAL), "alice"),
        4,
        "nothing can have been laid down",
    ),
    "a move laid down by somebody else": Case(e.MoveSubmitted, laid_down_by_black, by(5, "eve"), 5, "eve does"),
    "a forced move that was not the only one": Case(
        e.MoveSubmitted, laid_down_by_black, saying(5, channel="forced"), 5, "what bob did changes nothing here"
    ),
    "an offer of the other seat": Case(e.DrawOffered, offered, by(6, "bob"), 6, "seat: 1 follows from what was done"),
    "one seat offered and accepted": Case(
        e.DrawAccepted,
        drawn,
        lambda drafts: (saying(7, seat=0)(drafts), by(7, "alice")(drafts)),
        7,
        "alice could not do this: you have agreed to this draw already",
    ),
    "accepted with the other's id": Case(e.DrawAccepted, drawn, by(7, "alice"), 7, "alice could not do this: you have"),
    "a draw declined by who offered it": Case(
        e.DrawDeclined,
        offered,
        adding(7, e.DrawDeclined(at=LATER, seat=0), "alice"),
        7,
        "alice could not do this: you have",
    ),
    "declined for the opponent": Case(e.DrawDeclined, draw_refused, by(6, "eve"), 6, "eve is a person, and an answer"),
    "resigned with the opponent's id": Case(e.PlayerResigned, resigned, by(6, "alice"), 6, "seat: 0 follows from what"),
    "an opponent resigned": Case(
        e.PlayerResigned,
        against_an_opponent,
        adding(5, e.PlayerResigned(at=LATER, seat=1), opponent_id(1)),
        5,
        "an opponent moves and answers draw offers",
    ),
    "aborted by a stranger": Case(
        e.MatchAborted,
        opened,
        adding(2, e.MatchAborted(at=LATER, player="eve"), "eve"),
        2,
        "eve could not do this: you have no",
    ),
    "aborted by the clock before its time": Case(
        e.MatchAborted,
        opened,
        adding(2, e.MatchAborted(at=LATER, player=CLOCK), CLOCK),
        2,
        "clock could not do this: this match",
    ),
    "a result of another kind": Case(
        e.MatchFinished, resigned, saying(7, reason="no-moves"), 7, "reason: 'resignation' follows from what was done"
    ),
    "a result by somebody else": Case(e.MatchFinished, resigned, by(7, "eve"), 7, "it follows from what bob did"),
    "a result that is missing": Case(e.MatchFinished, resigned, without(7), 6, "a match-finished must follow, and"),
    "somebody else's vacation": Case(e.ClockPaused, on_vacation, by(6, "bob"), 6, "bob stops the clock of alice"),
    "a vacation of ten years": Case(
        e.ClockPaused, on_vacation, saying(6, until=T0 + 3650 * DAY), 6, "a vacation lasts at most 30 days"
    ),
    "a vacation without an end": Case(
        e.ClockPaused,
        after_two_plies,
        adding(6, e.ClockPaused(at=LATER, reason=PauseReason.VACATION, since=LATER, seat=0), "alice"),
        6,
        "a vacation is that of one seat, and has an end",
    ),
    "free days of a month": Case(
        e.ClockPaused,
        after_two_plies,
        adding(
            6, e.ClockPaused(at=LATER, reason=PauseReason.WEEKEND, since=T0, seat=0, until=LATER + 30 * DAY), "alice"
        ),
        6,
        "free days are recorded when they count, 3 in a row at most",
    ),
    "free days of a year that is over": Case(
        e.ClockPaused,
        after_two_plies,
        adding(
            6,
            e.ClockPaused(at=LATER, reason=PauseReason.WEEKEND, since=T0 - 365 * DAY, seat=0, until=LATER + DAY),
            "alice",
        ),
        6,
        "free days last at most 8 days in one piece",
    ),
    "somebody else's free days recorded": Case(
        e.ClockPaused,
        after_two_plies,
        adding(6, e.ClockPaused(at=LATER, reason=PauseReason.WEEKEND, since=T0, seat=0, until=LATER + DAY), "bob"),
        6,
        "bob stops the clock of alice",
    ),
    "a vacation far ahead": Case(
        e.ClockPaused, on_vacation, saying(6, since=T0 + 500 * DAY, until=T0 + 501 * DAY), 6, "a vacation begins"
    ),
    "an outage by a player": Case(
        e.ClockPaused,
        after_two_plies,
        adding(6, e.ClockPaused(at=LATER, reason=PauseReason.OUTAGE, since=T0, seat=None, until=LATER), "bob"),
        6,
        "only the clock does this",
    ),
    "an outage that lies ahead": Case(
        e.ClockPaused,
        after_two_plies,
        adding(6, e.ClockPaused(at=LATER, reason=PauseReason.OUTAGE, since=T0, seat=None, until=LATER + DAY), CLOCK),
        6,
        "an outage is recorded",
    ),
    "a pause for no reason": Case(
        e.ClockPaused,
        after_two_plies,
        adding(6, e.ClockPaused(at=LATER, reason=PauseReason.ARBITER, since=T0, seat=None, until=None), CLOCK),
        6,
        "a clock is never stopped for 'arbiter' in this way",
    ),
    "somebody else's return": Case(e.ClockResumed, on_vacation, by(7, "bob"), 7, "what bob did changes nothing here"),
    "a return from a dispute": Case(
        e.ClockResumed,
        disputed,
        adding(7, e.ClockResumed(at=LATER, reason=PauseReason.DISPUTE), CLOCK),
        7,
        "a pause for 'dispute' never ends in this way",
    ),
    "an outage ended by a player": Case(
        e.ClockResumed,
        away,
        adding(7, e.ClockResumed(at=LATER, reason=PauseReason.OUTAGE), "bob"),
        7,
        "only the console does this",
    ),
    "the time corrected by a player": Case(
        e.TimeCorrected, after_two_plies, adding(6, e.TimeCorrected(at=T0), "bob"), 6, "only the console does this"
    ),
    "the time corrected that was not wrong": Case(
        e.TimeCorrected, after_two_plies, adding(6, e.TimeCorrected(at=LATER), CONSOLE), 6, "what console did changes"
    ),
    "time given by nobody": Case(e.TimeGiven, given, by(6, "eve"), 6, "eve could not do this: you have no seat"),
    "time given to oneself": Case(e.TimeGiven, given, by(6, "alice"), 6, "alice could not do this: time is given to"),
    "thirty years given": Case(e.TimeGiven, given, saying(6, time=10**12), 6, "bob could not do this: give 1 hour to"),
    "claimed by the flagged seat": Case(
        e.FlagFell,
        claimed,
        lambda drafts: (saying(6, claimed_by=0)(drafts), by(6, "alice")(drafts)),
        6,
        "alice could not do this: it is your own time",
    ),
    "claimed with another's id": Case(e.FlagFell, claimed, by(6, "eve"), 6, "eve could not do this: you have no seat"),
    "a flag dropped by a player": Case(e.FlagFell, flagged, by(6, "bob"), 6, "only the clock does this"),
    "forgiven by the loser": Case(e.FlagForgiven, forgiven, by(8, "alice"), 8, "alice could not do this: the flag was"),
    "asked with the other's id": Case(
        e.TakebackRequested, asked_to_take_back, by(6, "alice"), 6, "seat: 0 follows from what was done"
    ),
    "taking back accepted by who asked": Case(
        e.TakebackAccepted,
        taken_back,
        lambda drafts: (saying(7, seat=1)(drafts), by(7, "bob")(drafts)),
        7,
        "bob could not do this: you have agreed already",
    ),
    "taking back declined by a stranger": Case(
        e.TakebackDeclined,
        asked_to_take_back,
        adding(7, e.TakebackDeclined(at=LATER, seat=0), "eve"),
        7,
        "eve could not do",
    ),
    "taken back without a request or ruling": Case(
        e.MovesTakenBack,
        after_two_plies,
        adding(6, e.MovesTakenBack(at=LATER, ply=1), "bob"),
        6,
        ALONE.format("moves-taken-back"),
    ),
    "taken back before all agreed": Case(e.MovesTakenBack, taken_back, without(7), 7, ALONE.format("moves-taken-back")),
    "the opponent goes on with a seed that is known": Case(
        e.SeedDrawn, taken_up_again, without(10), 10, "a seed-drawn must follow here, and a move-submitted is"
    ),
    "disputed by a stranger": Case(e.DisputeRaised, disputed, by(6, "eve"), 6, "eve could not do this: you have no"),
    "a case opened by a party": Case(
        e.DisputeRaised,
        after_two_plies,
        adding(6, opening("bob"), "bob"),
        6,
        "bob could not do this: you have a part in this match",
    ),
    "opened in another arbiter's name": Case(
        e.DisputeRaised,
        after_two_plies,
        adding(6, opening("ann"), "ben"),
        6,
        "arbiter: 'ben' follows from what was done",
    ),
    "a statement of the other": Case(e.StatementFiled, open_case, by(7, "bob"), 7, "bob could not do this: you have"),
    "frozen by a party": Case(e.MatchFrozen, open_case, by(8, "bob"), 8, "bob could not do this: you have a part"),
    "let go on by a party": Case(e.MatchUnfrozen, open_case, by(9, "alice"), 9, "alice could not do this: you have a"),
    "judged their own match": Case(
        e.RulingMade,
        disputed,
        lambda drafts: (saying(7, arbiter="bob")(drafts), by(7, "bob")(drafts)),
        7,
        "bob could not do this: you have a part in this match",
    ),
    "judged their own appeal": Case(
        e.RulingMade,
        appealed,
        lambda drafts: (saying(9, arbiter="ann")(drafts), by(9, "ann")(drafts)),
        9,
        "ann could not do this: your ruling was appealed",
    ),
    "ruled in another arbiter's name": Case(e.RulingMade, disputed, by(7, "eve"), 7, "arbiter: 'eve' follows from"),
    "a ruling without a reason": Case(
        e.RulingMade, disputed, saying(7, reason=""), 7, "ann could not do this: a ruling needs a reason"
    ),
    "a ruling on no case": Case(
        e.RulingMade,
        after_two_plies,
        adding(
            6,
            e.RulingMade(
                at=LATER, dispute=1, arbiter="ann", ruling=RulingKind.ANNUL, reason=WORDS, rule=WORDS, appeal=False
            ),
            "ann",
        ),
        6,
        "ann could not do this: there is no open case",
    ),
    "a ruling without what it brings about": Case(e.RulingMade, adjusted, without(8), 7, "ann could not do this: rem"),
    "appealed by a stranger": Case(e.RulingAppealed, appealed, by(8, "eve"), 8, "eve could not do this: you have no"),
    "reopened by who was appealed against": Case(
        e.CaseReopened,
        appealed,
        lambda drafts: (saying(10, arbiter="ann")(drafts), by(10, "ann")(drafts)),
        10,
        "ann could not do this: only the arbiter who ruled on the appeal, or an operator",
    ),
    "clocks set by nobody": Case(
        e.ClocksAdjusted,
        after_two_plies,
        adding(6, e.ClocksAdjusted(at=LATER, remaining=(DAY, DAY)), "ann"),
        6,
        ALONE.format("clocks-adjusted"),
    ),
    "annulled by nobody": Case(
        e.MatchAnnulled, resigned, adding(8, e.MatchAnnulled(at=LATER), "ann"), 8, ALONE.format("match-annulled")
    ),
    "restored by nobody": Case(
        e.MatchRestored,
        STORIES["annulled"],
        adding(11, e.MatchRestored(at=LATER), "ann"),
        11,
        ALONE.format("match-restored"),
    ),
    "another ruleset proposed by a player": Case(
        e.RulesetProposed,
        under_another_ruleset,
        lambda drafts: (saying(6, arbiter="bob")(drafts), by(6, "bob")(drafts)),
        6,
        "bob could not do this: you have a part",
    ),
    "agreed with the other's id": Case(e.RulesetAccepted, under_another_ruleset, by(7, "bob"), 7, "seat: 1 follows"),
    "another ruleset declined by a stranger": Case(e.RulesetDeclined, declined, by(7, "eve"), 7, "eve could not do"),
    "another ruleset before all agreed": Case(
        e.RulesetChanged, under_another_ruleset, without(8), 8, ALONE.format("ruleset-changed")
    ),
}


def test_every_type_of_event_has_a_forged_case() -> None:
    assert {case.kind for case in CASES.values()} == set(TYPES.values())


@pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))
def test_what_cannot_have_been_done_is_refused_at_its_version(case: Case) -> None:
    assert steps(bundle_of(case.made()))["authority"].proved
    found = fault(forged(case.made(), case.forgery))
    assert (found.place, found.reason[: len(case.said)]) == (f"version {case.version}", case.said)


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
