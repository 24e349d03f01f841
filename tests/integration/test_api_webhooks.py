"""Webhooks through the API: created with secrets that are shown once, changed, tested, sent again, deleted."""

import io
import json
import zipfile
from typing import Any

import pytest

from api.services import Services
from events.notify.endpoints import MAX_ENDPOINTS_PER_PERSON, SentWebhook
from events.notify.notice import DeliveryState, Notice, NoticeChannel, NoticeDelivery, NoticeKind, notice_id
from events.notify.outbox import Dispatch, Purpose
from tests.support.callers import UNLIMITED, Answer, Caller, app_on
from tests.support.server import RealServer
from tests.support.tables import table

WANTED = {"url": "https://hooks.example/rookery", "kinds": ["turn", "ended"]}


def created(caller: Caller, **more: Any) -> Any:
    answer = caller.post("/me/webhooks", {**WANTED, **more})
    assert answer.status_code == 201, answer.text
    return answer.json


def dispatches(services: Services, caller: Caller) -> list[Dispatch]:
    return services.outbox.of(caller.id)


def logged(webhook_id: str, type: str = "match.turn") -> SentWebhook:
    return SentWebhook(
        webhook_id=webhook_id,
        type=type,
        match=None,
        at=1_700_000_000_000,
        took_ms=3,
        url=WANTED["url"],  # type: ignore[arg-type]
        headers={"webhook-id": webhook_id},
        body="{}",
        status=200,
        answer="fine",
        delivered=True,
        outcome="Delivered.",
    )


def code(answer: Answer) -> str:
    return str(answer.json["code"])


def test_the_secret_is_shown_once_and_the_public_key_always(anna: Caller) -> None:
    made = created(anna)
    assert made["secret"].startswith("whsec_")
    shown = anna.get(f"/me/webhooks/{made['id']}").json
    assert shown == {name: value for name, value in made.items() if name != "secret"}
    assert (shown["url"], shown["kinds"], shown["payload"]) == (*WANTED.values(), "full")
    assert shown["public_key"].startswith("whpk_")
    assert (shown["enabled"], shown["disabled_reason"]) == (True, None)
    listed = anna.get("/me/webhooks")
    assert listed.json["items"] == [shown]
    assert "whsec_" not in listed.text
    assert "whsk_" not in listed.text


def test_webhooks_of_others_are_not_there(anna: Caller, boris: Caller) -> None:
    path = f"/me/webhooks/{created(anna)['id']}"
    change = {**WANTED, "enabled": False}
    answers = [
        boris.get(path),
        boris.put(path, change),
        boris.delete(path),
        boris.post(f"{path}/secrets", {}),
        boris.post(f"{path}/tests", {}),
        boris.get(f"{path}/deliveries"),
        boris.post(f"{path}/deliveries/d/attempts", {}),
    ]
    assert {code(answer) for answer in answers} == {"no-such-webhook"}
    assert boris.get("/me/webhooks").json["items"] == []


@pytest.mark.parametrize(("url", "reason"), table(__file__, "an address that will never be called is refused"))
def test_an_address_that_will_never_be_called_is_refused_with_the_reason(anna: Caller, url: str, reason: str) -> None:
    refused = anna.post("/me/webhooks", {**WANTED, "url": url})
    assert (refused.status_code, code(refused)) == (422, "invalid-webhook-address")
    assert reason in refused.json["detail"]
    assert anna.get("/me/webhooks").json["items"] == []


@pytest.mark.parametrize("kinds", [[], ["turn", "turn"], ["moon"], "turn"])
def test_kinds_are_named_once_each(anna: Caller, kinds: Any) -> None:
    refused = anna.post("/me/webhooks", {**WANTED, "kinds": kinds})
    assert code(refused) == "invalid-fields"
    assert "kinds" in str(refused.json["errors"])


def test_a_person_has_five_webhooks_at_most(anna: Caller) -> None:
    for _ in range(MAX_ENDPOINTS_PER_PERSON):
        created(anna)
    assert code(anna.post("/me/webhooks", WANTED)) == "too-many-webhooks"


def test_addresses_that_are_named_and_failures_that_are_forgotten_are_limited(server: RealServer) -> None:
    anna = Caller(app_on(server.url, UNLIMITED._replace(webhook_addresses="3/hour"))).sign_up("anna")
    path = f"/me/webhooks/{created(anna)['id']}"
    other = {**WANTED, "url": "https://hooks.example/other", "payload": "full", "enabled": True}
    for change in ({}, {"kinds": ["turn"]}, {"enabled": False}, {"enabled": True}):
        assert anna.put(path, {**other, **change}).status_code == 200
    for refused in (anna.put(path, {**other, **WANTED}), anna.post("/me/webhooks", WANTED)):
        assert (refused.status_code, code(refused)) == (429, "too-many-requests")


def test_guests_have_no_webhooks(stranger: Caller) -> None:
    stranger.play_as_guest()
    assert code(stranger.post("/me/webhooks", WANTED)) == "sign-up-required"


def test_a_webhook_is_changed_switched_off_and_on_again(anna: Caller, services: Services) -> None:
    made = created(anna)
    path = f"/me/webhooks/{made['id']}"
    off = anna.put(path, {"url": "https://other.example/", "kinds": ["chat"], "payload": "thin", "enabled": False}).json
    assert (off["url"], off["kinds"], off["payload"], off["enabled"]) == (
        "https://other.example/",
        ["chat"],
        "thin",
        False,
    )
    assert off["disabled_reason"] == "You have switched it off."
    found = services.endpoints.find(anna.id, made["id"])
    assert not found.wants(NoticeKind.CHAT)
    on = anna.put(path, {**WANTED, "enabled": True}).json
    assert (on["enabled"], on["disabled_reason"]) == (True, None)


def test_a_new_secret_signs_beside_the_old_one(anna: Caller, services: Services) -> None:
    made = created(anna)
    fresh = anna.post(f"/me/webhooks/{made['id']}/secrets", {}).json
    assert fresh["secret"] != made["secret"]
    assert anna.get(f"/me/webhooks/{made['id']}").json["public_key"] == fresh["public_key"]
    keys = services.endpoints.find(anna.id, made["id"]).keys_at(services.now())
    assert [each.secret for each in keys] == [fresh["secret"], made["secret"]]


def test_a_deleted_webhook_is_gone(anna: Caller) -> None:
    path = f"/me/webhooks/{created(anna)['id']}"
    assert anna.delete(path).status_code == 204
    assert code(anna.delete(path)) == "no-such-webhook"
    assert anna.get("/me/webhooks").json["items"] == []


def test_a_test_is_put_into_the_outbox(anna: Caller, services: Services) -> None:
    made = created(anna)
    queued = anna.post(f"/me/webhooks/{made['id']}/tests", {})
    assert queued.status_code == 202
    (dispatch,) = dispatches(services, anna)
    assert (dispatch.id, dispatch.target) == (queued.json["webhook_id"], made["id"])
    assert (dispatch.channel, dispatch.purpose) == (NoticeChannel.WEBHOOK, Purpose.TEST)


def test_deliveries_are_listed_the_latest_first(anna: Caller, services: Services) -> None:
    made = created(anna)
    for number in range(12):
        services.endpoints.log(anna.id, made["id"], logged(f"n{number}"))
    path = f"/me/webhooks/{made['id']}/deliveries"
    assert [each["webhook_id"] for each in anna.get(path).json["items"]] == [f"n{n}" for n in range(11, 1, -1)]
    first = anna.get(f"{path}?limit=1").json["items"][0]
    assert (first["status"], first["answer"], first["outcome"]) == (200, "fine", "Delivered.")


def test_a_notice_of_the_ledger_is_sent_again_under_its_id(anna: Caller, services: Services) -> None:
    made, id, now = created(anna), notice_id("turn:m:1", anna.id), services.now()
    sent = NoticeDelivery(
        channel=NoticeChannel.WEBHOOK, target=made["id"], state=DeliveryState.SENT, reason="Sent.", at=now
    )
    services.ledger.decide(
        Notice(
            id=id, player=anna.id, kind=NoticeKind.TURN, match="m", version=3, fact="turn:m:1",
            summary="It is your turn.", reason="You want to be told.", at=now, decided_at=now, deliveries=(sent,),
        )
    )  # fmt: skip
    path = f"/me/webhooks/{made['id']}/deliveries"
    assert anna.post(f"{path}/{id}/attempts", {}).json == {"webhook_id": id}
    (dispatch,) = dispatches(services, anna)
    assert (dispatch.notices, dispatch.target, dispatch.requested) == ((id,), made["id"], True)
    assert code(anna.post(f"{path}/unknown/attempts", {})) == "no-such-delivery"


def test_a_test_that_is_sent_again_is_another_test(anna: Caller, services: Services) -> None:
    made = created(anna)
    services.endpoints.log(anna.id, made["id"], logged("t1", "test"))
    queued = anna.post(f"/me/webhooks/{made['id']}/deliveries/t1/attempts", {}).json
    (dispatch,) = dispatches(services, anna)
    assert dispatch.id == queued["webhook_id"] != "t1"
    assert dispatch.purpose == Purpose.TEST


def test_the_archive_has_webhooks_without_secrets_and_an_erasure_removes_them(anna: Caller, services: Services) -> None:
    made = created(anna)
    services.endpoints.log(anna.id, made["id"], logged("n1"))
    archive = zipfile.ZipFile(io.BytesIO(anna.get("/me/archive").data))
    (exported,) = json.loads(archive.read("webhooks.json"))
    assert (exported["url"], exported["attempts"][0]["answer"]) == (WANTED["url"], "fine")
    assert "whsec_" not in archive.read("webhooks.json").decode()
    assert anna.post("/me/erasure", {"name": "anna"}).status_code == 200
    assert services.endpoints.of(anna.id) == []
