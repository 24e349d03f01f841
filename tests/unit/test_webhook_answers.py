"""What a receiver answers is read strictly, and says why it cannot be done."""

import json
from dataclasses import replace
from typing import Any

import pytest

from domain.match import commands as c
from domain.match.enums import Channel
from domain.match.refusals import CommandError
from domain.match.state import Seat
from domain.match.terms import days_per_move
from events.notices.notice import NoticeKind
from events.webhooks.answers import AnswerError, BotAnswer, command_for, read_answer
from tests.support.matches import PlayedMatch, creation, started

TURN, OFFER = NoticeKind.TURN, NoticeKind.OFFER


def read(content: Any, kind: NoticeKind = TURN) -> BotAnswer | None:
    return read_answer(kind, json.dumps(content).encode())


@pytest.mark.parametrize(
    "body",
    [b"", b"ok", b"<html>", b"\xff\xfe", b"[" * 100_000, b"[]", b"3", b'"move"', b"{}", b'{"ok": true}', b"null"],
)
def test_an_answer_that_asks_for_nothing_is_nothing(body: bytes) -> None:
    assert read_answer(TURN, body) is None


def test_moves_and_wishes_are_read() -> None:
    assert read({"move": "c3-d4", "version": 2}) == BotAnswer("move", 2, ("c3-d4",))
    assert read({"moves": ["K@b2", "done"], "version": 2}) == BotAnswer("moves", 2, ("K@b2", "done"))
    assert read({"move": "c3-d4", "version": 2, "offer_draw": True}) == BotAnswer("move", 2, ("c3-d4",), True)
    assert read({"resign": True, "version": 2}) == BotAnswer("resign", 2)
    assert read({"accept": True, "decline": False, "version": 2}, OFFER) == BotAnswer("accept", 2)


@pytest.mark.parametrize(
    ("content", "kind", "reason"),
    [
        ({"move": "c3-d4"}, TURN, "version"),
        ({"move": "c3-d4", "version": "2"}, TURN, "version"),
        ({"move": "c3-d4", "version": True}, TURN, "version"),
        ({"move": "c3-d4", "version": 2.0}, TURN, "version"),
        ({"move": 3, "version": 2}, TURN, "string"),
        ({"move": "", "version": 2}, TURN, "string"),
        ({"move": "x" * 10_001, "version": 2}, TURN, "string"),
        ({"move": ["c3-d4"], "version": 2}, TURN, "string"),
        ({"move": "c3-d4\ud800", "version": 2}, TURN, "string"),
        ({"moves": "c3-d4", "version": 2}, TURN, "list"),
        ({"moves": [], "version": 2}, TURN, "list"),
        ({"moves": ["a"] * 65, "version": 2}, TURN, "list"),
        ({"move": "c3-d4", "resign": True, "version": 2}, TURN, "only one"),
        ({"resign": "yes", "version": 2}, TURN, "true"),
        ({"move": "c3-d4", "version": 2, "offer_draw": "yes"}, TURN, "offer_draw"),
        ({"move": "c3-d4", "version": 2, "ofer_draw": True}, TURN, '"ofer_draw" is not known'),
        ({"accept": True, "version": 2}, TURN, "no answer to this"),
        ({"move": "c3-d4", "version": 2}, OFFER, "no answer to this"),
        ({"move": "c3-d4", "version": 2}, NoticeKind.ENDED, "no answer to this"),
    ],
)
def test_an_unreadable_answer_is_refused_with_the_reason(content: Any, kind: NoticeKind, reason: str) -> None:
    with pytest.raises(AnswerError, match=reason):
        read(content, kind)


def test_a_move_is_played_by_the_channel_of_webhooks() -> None:
    match = started()
    command = command_for(BotAnswer("move", 2, ("c3-d4",), True), match.state, "alice", "turn")
    assert command == c.SubmitMove(player="alice", move="c3-d4", channel=Channel.WEBHOOK, offer_draw=True)
    match.do(command)
    assert match.state.play.channels == (Channel.WEBHOOK,)


@pytest.mark.parametrize(
    ("wish", "fact", "accepted", "declined"),
    [
        (c.OfferDraw(player="bob"), "draw", c.AcceptDraw(player="alice", channel=Channel.WEBHOOK), c.DeclineDraw),
        (c.RequestTakeback(player="bob"), "takeback", c.AcceptTakeback(player="alice"), c.DeclineTakeback),
    ],
)
def test_what_is_on_offer_is_accepted_or_declined(wish: Any, fact: str, accepted: Any, declined: Any) -> None:
    match = started(replace(days_per_move(3), takebacks=True))
    match.move("alice", "c3-d4")
    match.move("bob", match.legal_moves()[0])
    match.do(wish)
    assert command_for(BotAnswer("accept", 5), match.state, "alice", fact) == accepted
    assert command_for(BotAnswer("decline", 5), match.state, "alice", fact) == declined(player="alice")
    match.do(command_for(BotAnswer("decline", 5), match.state, "alice", fact))
    with pytest.raises(AnswerError, match="nothing is offered"):
        command_for(BotAnswer("accept", 6), match.state, "alice", fact)


def test_of_two_offers_the_one_that_the_webhook_is_about_is_answered() -> None:
    match = started(replace(days_per_move(3), takebacks=True))
    match.move("alice", "c3-d4")
    match.move("bob", match.legal_moves()[0])
    match.do(c.RequestTakeback(player="bob"))
    match.do(c.OfferDraw(player="bob"))
    agreed = {fact: command_for(BotAnswer("accept", 6), match.state, "alice", fact) for fact in ("draw", "takeback")}
    assert agreed == {
        "draw": c.AcceptDraw(player="alice", channel=Channel.WEBHOOK),
        "takeback": c.AcceptTakeback(player="alice"),
    }
    with pytest.raises(AnswerError, match="nothing is offered"):
        command_for(BotAnswer("accept", 6), match.state, "alice", "ruleset")


def test_an_invitation_is_accepted_or_declined() -> None:
    match = PlayedMatch(creation(Seat.taken("alice"), Seat.invited("bob")))
    assert command_for(BotAnswer("decline", 1), match.state, "bob", "invitation") == c.AbortMatch(player="bob")
    match.do(command_for(BotAnswer("accept", 1), match.state, "bob", "invitation"))
    assert match.state.seats[1].joined


def test_what_the_rules_refuse_is_for_the_match_to_say() -> None:
    match = started()
    with pytest.raises(CommandError):
        match.do(command_for(BotAnswer("move", 2, ("h8-a1",)), match.state, "alice", "turn"))
