"""Who may do what in a match, and what comes of it."""

import pytest

from domain.match import events as e
from domain.match.commands import (
    AbortMatch,
    AcceptDraw,
    CallTime,
    Command,
    DeclineDraw,
    JoinMatch,
    OfferDraw,
    Resign,
    SubmitMove,
)
from domain.match.enums import Status
from domain.match.state import Seat
from tests.support.cases import refusal
from tests.support.matches import SHORT_GAME, PlayedMatch, creation, started, started_by_four


def test_a_move_is_recorded_with_its_seat_and_ply() -> None:
    match = started()
    assert match.move("alice", "c3-d4") == (e.MoveSubmitted(at=match.now, seat=0, ply=1, move="c3-d4"),)
    assert match.move("bob", "b6-a5") == (e.MoveSubmitted(at=match.now, seat=1, ply=2, move="b6-a5"),)


def test_an_opponents_move_says_how_it_can_be_computed_again() -> None:
    match = PlayedMatch(creation(Seat.opponent(3), Seat.taken("alice")))
    happened = match.do(SubmitMove(player="opponent-3", move="c3-d4", level=3, seed=12, engine="e1", nodes=600))
    assert happened == (
        e.MoveSubmitted(at=match.now, seat=0, ply=1, move="c3-d4", level=3, seed=12, engine="e1", nodes=600),
    )


def test_a_move_out_of_turn_is_refused_with_the_seat_whose_turn_it_is() -> None:
    match = started()
    denied = refusal(match, SubmitMove(player="bob", move="b6-a5"))
    assert denied.code == "not-your-turn"
    assert "White" in str(denied)


def test_one_opponent_on_several_seats_moves_for_each_in_turn() -> None:
    match = PlayedMatch(creation(*[Seat.opponent(1)] * 4, game="towers", setup="four-player", rated=False))
    for ply in range(1, 6):
        game_moves = match.legal_moves()
        (moved, *_) = match.do(SubmitMove(player="opponent-1", move=game_moves[0], level=1, seed=1, engine="e"))
        assert isinstance(moved, e.MoveSubmitted)
        assert (moved.seat, moved.ply) == ((ply - 1) % 4, ply)


@pytest.mark.parametrize("text", ["", "e9-e10", "c3", "move", "c3-d4;", "x" * 10_001, "c3-d4\x00", "♞"])
def test_what_is_no_move_at_all_is_malformed(text: str) -> None:
    denied = refusal(started(), SubmitMove(player="alice", move=text))
    assert (denied.code, denied.field) == ("malformed-move", "move")
    assert ("at most 10000 characters" in str(denied)) == (len(text) > 10_000)


def test_nothing_is_played_before_all_seats_are_taken() -> None:
    for command in (
        SubmitMove(player="alice", move="c3-d4"),
        Resign(player="alice"),
        OfferDraw(player="alice"),
        AcceptDraw(player="alice"),
    ):
        assert refusal(PlayedMatch(), command).code == "match-not-started"


def test_a_match_finishes_by_rule_with_the_move_that_ends_it() -> None:
    match = started()
    for number, move in enumerate(SHORT_GAME.split()):
        happened = match.move(("alice", "bob")[number % 2], move)
    assert happened == (
        e.MoveSubmitted(at=match.now, seat=0, ply=27, move="f4xh6"),
        e.MatchFinished(at=match.now, scores=(1.0, 0.0), reason="no-moves"),
    )
    assert match.state.status == Status.FINISHED


def test_one_may_resign_out_of_turn_but_not_for_others() -> None:
    match = started()
    match.move("alice", "c3-d4")
    assert refusal(match, Resign(player="carol")).code == "not-your-seat"
    match.do(Resign(player="alice"))
    assert match.state.result.scores == (0.0, 1.0)


def test_resigning_in_a_two_player_setup_of_a_game_for_four_scores_two_seats() -> None:
    seats = (Seat.taken("alice"), Seat.open())
    match = PlayedMatch(creation(*seats, game="towers", setup="two-player"))
    match.do(JoinMatch(player="bob"))
    match.do(Resign(player="alice"))
    assert match.state.result.scores == (0.0, 1.0)


def test_resigning_among_four_lets_the_others_share_when_they_cannot_go_on() -> None:
    match = started_by_four()
    match.do(Resign(player="rita"))
    assert match.state.result.scores == pytest.approx((1 / 3, 1 / 3, 0.0, 1 / 3))
    assert match.state.result.reason == "resignation"


@pytest.mark.parametrize("player", ["alice", "bob"])
def test_either_player_may_abort_until_the_second_ply(player: str) -> None:
    match = started()
    match.move("alice", "c3-d4")
    assert match.do(AbortMatch(player=player)) == (e.MatchAborted(at=match.now, player=player),)
    assert (match.state.status, match.state.result.scores) == (Status.ABORTED, None)


def test_an_open_match_is_called_off_by_its_creator_and_an_invitation_by_the_invited() -> None:
    seats = (Seat.open(), Seat.invited("bob"))
    for player in ("carol", "bob"):
        match = PlayedMatch(creation(*seats, creator="carol"))
        match.do(AbortMatch(player=player))
        assert match.state.status == Status.ABORTED
    assert refusal(PlayedMatch(creation(*seats, creator="carol")), AbortMatch(player="dave")).code == "not-your-seat"


@pytest.mark.parametrize(
    ("ending", "words"), [(Resign(player="alice"), "is over: resignation"), (AbortMatch(player="alice"), "was aborted")]
)
def test_nothing_happens_in_a_match_that_is_over(ending: Command, words: str) -> None:
    match = started()
    match.do(ending)
    for command in (
        JoinMatch(player="carol"),
        SubmitMove(player="alice", move="c3-d4"),
        Resign(player="bob"),
        AbortMatch(player="bob"),
        OfferDraw(player="bob"),
        AcceptDraw(player="bob"),
        DeclineDraw(player="bob"),
        CallTime(player="bob"),
    ):
        refused = refusal(match, command)
        assert (refused.code, words in str(refused)) == ("match-over", True)


def test_time_never_runs_backwards_within_a_match() -> None:
    match = started()
    before = match.state.updated_at
    (moved,) = match.do(SubmitMove(player="alice", move="c3-d4"), at=before - 5000)
    assert moved.at == before
    (moved,) = match.do(SubmitMove(player="bob", move="b6-a5"), at=before + 5)
    assert moved.at == before + 5
