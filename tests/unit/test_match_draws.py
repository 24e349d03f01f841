"""Draws: offered, agreed, declined and lapsed."""

from domain.match import events as e
from domain.match.commands import (
    AcceptDraw,
    DeclineDraw,
    OfferDraw,
)
from tests.support.cases import refusal
from tests.support.matches import FOUR, started, started_by_four


def test_a_draw_is_agreed_when_the_other_accepts() -> None:
    match = started()
    assert match.do(OfferDraw("alice")) == (e.DrawOffered(match.now, 0),)
    assert match.do(AcceptDraw("bob")) == (
        e.DrawAccepted(match.now, 1),
        e.MatchFinished(match.now, (0.5, 0.5), "draw-agreed"),
    )


def test_offering_a_draw_to_one_who_offers_it_accepts() -> None:
    match = started()
    match.do(OfferDraw("alice"))
    match.do(OfferDraw("bob"))
    assert match.state.reason == "draw-agreed"


def test_a_declined_offer_is_gone_and_comes_again_only_after_another_move() -> None:
    match = started()
    match.do(OfferDraw("alice"))
    assert match.do(DeclineDraw("bob")) == (e.DrawDeclined(match.now, 1),)
    assert refusal(match, AcceptDraw("bob")).code == "no-draw-offer"
    assert refusal(match, OfferDraw("alice")).code == "draw-already-offered"
    match.move("alice", "c3-d4")
    assert match.do(OfferDraw("alice")) == (e.DrawOffered(match.now, 0),)


def test_an_offer_lapses_when_the_other_moves_but_not_when_the_offering_player_does() -> None:
    match = started()
    match.do(OfferDraw("alice"))
    match.move("alice", "c3-d4")
    assert match.state.draw_agreed == (0,)
    match.move("bob", "b6-a5")
    assert match.state.draw_agreed == ()
    assert refusal(match, AcceptDraw("bob")).code == "no-draw-offer"


def test_nobody_answers_their_own_offer() -> None:
    match = started()
    match.do(OfferDraw("alice"))
    for command, code in (
        (AcceptDraw("alice"), "no-draw-offer"),
        (DeclineDraw("alice"), "no-draw-offer"),
        (OfferDraw("alice"), "draw-already-offered"),
        (AcceptDraw("carol"), "not-your-seat"),
        (OfferDraw("carol"), "not-your-seat"),
        (DeclineDraw("carol"), "not-your-seat"),
    ):
        assert refusal(match, command).code == code


def test_all_four_must_agree_to_a_draw() -> None:
    match = started_by_four()
    match.do(OfferDraw("bob"))
    for player in ("wendy", "rita"):
        assert match.do(AcceptDraw(player)) == (e.DrawAccepted(match.now, FOUR.index(player)),)
        assert refusal(match, AcceptDraw(player)).code == "no-draw-offer"
    assert match.state.draw_agreed == (3, 0, 2)
    assert match.do(AcceptDraw("blue"))[1] == e.MatchFinished(match.now, (0.25,) * 4, "draw-agreed")


def test_one_of_four_who_declines_ends_the_offer() -> None:
    match = started_by_four()
    match.do(OfferDraw("bob"))
    match.do(AcceptDraw("wendy"))
    match.do(DeclineDraw("rita"))
    assert match.state.draw_agreed == ()
    assert refusal(match, AcceptDraw("blue")).code == "no-draw-offer"


def test_an_offer_among_four_outlives_the_moves_of_those_who_agree() -> None:
    match = started_by_four()
    match.do(OfferDraw("bob"))
    match.do(AcceptDraw("wendy"))
    match.move("wendy", match.legal_moves()[0])
    assert match.state.draw_agreed == (3, 0)
    match.move("blue", match.legal_moves()[0])
    assert match.state.draw_agreed == ()
