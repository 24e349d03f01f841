"""Draws: offered, agreed, declined and lapsed."""

from domain.match import events as e
from domain.match.commands import AcceptDraw, DeclineDraw, OfferDraw
from tests.support.cases import refusal
from tests.support.matches import FOUR, started, started_by_four


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
