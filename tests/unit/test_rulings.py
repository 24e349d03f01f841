"""What rulings bring about: play goes on after them, ends properly, and needs no rules that are missing or at fault."""

from dataclasses import replace

import pytest

from domain.match import commands, events as e
from domain.match.clock import left
from domain.match.enums import Ground, LineStatus, Status
from domain.match.evolve import replay
from domain.match.lines import ConditionalMoves, Line, laid_down, standing
from domain.match.terms import DAY, STANDARD, Terms, days_per_move
from events.store.contract import EMPTY
from events.store.snapshots import restore_snapshot, snapshot_of
from tests.support.cases import REASON, WORDS, disputed, refusal, ruling
from tests.support.matches import FOUR, SHORT_GAME, PlayedMatch, started, started_by_four


def test_a_match_that_was_called_off_before_all_seats_were_taken_cannot_be_disputed() -> None:
    match = PlayedMatch()
    match.do(commands.AbortMatch(player="alice"))
    assert (
        refusal(match, commands.RaiseDispute(player="alice", ply=0, ground=Ground.CLOCK, statement=WORDS)).code
        == "match-not-started"
    )


@pytest.mark.parametrize("terms", [STANDARD, days_per_move(3)])
def test_who_has_lost_on_time_has_time_again_when_a_ruling_takes_back(terms: Terms) -> None:
    match = started(terms)
    match.move("alice", "c3-d4")
    match.move("bob", "b6-a5")
    match.do(commands.CallTime(), match.now + 15 * DAY)
    assert match.state.result.reason == "flag"
    match.do(commands.RaiseDispute(player="alice", ply=2, ground=Ground.CLOCK, statement=WORDS))
    match.do(ruling("take-back", ply=2))
    assert match.state.clock is not None
    assert [left(match.state.clock, seat, match.now) for seat in (0, 1)] == [3 * DAY, match.state.clock.remaining[1]]
    match.move("alice", "d4-c5")


def test_a_ruling_that_takes_back_gives_nobody_more_time_who_has_some() -> None:
    match = started()
    for player, move in (("alice", "c3-d4"), ("bob", "b6-a5"), ("alice", "g3-h4")):
        match.move(player, move)
    match.do(commands.SubmitMove(player="bob", move="h6-g5"), match.now + 9 * DAY)
    assert match.state.clock is not None
    used = match.state.clock.remaining
    assert 0 < used[1] < 3 * DAY
    match.do(commands.RaiseDispute(player="alice", ply=4, ground=Ground.CLOCK, statement=WORDS), match.now)
    match.do(ruling("take-back", ply=3))
    assert match.state.clock.remaining == used


def test_a_match_that_was_called_off_can_be_taken_up_again() -> None:
    match = started()
    match.move("alice", "c3-d4")
    match.do(commands.CallTime(), match.now + 8 * DAY)
    assert match.state.status == Status.ABORTED
    match.do(commands.RaiseDispute(player="bob", ply=1, ground=Ground.CLOCK, statement=WORDS))
    match.do(ruling("take-back", ply=1))
    match.move("bob", "b6-a5")


def won() -> PlayedMatch:
    """Return a match that White has won by the rules, and about which Black has raised a dispute."""
    match = started()
    for ply, move in enumerate(SHORT_GAME.split()):
        match.move(("alice", "bob")[ply % 2], move)
    match.do(commands.RaiseDispute(player="bob", ply=1, ground=Ground.WRONG_RESULT, statement=WORDS))
    return match


def test_taking_back_leads_to_where_the_game_is_not_over() -> None:
    match = won()
    last = match.state.play.plies
    assert refusal(match, ruling("take-back", ply=last)).field == "ply"
    match.do(ruling("take-back", ply=last - 1))
    match.move("alice", SHORT_GAME.split()[-1])
    assert (match.state.status, match.state.result.scores) == (Status.FINISHED, (1.0, 0.0))


def test_a_seat_that_left_plays_on_when_a_ruling_takes_back_to_before_that() -> None:
    match = started_by_four(game="fourplay", setup="standard")
    for player in FOUR:
        match.move(player, match.legal_moves()[0])
    match.do(commands.Resign(player="blue"))
    match.move("wendy", match.legal_moves()[0])
    match.do(commands.RaiseDispute(player="blue", ply=4, ground=Ground.CONDUCT, statement=WORDS))
    match.do(ruling("take-back", ply=3))
    match.move("bob", match.legal_moves()[0])
    match.move("wendy", match.legal_moves()[0])
    assert match.move("blue", match.legal_moves()[0]) == (
        e.MoveSubmitted(at=match.now, seat=1, ply=6, move=match.state.play.moves[-1]),
    )


def test_a_match_that_was_annulled_and_then_decided_is_annulled_no_more() -> None:
    match = won()
    match.do(ruling("annul"))
    match.do(commands.Appeal(player="alice", statement=WORDS))
    match.do(ruling("decide", "ben", scores=(0.5, 0.5)))
    match.do(commands.ReopenCase(person="ben", dispute=1, statement=WORDS))
    assert refusal(match, ruling("restore", "ben")).field == "ruling"
    match.do(ruling("annul", "ben"))
    assert match.state.result.scores is None


def test_a_ruling_can_still_be_appealed_when_another_dispute_was_raised_after_it() -> None:
    match = disputed()
    match.do(ruling("take-back", ply=1))
    match.do(commands.RaiseDispute(player="bob", ply=1, ground=Ground.CONDUCT, statement=WORDS))
    assert refusal(match, commands.Appeal(player="alice", statement=WORDS)).code == "dispute-open"
    match.do(ruling("let-stand", "cleo"), match.now + 20 * DAY)
    match.do(commands.Appeal(player="bob", statement=WORDS))
    match.do(ruling("let-stand", "ann"))
    match.do(commands.Appeal(player="alice", statement=WORDS))
    assert match.state.cases.open == match.state.cases.disputes[0]
    assert refusal(match, ruling("let-stand", "ann")).code == "own-ruling"
    match.do(ruling("let-stand", "ben"))
    assert refusal(match, commands.Appeal(player="alice", statement=WORDS)).code == "nothing-to-appeal"


def test_what_an_arbiter_has_decided_is_not_forgiven_like_a_flag() -> None:
    match = started()
    match.move("alice", "c3-d4")
    match.move("bob", "b6-a5")
    match.do(commands.CallTime(), match.now + 15 * DAY)
    match.do(commands.RaiseDispute(player="alice", ply=2, ground=Ground.CLOCK, statement=WORDS))
    match.do(ruling("decide", scores=(1.0, 0.0)))
    assert match.state.result.fallen is None
    assert refusal(match, commands.ForgiveFlag(player="bob")).code == "nothing-to-forgive"


def unknown_ruleset() -> PlayedMatch:
    """Return a match that was created under a ruleset that is not installed, with a ply on record."""
    created, joined, began = started().events
    assert isinstance(created, e.MatchCreated)
    ply = e.MoveSubmitted(at=began.at, seat=0, ply=1, move="c3-d4")
    return PlayedMatch.recorded([replace(created, ruleset=99), joined, began, ply])


@pytest.mark.parametrize(
    "command",
    [
        commands.CallTime(player="alice"),
        commands.CallTime(),
        commands.Resign(player="alice"),
        commands.OfferDraw(player="bob"),
        commands.AbortMatch(player="alice"),
    ],
)
def test_what_needs_the_rules_is_refused_where_they_are_missing(command: commands.Command) -> None:
    assert refusal(unknown_ruleset(), command).code == "broken-match"


def test_a_match_under_a_missing_ruleset_goes_on_under_one_that_is_there() -> None:
    match = unknown_ruleset()
    match.do(commands.ProposeRuleset(arbiter="ann", ruleset=2, reason=REASON))
    match.do(commands.AcceptRuleset(player="alice"))
    match.do(commands.AcceptRuleset(player="bob"))
    assert (match.state.play.broken, match.state.play.moves) == (None, ("c3-d4",))
    match.move("bob", "b6-a5")


@pytest.mark.parametrize(
    "command",
    [
        ruling("take-back", ply=1),
        ruling("decide", scores=(0.5, 0.5)),
        ruling("adjust-clocks", remaining=(DAY, DAY)),
        ruling("annul"),
        ruling("let-stand"),
    ],
)
def test_a_match_that_was_moved_to_a_missing_ruleset_can_still_be_ruled_on(command: commands.Rule) -> None:
    match = started()
    match.move("alice", "c3-d4")
    match.move("bob", "b6-a5")
    match = PlayedMatch.recorded([*match.events, e.RulesetChanged(at=match.now, ruleset=99)])
    assert (match.state.play.position, match.state.play.plies) == (None, 2)
    match.do(commands.OpenCase(arbiter="olga", ply=2, ground=Ground.ILLEGAL_MOVE, statement=WORDS))
    match.do(command)
    assert match.state.cases.disputes[0].rulings[0].ruling == command.ruling
    assert replay("m", match.events) == match.state


def with_an_answer_laid_down() -> PlayedMatch:
    """Return a frozen match in which an answer of Black to the last move is laid down, for when it goes on."""
    match = started()
    first = [Line(move="c3-d4", then=None, next=(Line(move="b6-a5"),))]
    orders = laid_down(match.state, "bob", ConditionalMoves(), first, None, match.now)
    match.move("alice", "c3-d4")
    match.do(commands.OpenCase(arbiter="olga", ply=1, ground=Ground.CLOCK, statement=WORDS))
    match.orders[1] = orders
    return match


def test_a_conditional_line_answers_when_a_frozen_match_goes_on() -> None:
    match = with_an_answer_laid_down()
    match.do(commands.FileStatement(player="alice", statement=WORDS))
    assert match.state.play.moves == ("c3-d4",)
    happened = match.do(ruling("let-stand"))
    assert [type(event) for event in happened] == [e.RulingMade, e.MoveSubmitted]
    assert match.state.play.moves == ("c3-d4", "b6-a5")


def test_a_conditional_line_is_dead_once_a_ruling_has_taken_moves_back() -> None:
    match = with_an_answer_laid_down()
    match.do(ruling("take-back", ply=0))
    lines = match.orders[1].lines
    assert lines is not None
    assert standing(match.state, 1, lines)[0] == LineStatus.DEAD
    match.move("alice", "c3-d4")
    assert match.state.play.moves == ("c3-d4",)


def test_a_conditional_line_is_alive_again_when_an_annulled_match_is_restored() -> None:
    match = with_an_answer_laid_down()
    match.do(ruling("annul"))
    match.do(commands.Appeal(player="bob", statement=WORDS))
    match.do(ruling("restore", "ben"))
    assert match.state.play.moves == ("c3-d4", "b6-a5")


def test_a_snapshot_that_the_rules_fail_on_counts_as_none(monkeypatch: pytest.MonkeyPatch) -> None:
    match = started()
    kept = snapshot_of(match.state, EMPTY)
    assert restore_snapshot(kept) is not None

    def at_fault(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("events.store.snapshots.find_ruleset", at_fault)
    assert restore_snapshot(kept) is None
