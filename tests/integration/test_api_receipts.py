"""Receipts of acts, and messages that readers report."""

from typing import Any

import pytest
from flask import Flask

from api.access.limits import Limits
from api.services import Services
from events.proof.bundle import read_bundle
from events.proof.documents import write_document
from events.proof.key_file import UnreadableKeyError
from events.proof.keys import KeyRing
from events.proof.public_keys import key_set
from events.proof.receipts import Comparison, Receipt, compare, read_receipt
from tests.support.callers import ME, OPEN, Caller, app_on, started
from tests.support.server import RealServer


def read(shown: dict[str, Any]) -> Receipt:
    return read_receipt(write_document(shown))


def test_acts_are_receipted_in_the_bundle(anna: Caller, boris: Caller, stranger: Caller, services: Services) -> None:
    created = anna.post("/matches", {"game": "bashni", "setup": "start", "seats": [ME, OPEN]}).json
    path = f"/matches/{created['id']}"
    answers = [
        created, boris.post(f"{path}/joins").json, anna.move(created["id"]).json,
        boris.post(f"{path}/draw-offers").json, boris.post(f"{path}/resignation").json,
        anna.post(f"{path}/rematches").json,
    ]  # fmt: skip
    receipts = [read(answer["receipt"]) for answer in answers]
    assert [receipt.version for receipt in receipts] == [answer["version"] for answer in answers]
    trusted = {key.id: key for key in services.keys.public()}
    bundle = read_bundle(stranger.get(f"{path}/bundle").data)
    for receipt in receipts:
        receipt.check(trusted)
    assert {compare(receipt, bundle) for receipt in receipts[:-1]} == {Comparison.CONTAINED}
    assert {receipt.installation for receipt in receipts} == {services.store.installation().id}
    assert receipts[-1].match == answers[-1]["id"]


def test_a_repeated_request_is_answered_with_the_same_receipt(anna: Caller, boris: Caller) -> None:
    match_id = started(anna, boris)
    sent = {"move": anna.legal_move(match_id)}
    first, again = (
        anna.post(f"/matches/{match_id}/moves", sent, Idempotency_Key="k1").json["receipt"] for _ in range(2)
    )
    assert first == again


def test_a_receipt_can_be_had_later_for_every_version(anna: Caller, boris: Caller, stranger: Caller) -> None:
    match_id = started(anna, boris)
    moved = anna.move(match_id).json
    version = moved["version"]
    path = f"/matches/{match_id}/receipt"
    answer = stranger.get(path)
    name = f"rookery-{match_id}-{version}-receipt.json"
    assert answer.headers["Content-Disposition"] == f'attachment; filename="{name}"'
    assert read_receipt(answer.data)[:5] == read(moved["receipt"])[:5]
    bundle = read_bundle(stranger.get(f"/matches/{match_id}/bundle").data)
    for earlier in range(1, version + 1):
        assert compare(read_receipt(stranger.get(f"{path}?version={earlier}").data), bundle) == Comparison.CONTAINED
    refused = stranger.get(f"{path}?version={version + 1}")
    assert (refused.status_code, refused.json["code"]) == (404, "no-such-version")
    assert f'href="/api/v1{path}" download' in stranger.client.get(f"/matches/{match_id}").text


def test_a_private_match_has_receipts_for_its_players_only(anna: Caller, stranger: Caller) -> None:
    private = anna.create(ME, OPEN, private=True)
    assert anna.get(f"/matches/{private}/receipt").status_code == 200
    assert stranger.get(f"/matches/{private}/receipt").json["code"] == "no-such-match"


def test_a_move_counts_even_without_a_receipt(anna: Caller, boris: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    match_id = started(anna, boris)

    def unreadable(_: KeyRing) -> None:
        raise UnreadableKeyError("the signing key is damaged")

    with monkeypatch.context() as patched:
        patched.setattr(KeyRing, "signing", unreadable)
        patched.setattr("events.proof.receipts.KEPT_MS", 0)
        moved = anna.move(match_id)
    assert (moved.status_code, "receipt" in moved.json) == (201, False)
    assert boris.move(match_id).json["receipt"]["version"] == moved.json["version"] + 1


def test_a_bundle_with_positions_is_what_the_page_offers(anna: Caller, boris: Caller, services: Services) -> None:
    match_id = started(anna, boris)
    anna.move(match_id)
    for state in ("playing", "finished"):
        plain, shown = (
            read_bundle(anna.get(f"/matches/{match_id}/bundle{query}").data).facts for query in ("", "?positions=true")
        )
        assert (plain.status, plain.positions) == (state, None)
        assert len(shown.positions or ()) == 2
        assert shown._replace(positions=None) == plain
        boris.post(f"/matches/{match_id}/resignation")
    assert (
        f'href="/api/v1/matches/{match_id}/bundle?positions=true" download'
        in anna.client.get(f"/matches/{match_id}").text
    )
    assert anna.get(f"/matches/{match_id}/bundle?positions=1").status_code == 422
    assert key_set(services.keys.public())["keys"]


@pytest.fixture
def judge(app: Flask, services: Services) -> Caller:
    """Return an arbiter without a part in the match."""
    judge = Caller(app).sign_up("julia")
    services.administration.grant(judge.id, "arbiter", "console")
    return judge


@pytest.fixture
def match_id(anna: Caller, boris: Caller) -> str:
    """Return a match in whose chat boris has said something bad, as the second message."""
    match_id = started(anna, boris)
    anna.post(f"/matches/{match_id}/chat", {"text": "good luck"})
    boris.post(f"/matches/{match_id}/chat", {"text": "You fool."})
    return match_id


def texts(who: Caller, match_id: str) -> list[tuple[str, bool]]:
    """Return what ``who`` is shown of a chat, and whether it is hidden."""
    return [(each["text"], each["hidden"]) for each in who.get(f"/matches/{match_id}/chat").json["items"]]


def report(who: Caller, match_id: str, number: int = 2, reason: str = "An insult.") -> int:
    return who.post(f"/matches/{match_id}/chat/{number}/reports", {"reason": reason}).status_code


def test_who_reports_a_message_does_not_see_it_and_others_do(anna: Caller, boris: Caller, match_id: str) -> None:
    assert report(anna, match_id) == 204
    assert texts(anna, match_id) == [("good luck", False)]
    assert texts(boris, match_id) == [("good luck", False), ("You fool.", False)]


def test_arbiters_see_what_was_reported_why_and_by_whom(anna: Caller, judge: Caller, match_id: str) -> None:
    assert report(anna, match_id) == 204
    assert report(anna, match_id) == 204, "once more is the same report"
    (item,) = judge.get("/reports").json["items"]
    assert (item["match"], item["message"], item["text"], item["author"]["name"]) == (match_id, 2, "You fool.", "boris")
    assert [(each["reporter"]["name"], each["reason"]) for each in item["reports"]] == [("anna", "An insult.")]
    assert anna.get("/reports").json["code"] == "role-required"


def test_what_an_arbiter_hides_is_hidden_from_everybody_and_on_record(
    anna: Caller, boris: Caller, judge: Caller, services: Services, match_id: str
) -> None:
    report(anna, match_id)
    assert judge.post(f"/matches/{match_id}/chat/2/hiding").status_code == 204
    assert texts(boris, match_id) == texts(anna, match_id) == [("good luck", False), ("", True)]
    assert judge.get("/reports").json["items"] == []
    last = services.administration.acts()[-1]
    assert (last.act, last.actor, dict(last.facts)) == ("message-hidden", judge.id, {"match": match_id, "message": 2})
    assert judge.post(f"/matches/{match_id}/chat/2/showing").status_code == 204
    assert texts(boris, match_id) == [("good luck", False), ("You fool.", False)]


def test_what_an_arbiter_lets_stand_is_shown_to_its_reporter_again(anna: Caller, judge: Caller, match_id: str) -> None:
    report(anna, match_id)
    assert judge.post(f"/matches/{match_id}/chat/2/showing").status_code == 204
    assert len(texts(anna, match_id)) == 2
    assert judge.get("/reports").json["items"] == []


def test_an_arbiter_cannot_judge_messages_of_their_own_match(anna: Caller, services: Services, match_id: str) -> None:
    services.administration.grant(anna.id, "arbiter", "console")
    assert anna.post(f"/matches/{match_id}/chat/2/hiding").json["code"] == "conflict-of-interest"


@pytest.mark.parametrize("act", ["reports", "hiding", "showing"])
def test_a_message_that_there_is_not_is_said_so(anna: Caller, judge: Caller, match_id: str, act: str) -> None:
    who, body = (anna, {"reason": "x"}) if act == "reports" else (judge, {})
    assert who.post(f"/matches/{match_id}/chat/3/{act}", body).json["code"] == "no-such-message"


def test_who_does_not_hear_a_chat_cannot_report_what_is_said_there(judge: Caller, app: Flask, match_id: str) -> None:
    clara = Caller(app).sign_up("clara")
    assert clara.post(f"/matches/{match_id}/chat/2/reports", {"reason": "x"}).json["code"] == "chat-closed"


def test_reports_are_limited(server: RealServer) -> None:
    app = app_on(server.url, Limits(reports="1/day"))
    anna, boris = Caller(app).sign_up("anna"), Caller(app).sign_up("boris")
    match_id = started(anna, boris)
    boris.post(f"/matches/{match_id}/chat", {"text": "a"})
    assert report(anna, match_id, 1) == 204
    assert report(anna, match_id, 1) == 429


def test_the_erasure_of_a_reporter_takes_the_report_back_and_that_of_an_author_the_text(
    anna: Caller, boris: Caller, judge: Caller, services: Services, match_id: str
) -> None:
    report(anna, match_id)
    report(boris, match_id, 1, "Sarcasm.")
    services.chats.erase(boris.id)
    assert [item["text"] for item in judge.get("/reports").json["items"]] == ["good luck", ""]
    services.reports.erase(anna.id)
    services.reports.erase(boris.id)
    assert judge.get("/reports").json["items"] == []
    assert not [key for key in services.store.client.scan_iter() if b"report" in key and b":limits:" not in key]


@pytest.mark.parametrize("number", [2**31, 2**64, 10**30])
def test_a_message_of_a_huge_number_is_none(anna: Caller, judge: Caller, match_id: str, number: int) -> None:
    assert report(anna, match_id, number) == 404
    assert judge.post(f"/matches/{match_id}/chat/{number}/hiding").status_code == 404
