"""Cases: who may open one, what stands still meanwhile, how it can be ruled, and what each ruling brings about."""

from dataclasses import replace

import pytest

from domain.games import find_ruleset
from domain.match import commands, events as e
from domain.match.clock import left
from domain.match.decide import decide
from domain.match.enums import Ground, Status
from domain.match.evolve import replay
from domain.match.refusals import CommandError
from domain.match.terms import DAY
from tests.support.cases import REASON, WORDS, disputed, refusal, ruling
from tests.support.matches import PlayedMatch, started


def test_a_dispute_freezes_the_match_and_its_clocks() -> None:
    match = disputed()
    assert match.state.cases.frozen
    assert refusal(match, commands.SubmitMove(player="alice", move="d4-c5")).code == "match-frozen"
    assert refusal(match, commands.Resign(player="alice")).code == "match-frozen"
    assert match.state.clock is not None
    before = left(match.state.clock, 0, match.now)
    assert left(match.state.clock, 0, match.now + 300 * DAY) == before
    with pytest.raises(CommandError, match="stands still"):
        decide(match.state, commands.CallTime(), match.now + 300 * DAY)


def test_a_dispute_about_conduct_lets_the_match_go_on() -> None:
    match = disputed(Ground.CONDUCT)
    assert not match.state.cases.frozen
    match.move("alice", "d4-c5")
    match.do(commands.Freeze(arbiter="ann", frozen=True))
    assert refusal(match, commands.SubmitMove(player="bob", move="a7-b6")).code == "match-frozen"
    match.do(commands.Freeze(arbiter="ann", frozen=False))
    assert refusal(match, commands.Freeze(arbiter="ann", frozen=False)).code == "nothing-to-freeze"


def test_a_case_about_conduct_that_an_arbiter_opens_lets_the_match_go_on() -> None:
    match = started()
    match.do(commands.OpenCase(arbiter="olga", ply=0, ground=Ground.CONDUCT, statement=WORDS))
    match.move("alice", "c3-d4")
    match.do(ruling("let-stand"))
    match.do(commands.OpenCase(arbiter="olga", ply=1, ground=Ground.CLOCK, statement=WORDS))
    assert match.state.cases.frozen


def test_an_appeal_about_conduct_lets_the_match_go_on_until_an_arbiter_freezes_it() -> None:
    match = disputed(Ground.CONDUCT)
    match.do(ruling("let-stand"))
    match.do(commands.Appeal(player="bob", statement=WORDS))
    assert not match.state.cases.frozen
    match.move("alice", "d4-c5")
    match.do(commands.Freeze(arbiter="ben", frozen=True))
    assert refusal(match, commands.SubmitMove(player="bob", move="b6-d4")).code == "match-frozen"


@pytest.mark.parametrize("made", [ruling("take-back", ply=1), ruling("adjust-clocks", remaining=(DAY, DAY))])
def test_an_appeal_against_what_has_changed_the_match_freezes_it_whatever_the_case_is_about(
    made: commands.Rule,
) -> None:
    match = disputed(Ground.CONDUCT)
    match.do(made)
    match.do(commands.Appeal(player="bob", statement=WORDS))
    assert match.state.cases.frozen


@pytest.mark.parametrize(
    ("command", "code", "field"),
    [
        (commands.RaiseDispute(player="alice", ply=1, ground=Ground.CLOCK, statement=WORDS), "dispute-open", None),
        (commands.RaiseDispute(player="eve", ply=1, ground=Ground.CLOCK, statement=WORDS), "not-your-seat", None),
        (commands.OpenCase(arbiter="alice", ply=1, ground=Ground.CLOCK, statement=WORDS), "conflict-of-interest", None),
        (commands.FileStatement(player="bob", statement=WORDS), "statement-already-filed", None),
        (commands.FileStatement(player="alice", statement="He moved twice."), "invalid-dispute", "statement"),
        (ruling("let-stand", "alice"), "conflict-of-interest", None),
        (replace(ruling("let-stand"), reason=""), "invalid-ruling", "reason"),
        (replace(ruling("let-stand"), rule=""), "invalid-ruling", "rule"),
        (replace(ruling("let-stand"), reason="So the record says."), "invalid-ruling", "reason"),
        (replace(ruling("let-stand"), rule="BA-02"), "invalid-ruling", "rule"),
        (commands.ProposeRuleset(arbiter="ann", ruleset=2, reason=""), "invalid-ruling", "reason"),
        (ruling("take-back"), "invalid-ruling", "ply"),
        (ruling("take-back", ply=2), "invalid-ruling", "ply"),
        (ruling("let-stand", ply=1), "invalid-ruling", "ply"),
        (ruling("decide", scores=(1.0,)), "invalid-ruling", "scores"),
        (ruling("decide", scores=(1.0, 1.0)), "invalid-ruling", "scores"),
        (ruling("adjust-clocks", remaining=(0, DAY)), "invalid-ruling", "remaining"),
        (ruling("restore"), "invalid-ruling", "ruling"),
        (commands.Appeal(player="bob", statement=WORDS), "nothing-to-appeal", None),
    ],
)
def test_what_cannot_be_done_in_a_case_is_refused_with_the_place(
    command: commands.Command, code: str, field: str
) -> None:
    refused = refusal(disputed(), command)
    assert (refused.code, refused.field) == (code, field)


@pytest.mark.parametrize("ply", [3, -1])
def test_a_dispute_names_a_ply_of_the_match(ply: int) -> None:
    match = started()
    match.move("alice", "c3-d4")
    match.move("bob", "b6-a5")
    assert (
        refusal(match, commands.RaiseDispute(player="bob", ply=ply, ground=Ground.CLOCK, statement=WORDS)).code
        == "invalid-dispute"
    )


def test_a_match_can_be_disputed_for_thirty_days_after_its_end() -> None:
    match = started()
    match.do(commands.Resign(player="bob"))
    match.now += 31 * DAY
    assert (
        refusal(match, commands.RaiseDispute(player="bob", ply=0, ground=Ground.WRONG_RESULT, statement=WORDS)).code
        == "too-late-to-dispute"
    )


def test_a_seat_raises_three_disputes_at_most() -> None:
    match = disputed()
    for _ in range(2):
        match.do(ruling("let-stand"))
        match.do(commands.RaiseDispute(player="bob", ply=1, ground=Ground.CLOCK, statement=WORDS))
    match.do(ruling("let-stand"))
    assert (
        refusal(match, commands.RaiseDispute(player="bob", ply=1, ground=Ground.CLOCK, statement=WORDS)).code
        == "too-many-disputes"
    )
    match.do(commands.RaiseDispute(player="alice", ply=1, ground=Ground.CLOCK, statement=WORDS))


def test_letting_stand_lets_the_match_go_on_with_the_time_it_had() -> None:
    match = disputed()
    assert match.state.clock is not None
    had = left(match.state.clock, 0, match.now)
    match.do(commands.FileStatement(player="alice", statement=WORDS), match.now + 20 * DAY)
    match.do(ruling("let-stand"))
    assert left(match.state.clock, 0, match.now) == had
    match.move("alice", "d4-c5")


def test_a_ruling_takes_back_to_a_ply_and_keeps_what_was_played_on_record() -> None:
    match = disputed()
    match.do(ruling("take-back", ply=1))
    assert match.state.play.moves == ("c3-d4",)
    assert sum(isinstance(event, e.MoveSubmitted) for event in match.events) == 2
    match.move("bob", "d6-e5")
    assert replay("m", match.events) == match.state


def test_a_ruling_decides_and_another_arbiter_decides_otherwise_on_appeal() -> None:
    match = disputed()
    match.do(ruling("decide", scores=(1.0, 0.0)))
    assert (match.state.status, match.state.result.scores, match.state.result.reason) == (
        Status.FINISHED,
        (1.0, 0.0),
        "ruling",
    )
    match.do(commands.Appeal(player="bob", statement=WORDS))
    assert refusal(match, ruling("let-stand", "ann")).code == "own-ruling"
    match.do(ruling("take-back", "ben", ply=1))
    assert (match.state.status, match.state.result.scores, match.state.result.ended_at) == (Status.PLAYING, None, None)
    assert refusal(match, commands.Appeal(player="alice", statement=WORDS)).code == "nothing-to-appeal"
    assert refusal(match, ruling("annul", "cleo")).code == "no-open-dispute"
    match.move("bob", "d6-e5")


def test_a_ruling_can_be_appealed_for_a_week() -> None:
    match = disputed()
    match.do(ruling("let-stand"))
    match.now += 8 * DAY
    assert refusal(match, commands.Appeal(player="bob", statement=WORDS)).code == "too-late-to-appeal"


def test_adjusted_clocks_run_from_the_ruling_on() -> None:
    match = disputed()
    match.do(ruling("adjust-clocks", remaining=(2 * DAY, 5 * DAY)))
    assert match.state.clock is not None
    assert [left(match.state.clock, seat, match.now + DAY) for seat in (0, 1)] == [DAY, 5 * DAY]


@pytest.mark.parametrize("resigned", [False, True])
def test_an_annulled_match_counts_for_nothing_until_it_is_restored(resigned: bool) -> None:
    match = started()
    match.move("alice", "c3-d4")
    if resigned:
        match.do(commands.Resign(player="bob"))
    before = match.state
    match.do(commands.OpenCase(arbiter="olga", ply=1, ground=Ground.CONDUCT, statement=WORDS))
    match.do(ruling("annul"))
    assert (match.state.status, match.state.result.scores, match.state.result.reason) == (
        Status.ABORTED,
        None,
        "annulled",
    )
    match.do(commands.Appeal(player="alice", statement=WORDS))
    match.do(ruling("restore", "ben"))
    after = match.state
    assert (after.status, after.result.scores, after.result.reason) == (
        before.status,
        before.result.scores,
        before.result.reason,
    )
    assert replay("m", match.events) == after
    if not resigned:
        match.move("bob", "b6-a5")


def broken() -> PlayedMatch:
    """Return a match whose third ply the rules cannot follow, with a fourth on record."""
    match = started()
    match.move("alice", "c3-d4")
    match.move("bob", "b6-a5")
    unknown = [
        e.MoveSubmitted(at=match.now, seat=0, ply=3, move="z9-z8"),
        e.MoveSubmitted(at=match.now, seat=1, ply=4, move="a7-b6"),
    ]
    return PlayedMatch.recorded([*match.events, *unknown])


def test_a_broken_match_is_played_no_further_but_every_ruling_is_possible() -> None:
    match = broken()
    assert match.state.play.plies == 4
    assert refusal(match, commands.SubmitMove(player="alice", move="d4-c5")).code == "broken-match"
    for number, command in enumerate(
        (
            ruling("adjust-clocks", remaining=(DAY, DAY)),
            ruling("decide", scores=(0.5, 0.5)),
            ruling("annul"),
            ruling("restore"),
            ruling("take-back", ply=3),
            ruling("take-back", ply=2),
        )
    ):
        match.do(commands.OpenCase(arbiter="olga", ply=3, ground=Ground.ILLEGAL_MOVE, statement=WORDS))
        match.do(command)
        assert match.state.cases.disputes[number].rulings[0].ruling == command.ruling
    assert match.state.play.broken is None
    match.move("alice", "d4-c5")


def test_a_match_goes_on_under_another_ruleset_when_all_seats_agree() -> None:
    match = started()
    match.move("alice", "c3-d4")
    match.do(commands.ProposeRuleset(arbiter="ann", ruleset=2, reason=REASON))
    match.do(commands.AcceptRuleset(player="alice"))
    assert match.state.ruleset == 1
    match.do(commands.AcceptRuleset(player="bob"))
    assert (match.state.ruleset, match.state.cases.proposal) == (2, None)
    new = find_ruleset("bashni", 2)
    assert new.format_position(match.state.play.position) == find_ruleset("bashni", 1).format_position(
        find_ruleset("bashni", 1).parse_position(new.format_position(match.state.play.position))
    )
    match.move("bob", "b6-a5")
    assert replay("m", match.events) == match.state


def test_a_ruleset_that_a_seat_declines_lapses() -> None:
    match = started()
    match.do(commands.ProposeRuleset(arbiter="ann", ruleset=2, reason=REASON))
    match.do(commands.DeclineRuleset(player="bob"))
    assert refusal(match, commands.AcceptRuleset(player="alice")).code == "no-proposal"
    assert (
        refusal(match, commands.ProposeRuleset(arbiter="bob", ruleset=2, reason=REASON)).code == "conflict-of-interest"
    )
    assert refusal(match, commands.ProposeRuleset(arbiter="ann", ruleset=1, reason=REASON)).code == "invalid-ruleset"
    assert refusal(match, commands.ProposeRuleset(arbiter="ann", ruleset=99, reason=REASON)).field == "ruleset"


def test_a_match_that_has_not_started_cannot_be_disputed() -> None:
    match = PlayedMatch()
    assert (
        refusal(match, commands.RaiseDispute(player="alice", ply=0, ground=Ground.CLOCK, statement=WORDS)).code
        == "match-not-started"
    )
    match.do(commands.JoinMatch(player="bob"))
    match.do(commands.RaiseDispute(player="alice", ply=0, ground=Ground.CLOCK, statement=WORDS))
