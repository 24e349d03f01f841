"""Keys of players: how they are added, what they sign, and what is kept of them."""

import pytest
from flask import Flask

from api.services import Services
from domain.match.terms import DAY
from events.people.player_keys import ADDED, MAX_PLAYER_KEYS, REMOVED
from events.proof.player_signatures import MOVE
from events.proof.verification import verify
from events.runtime.wall_clock import rfc3339
from events.store.converter import write_value
from tests.support.callers import Caller, started
from tests.support.player_keys import OTHER_SIGNER, SIGNER, Signer, add_key, signed_act, signed_move, statement_now
from tests.support.second_verifier import second_verdicts
from tests.support.stored import stored
from tests.support.verdicts import given


@pytest.fixture
def arbiter(app: Flask, services: Services) -> Caller:
    caller = Caller(app).sign_up("clara")
    services.administration.grant(caller.id, "arbiter", "console")
    return caller


def steps(caller: Caller, match_id: str) -> dict[str, str]:
    packed = caller.get(f"/matches/{match_id}/bundle").data
    return {step.name: step.finding for step in verify(packed)}


def test_keys_are_added_with_the_password_and_logged_as_administration(anna: Caller, services: Services) -> None:
    added = add_key(anna, name="The old laptop")
    assert (added.status_code, added.json["id"], added.json["key"]) == (201, SIGNER.id, write_value(SIGNER.public))
    assert add_key(anna, OTHER_SIGNER).status_code == 201
    listed = anna.get("/me/player-keys").json
    assert [(key["name"], key["id"]) for key in listed["items"]] == [
        ("The old laptop", SIGNER.id),
        ("A key", OTHER_SIGNER.id),
    ]
    assert anna.delete(f"/me/player-keys/{SIGNER.id}").status_code == 204
    assert anna.delete(f"/me/player-keys/{SIGNER.id}").json["code"] == "no-such-player-key"
    acts = [(act.act, act.actor, act.facts["key"]) for act in services.administration.acts()]
    assert acts == [(ADDED, anna.id, SIGNER.id), (ADDED, anna.id, OTHER_SIGNER.id), (REMOVED, anna.id, SIGNER.id)]
    assert services.administration.acts()[0].facts["public"] == added.json["key"]
    assert services.administration.verify() == 3


def test_a_key_is_not_added_without_password_nonce_or_its_private_part(anna: Caller, app: Flask) -> None:
    nonce = anna.post("/me/player-key-nonces").json["nonce"]
    sent = {"name": "A key", "password": "not the secret", "nonce": nonce}
    sent |= {"key": write_value(SIGNER.public), "signature": "00" * 64}
    assert anna.post("/me/player-keys", sent).json["errors"] == {"password": ["is not your password"]}
    sent["password"] = "the secret of anna"
    assert anna.post("/me/player-keys", sent).json["errors"].keys() == {"signature"}
    assert anna.post("/me/player-keys", sent).json["errors"].keys() == {"nonce"}
    sent["key"] = {"crv": "Ed25519", "kty": "OKP", "x": SIGNER.public.x}
    assert anna.post("/me/player-keys", sent).json["errors"].keys() == {"key.crv", "key.kty", "key.y"}
    guest = Caller(app).play_as_guest()
    assert add_key(guest).json["code"] == "sign-up-required"
    assert anna.get("/me/player-keys").json["items"] == []


def test_a_person_has_a_limited_number_of_keys(anna: Caller) -> None:
    for seed in range(MAX_PLAYER_KEYS):
        assert add_key(anna, Signer(seed + 50)).status_code == 201
    assert add_key(anna, Signer(99)).json["code"] == "too-many-player-keys"
    assert add_key(anna, Signer(50), "A new name").status_code == 201


def test_a_signed_move_is_proved_by_both_verifiers_until_one_bit_is_changed(anna: Caller, boris: Caller) -> None:
    assert add_key(anna).status_code == 201
    match_id = started(anna, boris)
    body, key = signed_move(anna, SIGNER, match_id, 0, "c3-d4"), {"Idempotency_Key": "once"}
    first = anna.post(f"/matches/{match_id}/moves", body, **key)
    assert first.status_code == 201
    assert first.json["events"][0]["data"]["signed"]["signature"] == body["signed"]["signature"]
    again = anna.post(f"/matches/{match_id}/moves", body, **key)
    assert (again.status_code, again.json) == (201, first.json)
    packed = boris.get(f"/matches/{match_id}/bundle").data
    assert f"move of {anna.id} (version 4) by key {SIGNER.id}" in steps(boris, match_id)["player keys"]
    (whole,) = second_verdicts([given(packed)])
    assert whole == {"proved": ["well-formed", "chain", "player keys"], "fault": None}
    flipped = {"signature": f"{int(body['signed']['signature'], 16) ^ 1:0128x}"}
    wrong = anna.post(f"/matches/{match_id}/moves", {**body, "signed": {**body["signed"], **flipped}})
    assert wrong.json["code"] == "stale-version"


def test_a_signature_counts_for_its_move_alone_and_in_its_canonical_form(anna: Caller, boris: Caller) -> None:
    add_key(anna)
    match_id = started(anna, boris)
    for body, errors in (
        ({**signed_move(anna, SIGNER, match_id, 0, "c3-d4"), "move": "c3-b4"}, {"signed.signature"}),
        (signed_move(anna, SIGNER, match_id, 1, "c3-d4"), {"signed.signature"}),
        (signed_move(anna, OTHER_SIGNER, match_id, 0, "c3-d4"), set()),
        (signed_move(anna, SIGNER, match_id, 0, "C3-D4"), {"move"}),
    ):
        refused = anna.post(f"/matches/{match_id}/moves", body)
        assert (refused.status_code, {*refused.json.get("errors", {})}) == (422 if errors else 404, errors)
    assert anna.get(f"/matches/{match_id}").json["ply"] == 0
    turn = signed_move(anna, SIGNER, match_id, 0, "c3-d4")
    together = {"moves": [turn["move"]], "signed": turn["signed"]}
    assert anna.post(f"/matches/{match_id}/moves", together).status_code == 201


def test_conditional_moves_are_signed_singly_and_only_what_was_played_is_published(anna: Caller, boris: Caller) -> None:
    add_key(boris)
    match_id = started(anna, boris)
    seen = statement_now(boris, match_id, MOVE, 1)

    def line(move: str, answer: str) -> dict[str, object]:
        statement = seen._replace(moves=(move, answer))
        return {"move": move, "next": [{"move": answer, "signature": SIGNER.sign(statement.message)}]}

    lines = [line("c3-d4", "b6-a5"), line("c3-b4", "h6-g5")]
    signed = {"key": SIGNER.id, "version": seen.version}
    nameless = boris.put(f"/matches/{match_id}/lines", {"lines": lines})
    assert nameless.json["errors"].keys() == {"signed"}
    exchanged = [{**lines[0], "next": lines[1]["next"]}]
    wrong = boris.put(f"/matches/{match_id}/lines", {"lines": exchanged, "signed": signed})
    assert (wrong.status_code, wrong.json["errors"].keys()) == (422, {"lines.0.next.0.signature"})
    assert boris.put(f"/matches/{match_id}/lines", {"lines": lines, "signed": signed}).status_code == 200
    assert anna.move(match_id, "c3-d4").status_code == 201
    assert f"move of {boris.id} (version 5) by key {SIGNER.id}" in steps(anna, match_id)["player keys"]
    packed = anna.get(f"/matches/{match_id}/bundle").data
    assert b"h6-g5" not in packed
    assert str(lines[1]["next"]).encode() not in packed
    (verdict,) = second_verdicts([given(packed)])
    assert verdict["proved"] == ["well-formed", "chain", "player keys"]
    stale = boris.put(f"/matches/{match_id}/lines", {"lines": lines, "signed": signed})
    assert stale.json["code"] == "stale-version"


def test_a_signed_resignation_and_a_draw_are_recorded_and_verified_in_the_bundle(anna: Caller, boris: Caller) -> None:
    add_key(anna)
    match_id = started(anna, boris)
    offer = {"signed": signed_act(anna, SIGNER, match_id, "draw-offered", 0)}
    assert anna.post(f"/matches/{match_id}/draw-offers", offer).status_code == 201
    assert boris.post(f"/matches/{match_id}/draw-acceptance").status_code == 201
    found = steps(anna, match_id)
    assert f"draw offer of {anna.id}" in found["player keys"]
    assert "agreement" not in found["player keys"]
    match_id = started(anna, boris)
    leaving = {"signed": signed_act(anna, SIGNER, match_id, "player-resigned", 0)}
    assert anna.post(f"/matches/{match_id}/resignation", leaving).status_code == 201
    assert f"resignation of {anna.id}" in steps(boris, match_id)["player keys"]


def test_a_signature_counts_on_the_match_that_was_seen_or_not_at_all(anna: Caller, boris: Caller) -> None:
    add_key(anna)
    match_id = started(anna, boris)
    early = signed_act(anna, SIGNER, match_id, "player-resigned", 0)
    assert anna.move(match_id).status_code == 201
    late = anna.post(f"/matches/{match_id}/resignation", {"signed": early})
    assert late.status_code in (409, 412)
    assert late.json["code"] == "stale-version"
    other = signed_act(anna, SIGNER, match_id, "draw-offered", 0)
    wrong = anna.post(f"/matches/{match_id}/resignation", {"signed": other})
    assert (wrong.status_code, wrong.json["code"]) == (422, "invalid-signature")
    assert wrong.json["errors"].keys() == {"signed.signature"}
    unknown = {**signed_act(anna, SIGNER, match_id, "player-resigned", 0), "key": OTHER_SIGNER.id}
    assert anna.post(f"/matches/{match_id}/resignation", {"signed": unknown}).json["code"] == "no-such-player-key"
    beyond = {**early, "version": 999}
    assert anna.post(f"/matches/{match_id}/resignation", {"signed": beyond}).json["errors"].keys() == {"signed.version"}
    assert anna.get(f"/matches/{match_id}").json["status"] == "playing"


def test_an_appeal_is_signed_like_other_acts(anna: Caller, boris: Caller, services: Services, arbiter: Caller) -> None:
    add_key(anna)
    match_id = started(anna, boris)
    said = {"ply": 0, "ground": "conduct", "statement": "Not nice."}
    assert boris.post(f"/matches/{match_id}/disputes", said).status_code == 201
    ruling = {"ruling": "let-stand", "reason": "It was.", "rule": "12"}
    assert arbiter.post(f"/matches/{match_id}/rulings", ruling).status_code == 201
    signed = signed_act(anna, SIGNER, match_id, "ruling-appealed", 0)
    sent = {"statement": "It was not.", "signed": signed}
    assert anna.post(f"/matches/{match_id}/appeals", sent).status_code == 201
    assert f"appeal of {anna.id}" in steps(anna, match_id)["player keys"]


def test_a_pause_recorded_first_does_not_void_a_signature(anna: Caller, boris: Caller, services: Services) -> None:
    add_key(anna)
    match_id = started(anna, boris)
    signed = signed_act(anna, SIGNER, match_id, "player-resigned", 0)
    until = rfc3339(services.now() + 3 * DAY)
    assert anna.post("/me/vacations", {"until": until}).status_code == 201
    assert anna.post(f"/matches/{match_id}/resignation", {"signed": signed}).status_code == 201
    types = [event["type"] for event in anna.get(f"/matches/{match_id}/events").json["items"]]
    assert types[-3:] == ["clock-paused", "player-resigned", "match-finished"]
    assert "player keys" in steps(anna, match_id)


def test_erasure_deletes_keys_and_bundles_still_verify(anna: Caller, boris: Caller, services: Services) -> None:
    add_key(anna, name="The grey telephone")
    match_id = started(anna, boris)
    signed = signed_act(anna, SIGNER, match_id, "player-resigned", 0)
    assert anna.post(f"/matches/{match_id}/resignation", {"signed": signed}).status_code == 201
    assert anna.post("/me/erasure", {"name": "anna"}).status_code in (200, 202)
    kept = "".join(f"{key} {content!r}" for key, content in stored(services.store.client))
    assert "grey telephone" not in kept
    assert f"player-keys:{anna.id}" not in kept
    assert SIGNER.id in steps(boris, match_id)["player keys"]
