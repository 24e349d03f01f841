"""Webhooks: what they say, how they are signed as Standard Webhooks says, and how answers are read."""

import base64
import json
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

from api.representations.webhooks import SentWebhook
from domain.games import GAMES
from domain.match import commands as c
from domain.match.commands import AcceptDraw, JoinMatch, OfferDraw, Resign
from domain.match.enums import Channel
from domain.match.refusals import CommandError
from domain.match.state import Seat
from domain.match.terms import days_per_move
from events.notify.endpoints import EndpointKeys
from events.notify.notice import Notice, NoticeKind, notice_id
from events.notify.webhooks import payload
from events.notify.webhooks.answers import AnswerError, BotAnswer, command_for, read_answer
from events.notify.webhooks.payload import MAX_PAYLOAD_BYTES, TYPES, WebhookStanding, notice_payload, trial_payload
from events.notify.webhooks.signing import fresh_keys, public_key_of, signed_headers
from events.people.person import Person
from events.store.contract import VersionTag
from tests.support.matches import FOUR, T0, PlayedMatch, creation, started, started_by_four
from tests.support.tables import table
from tests.support.webhook_receiver import verified_schemes

DOCUMENTATION = Path(__file__).parents[2] / "docs" / "bots.md"
BODY = '{"type":"match.turn","data":{"seat":"Weiß"}}'.encode()


def now_ms() -> int:
    return time.time_ns() // 1_000_000


def test_the_published_package_verifies_a_webhook() -> None:
    keys, now = fresh_keys(), now_ms()
    headers = signed_headers([keys], "abc", now, BODY)
    assert Webhook(keys.secret).verify(BODY, headers)["type"] == "match.turn"
    for forged, sent in ((BODY + b" ", headers), (BODY, {**headers, "webhook-id": "abd"})):
        with pytest.raises(WebhookVerificationError):
            Webhook(keys.secret).verify(forged, sent)


def test_a_receiver_written_from_the_specification_verifies_both_signatures() -> None:
    keys = fresh_keys()
    headers = signed_headers([keys], "abc", 1_700_000_000_999, BODY)
    assert headers["webhook-timestamp"] == "1700000000"
    known = {"secret": keys.secret, "public_key": public_key_of(keys)}
    assert verified_schemes(headers, BODY, 1_700_000_100, **known) == {"v1", "v1a"}
    assert verified_schemes(headers, BODY, 1_700_000_301, **known) == set()
    assert verified_schemes(headers, BODY + b"x", 1_700_000_100, **known) == set()
    other = fresh_keys()
    assert verified_schemes(headers, BODY, 1_700_000_100, secret=other.secret, public_key=public_key_of(other)) == set()


def test_the_signature_of_the_specification_s_example_is_the_same() -> None:
    # The test vector of the reference implementations.
    keys = EndpointKeys(secret="whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", private_key=fresh_keys().private_key)
    headers = signed_headers([keys], "msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330_000, b'{"test": 2432232314}')
    assert headers["webhook-signature"].split()[0] == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_the_documented_example_is_verified_by_what_the_documentation_says() -> None:
    words = (line.split(None, 1) for line in DOCUMENTATION.read_text(encoding="utf-8").splitlines() if "  " in line)
    known: dict[str, list[str]] = {}
    for name, *value in words:
        known.setdefault(name, []).extend(value)
    headers = {name: " ".join(known[name]) for name in ("webhook-id", "webhook-timestamp", "webhook-signature")}
    secret, public_key = known["secret"][0], known["public"][0].removeprefix("key").strip()
    body, now_s = known["body"][0].encode(), int(headers["webhook-timestamp"])
    assert verified_schemes(headers, body, now_s, secret=secret, public_key=public_key) == {"v1", "v1a"}


def test_old_and_new_keys_sign_side_by_side() -> None:
    old, new = fresh_keys(), fresh_keys()
    headers = signed_headers([new, old], "abc", now_ms(), BODY)
    assert [signature.partition(",")[0] for signature in headers["webhook-signature"].split(" ")] == ["v1", "v1a"] * 2
    for keys in (old, new):
        assert Webhook(keys.secret).verify(BODY, headers)
        now_s = int(headers["webhook-timestamp"])
        assert verified_schemes(headers, BODY, now_s, public_key=public_key_of(keys)) == {"v1a"}


def test_keys_are_long_enough_and_never_the_same() -> None:
    one, other = fresh_keys(), fresh_keys()
    assert len({one.secret, one.private_key, other.secret, other.private_key}) == 4
    for text in (one.secret[6:], one.private_key[5:], public_key_of(one)[5:]):
        assert len(base64.b64decode(text, validate=True)) == 32


def test_an_id_with_a_full_stop_is_not_signed() -> None:
    with pytest.raises(ValueError, match="full stop"):
        signed_headers([fresh_keys()], "a.b", 0, BODY)


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
        *table(__file__, "an unreadable answer is refused with the reason"),
        ({"move": "x" * 10_001, "version": 2}, TURN, "string"),
        ({"moves": ["a"] * 65, "version": 2}, TURN, "list"),
    ],
)
def test_an_unreadable_answer_is_refused_with_the_reason(content: Any, kind: str, reason: str) -> None:
    with pytest.raises(AnswerError, match=reason):
        read(content, NoticeKind(kind))


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
    match = started(days_per_move(3)._replace(takebacks=True))
    match.move("alice", "c3-d4")
    match.move("bob", match.legal_moves()[0])
    match.do(wish)
    assert command_for(BotAnswer("accept", 5), match.state, "alice", fact) == accepted
    assert command_for(BotAnswer("decline", 5), match.state, "alice", fact) == declined(player="alice")
    match.do(command_for(BotAnswer("decline", 5), match.state, "alice", fact))
    with pytest.raises(AnswerError, match="nothing is offered"):
        command_for(BotAnswer("accept", 6), match.state, "alice", fact)


def test_of_two_offers_the_one_that_the_webhook_is_about_is_answered() -> None:
    match = started(days_per_move(3)._replace(takebacks=True))
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


PAGE_URL = "https://rookery.example/"


def notice(kind: NoticeKind = NoticeKind.TURN, player: str = "alice", match: str | None = "m") -> Notice:
    return Notice(
        id=notice_id("fact", player), player=player, kind=kind, match=match, version=3, fact="fact",
        summary="It is your turn.", reason="You want to be told.", at=T0, decided_at=T0,
    )  # fmt: skip


def standing(match: PlayedMatch, deadline: int | None = None) -> WebhookStanding:
    people = {name: Person(name, name.title(), "person", T0) for name in ("alice", "bob", *FOUR)}
    return WebhookStanding(match.state, VersionTag(match.state.version, "0123456789abcdef"), deadline, people)


def told(match: PlayedMatch, full: bool = True, **facts: Any) -> Any:
    body = notice_payload(notice(**facts), standing(match, T0 + 86_400_000), full=full, page_url=PAGE_URL)
    assert len(body) <= MAX_PAYLOAD_BYTES
    return json.loads(body)


def test_a_full_payload_is_all_that_a_stateless_bot_needs() -> None:
    match = started()
    sent = told(match)
    assert (sent["type"], sent["timestamp"]) == ("match.turn", "2023-11-14T22:13:20.000Z")
    data = sent["data"]
    assert data["legal_moves"] == match.legal_moves()
    assert data["position"] == GAMES["bashni"].format_position(match.state.play.position)
    assert (data["seat"], data["to_move"], data["ply"], data["form"]) == (0, 0, 0, "full")
    assert (data["version"], data["version_tag"]) == (match.state.version, f"{match.state.version}-0123456789abcdef")
    assert data["deadline"] == "2023-11-15T22:13:20.000Z"
    assert data["seats"][1]["player"] == {"id": "bob", "name": "Bob", "kind": "person"}
    assert data["terms"]["bank"] == 10 * 86_400
    assert data["links"]["page"] == "https://rookery.example/matches/m"
    assert data["links"]["moves"] == "https://rookery.example/api/v1/matches/m/moves"
    assert data["answers"] == ["move", "moves", "resign"]


@pytest.mark.parametrize(("kind", "full"), [(NoticeKind.TURN, True), (NoticeKind.ENDED, False)])
def test_a_payload_is_what_the_document_describes(kind: NoticeKind, full: bool) -> None:
    msgspec.convert(told(started(), full=full, kind=kind), SentWebhook)
    msgspec.json.decode(trial_payload("alice", T0, PAGE_URL), type=SentWebhook)


def test_a_thin_payload_has_no_board() -> None:
    data = told(started(), full=False)["data"]
    assert data["form"] == "thin"
    assert not {"position", "diagram", "legal_moves", "compositions", "draft"} & set(data)


def test_who_is_not_to_move_gets_no_moves() -> None:
    data = told(started(), player="bob", kind=NoticeKind.STARTED)["data"]
    assert (data["legal_moves"], data["seat"], data["to_move"]) == ([], 1, 0)
    assert data["position"]


def test_a_payload_that_would_be_too_large_is_thin(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = told(started())
    monkeypatch.setattr(payload, "MAX_PAYLOAD_BYTES", len(json.dumps(whole, separators=(",", ":"))) - 1)
    assert told(started())["data"]["form"] == "thin"


@pytest.mark.parametrize("game", list(GAMES))
def test_every_game_and_setup_fits_into_a_full_payload(game: str) -> None:
    for setup in GAMES[game].setups.values():
        others = FOUR[: len(setup.seat_names) - 1]
        match = PlayedMatch(creation(Seat.taken("alice"), *(Seat.open() for _ in others), game=game, setup=setup.name))
        for other in others:
            match.do(JoinMatch(player=other))
        data = told(match)["data"]
        assert data["form"] == "full"
        assert bool(data["draft"]) == (GAMES[game].draft(match.state.play.position) is not None)


def test_an_army_that_is_set_up_can_be_answered_from_the_payload() -> None:
    match = started_by_four(game="fourplay", setup="draft")
    data = told(match, player=FOUR[0])["data"]
    match.move(FOUR[0], *data["draft"]["ready"], data["draft"]["done"])
    assert match.state.play.plies == len(data["draft"]["ready"]) + 1


def test_an_ended_match_tells_its_result() -> None:
    match = started()
    match.do(Resign(player="bob"))
    data = told(match, kind=NoticeKind.ENDED)["data"]
    assert (data["status"], data["to_move"], data["legal_moves"]) == ("finished", None, [])
    assert data["result"] == {"scores": [1.0, 0.0], "reason": "resignation"}
    assert data["answers"] == []


def test_an_offer_tells_who_has_agreed() -> None:
    match = started()
    match.do(OfferDraw(player="bob"))
    data = told(match, kind=NoticeKind.OFFER)["data"]
    assert (data["draw_agreed"], data["answers"]) == ([1], ["accept", "decline"])
    match.do(AcceptDraw(player="alice"))
    assert told(match, kind=NoticeKind.ENDED)["data"]["result"]["reason"] == "draw-agreed"


def test_every_kind_has_a_type_of_its_own() -> None:
    assert set(TYPES) == set(NoticeKind)
    assert len(set(TYPES.values())) == len(NoticeKind)


def test_a_notice_about_a_match_that_cannot_be_read_is_told_all_the_same() -> None:
    sent = json.loads(notice_payload(notice(), None, full=True, page_url=PAGE_URL))
    assert sent["data"] == {"player": "alice", "summary": "It is your turn.", "match": "m", "form": "thin"}


def test_a_trial_says_that_it_is_one() -> None:
    sent = json.loads(trial_payload("alice", T0, PAGE_URL))
    assert sent["type"] == "test"
    assert "test" in sent["data"]["summary"]
