"""What an appeal has settled is settled: who may rule on it, who can reopen it, and what was decided before that."""

from dataclasses import replace
from typing import Any

import pytest

from domain.match import events as e
from domain.match.authority import Authority
from domain.match.commands import Appeal, Freeze, OpenCase, RaiseDispute, ReopenCase, Resign
from domain.match.enums import Channel, Ground, Status
from events.proof.audit import audit
from events.store.codec import draft_of
from events.store.contract import EMPTY, GENESIS
from events.store.envelope import seal
from events.store.snapshots import restore_snapshot, snapshot_of
from tests.support.bundles import actors
from tests.support.cases import WORDS, disputed, refusal, ruling
from tests.support.matches import FOUR, PlayedMatch, started, started_by_four


def settled(first: str = "decide", second: str = "take-back") -> PlayedMatch:
    """Return a match that ann decided for White and ben, on appeal, took back to the first ply."""
    facts: dict[str, dict[str, Any]] = {"decide": {"scores": (1.0, 0.0)}, "take-back": {"ply": 1}, "let-stand": {}}
    match = disputed()
    match.do(ruling(first, "ann", **facts[first]))
    match.do(Appeal(player="bob", statement=WORDS))
    match.do(ruling(second, "ben", **facts[second]))
    return match


def test_what_was_settled_on_appeal_cannot_be_disputed_again() -> None:
    match = settled()
    for command in (
        RaiseDispute(player="alice", ply=1, ground=Ground.REPETITION, statement=WORDS),
        RaiseDispute(player="alice", ply=0, ground=Ground.CONDUCT, statement=WORDS),
        OpenCase(arbiter="ann", ply=1, ground=Ground.REPETITION, statement=WORDS),
        OpenCase(arbiter="ben", ply=1, ground=Ground.REPETITION, statement=WORDS),
    ):
        refused = refusal(match, command)
        assert (refused.code, refused.field) == ("already-settled", "ply")
        assert "case 1 was settled on appeal, and with it the match up to move 1" in str(refused)


def test_what_is_played_after_that_can_be_disputed_but_not_judged_by_whom_the_appeal_was_against() -> None:
    match = settled()
    match.move("bob", "b6-a5")
    match.move("alice", "d4-c5")
    assert (
        refusal(match, RaiseDispute(player="alice", ply=1, ground=Ground.CLOCK, statement=WORDS)).code
        == "already-settled"
    )
    match.do(RaiseDispute(player="alice", ply=3, ground=Ground.CLOCK, statement=WORDS))
    refused = refusal(match, ruling("decide", "ann", scores=(1.0, 0.0)))
    assert (refused.code, str(refused)) == (
        "own-ruling",
        "you acted in case 1 of this match, which was appealed: another arbiter has to rule",
    )
    assert refusal(match, ruling("take-back", "cleo", ply=0)).code == "already-settled"
    match.do(ruling("take-back", "cleo", ply=1))


def test_moves_that_are_taken_back_later_are_not_settled_any_more() -> None:
    match = settled(second="let-stand")
    assert match.state.cases.disputes[0].settled == 2
    match = settled()
    assert match.state.cases.disputes[0].settled == 1


@pytest.mark.parametrize("acted", ["opened", "froze", "let go on"])
def test_an_arbiter_who_acted_in_a_case_does_not_rule_on_its_appeal(acted: str) -> None:
    match = started()
    match.move("alice", "c3-d4")
    match.do(
        OpenCase(arbiter="ann", ply=1, ground=Ground.CLOCK, statement=WORDS)
        if acted == "opened"
        else RaiseDispute(player="bob", ply=1, ground=Ground.CONDUCT, statement=WORDS)
    )
    if acted == "froze":
        match.do(Freeze(arbiter="ann", frozen=True))
    if acted == "let go on":
        match.do(Freeze(arbiter="cleo", frozen=True))
        match.do(Freeze(arbiter="ann", frozen=False))
    match.do(ruling("let-stand", "dora"))
    match.do(Appeal(player="bob", statement=WORDS))
    refused = refusal(match, ruling("let-stand", "ann"))
    assert (refused.code, str(refused)) == (
        "own-ruling",
        "you have acted in this case before: another arbiter has to rule now",
    )
    match.do(Freeze(arbiter="ben", frozen=not match.state.cases.frozen))
    match.do(ruling("let-stand", "ben"))


def test_the_arbiter_who_opened_a_case_rules_on_it_only_where_no_other_could_and_on_record() -> None:
    match = started()
    match.do(OpenCase(arbiter="ann", ply=0, ground=Ground.CONDUCT, statement=WORDS))
    refused = refusal(match, ruling("let-stand", "ann"))
    assert (refused.code, str(refused)) == ("own-case", "you have opened this case: another arbiter has to rule on it")
    match.do(ruling("let-stand", "ann", sole_arbiter=True))
    *earlier, made = match.events
    assert isinstance(made, e.RulingMade)
    assert made.sole_arbiter is True

    def objections(events: list[e.Event]) -> list[str]:
        drafts = [draft_of(event, actor) for event, actor in zip(events, actors(events), strict=True)]
        stored = [sealed.envelope for sealed in seal(drafts, "m", 0, GENESIS)]
        return [record.objection for record in audit("m", stored, authority=Authority("m")) if record.objection]

    assert objections([*earlier, made]) == []
    assert "you have opened this case" in str(objections([*earlier, replace(made, sole_arbiter=None)]))


def test_only_the_arbiter_of_the_appeal_or_an_operator_reopens_a_case() -> None:
    match = settled()
    assert refusal(match, ReopenCase(person="ann", dispute=1, statement=WORDS)).code == "not-your-case"
    assert refusal(match, ReopenCase(person="cleo", dispute=1, statement=WORDS)).code == "not-your-case"
    assert (
        refusal(match, ReopenCase(person="alice", dispute=1, statement=WORDS, operator=True)).code
        == "conflict-of-interest"
    )
    assert refusal(match, ReopenCase(person="ben", dispute=2, statement=WORDS)).code == "nothing-to-reopen"
    assert refusal(match, ReopenCase(person="ben", dispute=1, statement="because")).code == "invalid-dispute"
    assert match.do(ReopenCase(person="ben", dispute=1, statement=WORDS)) == (
        e.CaseReopened(at=match.now, dispute=1, arbiter="ben", operator=False, statement=WORDS, freezes=True),
    )
    assert match.state.cases.frozen
    assert match.state.cases.open == match.state.cases.disputes[0]
    assert (
        refusal(match, ReopenCase(person="otto", dispute=1, statement=WORDS, operator=True)).code == "nothing-to-reopen"
    )
    assert refusal(match, ruling("decide", "ann", scores=(1.0, 0.0))).code == "own-ruling"
    match.do(ruling("decide", "ben", scores=(0.5, 0.5)))
    assert match.state.result.scores == (0.5, 0.5)
    assert refusal(match, Appeal(player="alice", statement=WORDS)).code == "nothing-to-appeal"
    assert (
        refusal(match, RaiseDispute(player="alice", ply=1, ground=Ground.CLOCK, statement=WORDS)).code
        == "already-settled"
    )


def test_an_operator_who_reopens_a_case_does_not_rule_on_it() -> None:
    match = settled()
    match.do(ReopenCase(person="otto", dispute=1, statement=WORDS, operator=True))
    assert refusal(match, ruling("let-stand", "otto")).code == "own-ruling"
    assert refusal(match, ruling("let-stand", "ann")).code == "own-ruling"
    match.do(ruling("let-stand", "cleo"))
    assert [each.arbiter for each in match.state.cases.disputes[0].rulings] == ["ann", "ben", "cleo"]
    assert restore_snapshot(snapshot_of(match.state, EMPTY))[0] == match.state


@pytest.mark.parametrize("scores", [(1e-7, 0.9999999), (0.12345, 0.87655), (1 / 3, 2 / 3), (float("nan"), 1.0)])
def test_the_scores_of_a_ruling_are_thousandths(scores: tuple[float, ...]) -> None:
    refused = refusal(disputed(), ruling("decide", scores=scores))
    assert (refused.code, refused.field) == ("invalid-ruling", "scores")
    assert str(refused) == "the score of seat 0 has more than 3 decimals: say thousandths"


def test_a_player_who_is_erased_resigns_a_frozen_match_too() -> None:
    match = disputed()
    assert refusal(match, Resign(player="alice")).code == "match-frozen"
    match.do(Resign(player="alice", channel=Channel.ERASURE))
    assert (match.state.status, match.state.result.scores, match.state.cases.frozen) == (
        Status.FINISHED,
        (0.0, 1.0),
        True,
    )
    match.do(ruling("let-stand"))
    assert not match.state.cases.frozen


def test_the_others_of_four_stay_frozen_when_one_is_erased() -> None:
    match = started_by_four(game="fourplay", setup="standard")
    match.do(RaiseDispute(player=FOUR[1], ply=0, ground=Ground.CLOCK, statement=WORDS))
    match.do(Resign(player=FOUR[0], channel=Channel.ERASURE))
    assert (match.state.status, match.state.cases.frozen) == (Status.PLAYING, True)
    match.do(ruling("let-stand"))
    match.move(FOUR[1], match.legal_moves()[0])
