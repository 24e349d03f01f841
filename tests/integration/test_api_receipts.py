"""Receipts: every acknowledged act is answered with one, and the bundle of the match contains it."""

from typing import Any

import pytest

from api.services import Services
from events.proof.bundle import read_bundle
from events.proof.documents import write_document
from events.proof.key_file import UnreadableKeyError
from events.proof.keys import KeyRing
from events.proof.public_keys import key_set
from events.proof.receipts import Comparison, Receipt, compare, read_receipt
from tests.support.callers import ME, OPEN, Caller, started


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
