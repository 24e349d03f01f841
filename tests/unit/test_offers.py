"""Draws and moves taken back: what one proposes and all the others answer."""

import pytest

from domain.match import events as e
from domain.match.commands import (
    AcceptDraw,
    AcceptTakeback,
    Command,
    DeclineDraw,
    DeclineTakeback,
    JoinMatch,
    OfferDraw,
    RequestTakeback,
    Resign,
    SubmitMove,
)
from domain.match.evolve import replay
from domain.match.refusals import CommandError
from domain.match.state import Seat, Takeback
from domain.match.terms import DAY, STANDARD, days_per_move
from tests.support.cases import refusal
from tests.support.matches import FOUR, SHORT_GAME, PlayedMatch, creation, started, started_by_four

TERMS = STANDARD._replace(takebacks=True)


def code_of(match: PlayedMatch, command: Command) -> str:
    """Return the code of the refusal of ``command``; the match must be as before."""
    before = match.state
    with pytest.raises(CommandError) as refused:
        match.do(command)
    assert match.state == before
    assert str(refused.value)
    return refused.value.code


def test_who_answers_an_offer_with_a_move_declines_it_and_may_offer_one_with_it() -> None:
    match = started()
    match.do(SubmitMove(player="alice", move="c3-d4", offer_draw=True))
    match.do(SubmitMove(player="bob", move="b6-a5", offer_draw=True))
    assert match.state.offers.draw_agreed == (1,)
    assert code_of(match, AcceptDraw(player="bob")) == "no-draw-offer"
    match.do(AcceptDraw(player="alice"))
    assert match.state.result.scores == (0.5, 0.5)


def test_an_offer_with_a_move_counts_as_one_offer_per_move() -> None:
    match = started()
    match.do(SubmitMove(player="alice", move="c3-d4", offer_draw=True))
    match.do(DeclineDraw(player="bob"))
    assert code_of(match, OfferDraw(player="alice")) == "draw-already-offered"


def test_no_draw_is_offered_with_the_move_that_ends_the_game() -> None:
    match = started()
    *moves, last = SHORT_GAME.split()
    for number, move in enumerate(moves):
        match.move(("alice", "bob")[number % 2], move)
    happened = match.do(SubmitMove(player="alice", move=last, offer_draw=True))
    assert [type(event) for event in happened] == [e.MoveSubmitted, e.MatchFinished]


def test_among_four_all_must_agree_to_an_offer_that_rode_with_a_move() -> None:
    match = started_by_four()
    match.do(SubmitMove(player="wendy", move="+a5", offer_draw=True))
    match.do(AcceptDraw(player="rita"))
    match.do(SubmitMove(player="blue", move="+e7", offer_draw=True))
    assert match.state.offers.draw_agreed == (1,)
    for player in ("wendy", "rita"):
        match.do(AcceptDraw(player=player))
    match.do(AcceptDraw(player="bob"))
    assert match.state.result.scores == (0.25,) * 4


def test_who_has_agreed_among_four_does_not_offer_anew_by_moving() -> None:
    match = started_by_four()
    match.do(OfferDraw(player="rita"))
    match.do(AcceptDraw(player="wendy"))
    assert len(match.do(SubmitMove(player="wendy", move="+a5", offer_draw=True))) == 1
    assert match.state.offers.draw_agreed == (2, 0)


def test_moves_go_back_to_before_the_last_one_of_who_asked_when_the_other_agrees() -> None:
    match = started(TERMS)
    start = match.state.play.position
    match.move("alice", "c3-d4")
    match.move("bob", "b6-a5")
    assert match.do(RequestTakeback(player="alice")) == (e.TakebackRequested(at=match.now, seat=0, ply=0),)
    assert match.state.offers.takeback == Takeback(seat=0, ply=0, agreed=(0,))
    assert match.do(AcceptTakeback(player="bob")) == (
        e.TakebackAccepted(at=match.now, seat=1),
        e.MovesTakenBack(at=match.now, ply=0),
    )
    state = match.state
    assert (state.play.position, state.play.history, state.play.moves, state.play.taken_back) == (start, (), (), 1)
    assert state.play.last_ply == (0, 0)
    assert replay("m", match.events) == state
    match.move("alice", "e3-f4")
    assert match.state.play.last_ply == (1, 0)


def test_only_the_own_move_goes_back_when_nobody_has_answered_it() -> None:
    match = started(TERMS)
    for player, move in (("alice", "c3-d4"), ("bob", "b6-a5")):
        match.move(player, move)
    match.do(RequestTakeback(player="bob"))
    match.do(AcceptTakeback(player="alice"))
    assert match.state.play.moves == ("c3-d4",)


def test_taking_back_gives_no_time_back_and_no_increment() -> None:
    match = started(TERMS)
    match.do(SubmitMove(player="alice", move="c3-d4"), match.now + DAY)
    match.do(SubmitMove(player="bob", move="b6-a5"), match.now + DAY)
    match.do(RequestTakeback(player="bob"))
    match.do(AcceptTakeback(player="alice"), match.now + DAY)
    clock = match.state.clock
    assert clock is not None
    assert (clock.seat, clock.since) == (1, match.now)
    assert clock.remaining == (9 * DAY - 1000, 10 * DAY)


def test_the_time_of_a_move_begins_anew_for_who_is_to_move_after_taking_back() -> None:
    match = started(days_per_move(3)._replace(takebacks=True))
    match.move("alice", "c3-d4")
    match.move("bob", "b6-a5")
    match.do(RequestTakeback(player="bob"), match.now + 2 * DAY)
    match.do(AcceptTakeback(player="alice"))
    assert match.state.clock is not None
    assert match.state.clock.remaining == (3 * DAY, 3 * DAY)


def test_a_request_is_declined_withdrawn_or_lapses_with_the_next_move() -> None:
    for answer in (
        DeclineTakeback(player="bob"),
        DeclineTakeback(player="alice"),
        SubmitMove(player="bob", move="b6-a5"),
    ):
        match = started(TERMS)
        match.move("alice", "c3-d4")
        match.do(RequestTakeback(player="alice"))
        match.do(answer)
        assert match.state.offers.takeback is None
        assert match.state.play.moves[0] == "c3-d4"
        assert code_of(match, AcceptTakeback(player="bob")) == "no-takeback-request"
        assert code_of(match, RequestTakeback(player="alice")) == "takeback-already-requested"


def test_what_cannot_be_asked_for() -> None:
    match = started()
    match.move("alice", "c3-d4")
    assert code_of(match, RequestTakeback(player="alice")) == "takebacks-not-allowed"
    match = started(TERMS)
    assert code_of(match, RequestTakeback(player="alice")) == "nothing-to-take-back"
    assert code_of(match, AcceptTakeback(player="bob")) == "no-takeback-request"
    assert code_of(match, DeclineTakeback(player="bob")) == "no-takeback-request"
    assert code_of(match, RequestTakeback(player="carol")) == "not-your-seat"
    match.move("alice", "c3-d4")
    match.do(RequestTakeback(player="alice"))
    assert code_of(match, AcceptTakeback(player="alice")) == "no-takeback-request"
    assert code_of(match, RequestTakeback(player="alice")) == "takeback-already-requested"
    assert code_of(match, AcceptTakeback(player="carol")) == "not-your-seat"


def test_after_taking_back_one_must_move_before_asking_again() -> None:
    match = started(TERMS)
    for number, move in enumerate(("c3-d4", "b6-a5", "g3-h4")):
        match.move(("alice", "bob")[number % 2], move)
    match.do(RequestTakeback(player="alice"))
    match.do(AcceptTakeback(player="bob"))
    assert match.state.play.moves == ("c3-d4", "b6-a5")
    assert code_of(match, RequestTakeback(player="alice")) == "takeback-already-requested"
    match.move("alice", "g3-f4")
    assert match.do(RequestTakeback(player="alice"))


def test_a_draw_offer_does_not_outlive_taking_back() -> None:
    match = started(TERMS)
    match.do(SubmitMove(player="alice", move="c3-d4", offer_draw=True))
    match.do(RequestTakeback(player="alice"))
    match.do(AcceptTakeback(player="bob"))
    assert code_of(match, AcceptDraw(player="bob")) == "no-draw-offer"
    match.do(SubmitMove(player="alice", move="c3-d4", offer_draw=True))
    assert match.state.offers.draw_agreed == (0,)


def test_among_four_all_must_agree_to_take_back_and_one_who_does_not_ends_it() -> None:
    match = started_by_four(TERMS)
    for player, move in zip(FOUR, ("+a5", "+e7", "+e1"), strict=False):
        match.move(player, move)
    assert match.do(RequestTakeback(player="blue")) == (e.TakebackRequested(at=match.now, seat=1, ply=1),)
    match.do(AcceptTakeback(player="wendy"))
    assert code_of(match, AcceptTakeback(player="wendy")) == "no-takeback-request"
    assert code_of(match, RequestTakeback(player="rita")) == "takeback-already-requested"
    match.do(AcceptTakeback(player="bob"))
    assert match.do(AcceptTakeback(player="rita"))[-1] == e.MovesTakenBack(at=match.now, ply=1)
    assert match.state.play.moves == ("+a5",)
    match.move("blue", "+f7")
    match.do(RequestTakeback(player="wendy"))
    match.do(DeclineTakeback(player="bob"))
    assert match.state.play.moves == ("+a5", "+f7")


def test_opponents_agree_at_once_and_people_are_waited_for() -> None:
    seats = (Seat.taken("wendy"), Seat.opponent(1), Seat.open(), Seat.opponent(2))
    create = creation(*seats, creator="wendy", game="towers", setup="four-player", rated=False, terms=TERMS)
    match = PlayedMatch(create)
    match.do(JoinMatch(player="rita"))
    match.move("wendy", "+a5")
    assert len(match.do(RequestTakeback(player="wendy"))) == 1
    assert match.do(AcceptTakeback(player="rita"))[1] == e.MovesTakenBack(at=match.now, ply=0)


def test_a_seat_that_left_cannot_be_brought_back() -> None:
    match = started_by_four(TERMS, "fourplay", "standard")
    match.move("wendy", "a1-a2")
    match.do(Resign(player="blue"))
    assert code_of(match, RequestTakeback(player="wendy")) == "nothing-to-take-back"
    assert code_of(match, RequestTakeback(player="blue")) == "no-longer-playing"
    match.move("rita", "j14-i13")
    match.do(RequestTakeback(player="rita"))
    match.do(AcceptTakeback(player="wendy"))
    assert match.do(AcceptTakeback(player="bob"))[-1] == e.MovesTakenBack(at=match.now, ply=1)
    assert match.state.clock is not None
    assert match.state.clock.seat == match.state.seat_of("rita")


def test_offering_a_draw_to_one_who_offers_it_accepts() -> None:
    match = started()
    match.do(OfferDraw(player="alice"))
    match.do(OfferDraw(player="bob"))
    assert match.state.result.reason == "draw-agreed"


def test_a_declined_offer_is_gone_and_comes_again_only_after_another_move() -> None:
    match = started()
    match.do(OfferDraw(player="alice"))
    assert match.do(DeclineDraw(player="bob")) == (e.DrawDeclined(at=match.now, seat=1),)
    assert refusal(match, AcceptDraw(player="bob")).code == "no-draw-offer"
    assert refusal(match, OfferDraw(player="alice")).code == "draw-already-offered"
    match.move("alice", "c3-d4")
    assert match.do(OfferDraw(player="alice")) == (e.DrawOffered(at=match.now, seat=0),)


def test_an_offer_lapses_when_the_other_moves_but_not_when_the_offering_player_does() -> None:
    match = started()
    match.do(OfferDraw(player="alice"))
    match.move("alice", "c3-d4")
    assert match.state.offers.draw_agreed == (0,)
    match.move("bob", "b6-a5")
    assert match.state.offers.draw_agreed == ()
    assert refusal(match, AcceptDraw(player="bob")).code == "no-draw-offer"


def test_all_four_must_agree_to_a_draw() -> None:
    match = started_by_four()
    match.do(OfferDraw(player="bob"))
    for player in ("wendy", "rita"):
        assert match.do(AcceptDraw(player=player)) == (e.DrawAccepted(at=match.now, seat=FOUR.index(player)),)
        assert refusal(match, AcceptDraw(player=player)).code == "no-draw-offer"
    assert match.state.offers.draw_agreed == (3, 0, 2)
    assert match.do(AcceptDraw(player="blue"))[1] == e.MatchFinished(
        at=match.now, scores=(0.25,) * 4, reason="draw-agreed"
    )


def test_one_of_four_who_declines_ends_the_offer() -> None:
    match = started_by_four()
    match.do(OfferDraw(player="bob"))
    match.do(AcceptDraw(player="wendy"))
    match.do(DeclineDraw(player="rita"))
    assert match.state.offers.draw_agreed == ()
    assert refusal(match, AcceptDraw(player="blue")).code == "no-draw-offer"


def test_an_offer_among_four_outlives_the_moves_of_those_who_agree() -> None:
    match = started_by_four()
    match.do(OfferDraw(player="bob"))
    match.do(AcceptDraw(player="wendy"))
    match.move("wendy", match.legal_moves()[0])
    assert match.state.offers.draw_agreed == (3, 0)
    match.move("blue", match.legal_moves()[0])
    assert match.state.offers.draw_agreed == ()
