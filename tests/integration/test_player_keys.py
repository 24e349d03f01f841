"""Keys of players: how they are added, what they sign, and what is kept of them."""

from dataclasses import replace

import pytest
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from flask import Flask
from webauthn import verify_authentication_response
from webauthn.helpers import base64url_to_bytes, parse_attestation_object

from api.services import Services
from domain.match.terms import DAY
from events.people.player_keys import ADDED, MAX_PLAYER_KEYS, REMOVED
from events.proof.player_signatures import base64url, check_signed
from events.proof.verification import verify
from events.runtime.wall_clock import rfc3339
from tests.support.callers import Caller, started
from tests.support.player_keys import (
    BROWSER,
    DEVICE,
    ORIGIN,
    PASSKEY,
    Authenticator,
    Signer,
    add_device_key,
    signed_act,
)
from tests.support.stored import stored


@pytest.fixture
def arbiter(app: Flask, services: Services) -> Caller:
    """Return a person with the role of an arbiter."""
    caller = Caller(app).sign_up("clara")
    services.administration.grant(caller.id, "arbiter", "console")
    return caller


def add_passkey(caller: Caller, name: str = "A passkey", **more: str) -> int:
    """Let ``caller`` add a passkey; return the status."""
    nonce = caller.post("/me/player-key-nonces").json["nonce"]
    made = Authenticator().make(nonce, **more)
    sent = {"name": name, "password": f"the secret of {caller.name}", "nonce": nonce, "passkey": made}
    return caller.post("/me/player-keys", sent).status_code


def steps(caller: Caller, match_id: str) -> dict[str, str]:
    """Return what a verifier finds in the bundle of the match, by step."""
    packed = caller.get(f"/matches/{match_id}/bundle").data
    return {step.name: step.found for step in verify(packed)}


def test_keys_are_added_with_the_password_and_stand_in_the_log_of_administration(
    anna: Caller, services: Services
) -> None:
    added = add_device_key(anna, name="The old laptop")
    assert (added.status_code, added.json["id"], added.json["kind"]) == (201, DEVICE.id, "device")
    assert add_passkey(anna) == 201
    listed = anna.get("/me/player-keys").json
    assert [(key["name"], key["kind"]) for key in listed["items"]] == [
        ("The old laptop", "device"),
        ("A passkey", "passkey"),
    ]
    assert listed["items"][1]["id"] == PASSKEY.id
    assert listed["items"][1]["credential"] == Authenticator().credential
    assert anna.delete(f"/me/player-keys/{DEVICE.id}").status_code == 204
    assert anna.delete(f"/me/player-keys/{DEVICE.id}").json["code"] == "no-such-player-key"
    acts = [(act.act, act.actor, act.facts["key"]) for act in services.administration.acts()]
    assert acts == [(ADDED, anna.id, DEVICE.id), (ADDED, anna.id, PASSKEY.id), (REMOVED, anna.id, DEVICE.id)]
    assert services.administration.acts()[0].facts["public"] == added.json["key"]
    assert services.administration.verify() == 3


def test_a_key_is_not_added_without_password_nonce_or_its_private_part(anna: Caller, app: Flask) -> None:
    nonce = anna.post("/me/player-key-nonces").json["nonce"]
    passkey = Authenticator().make(nonce)
    sent = {"name": "A key", "password": "not the secret", "nonce": nonce, "passkey": passkey}
    assert anna.post("/me/player-keys", sent).json["errors"] == {"password": ["is not your password"]}
    sent["password"] = "the secret of anna"
    assert anna.post("/me/player-keys", sent).status_code == 201
    assert anna.post("/me/player-keys", sent).json["errors"].keys() == {"nonce"}
    assert add_passkey(anna, origin="https://elsewhere.example") == 422
    nonce = anna.post("/me/player-key-nonces").json["nonce"]
    device = {"key": {"crv": "Ed25519", "kty": "OKP", "x": DEVICE.public.x}, "signature": "00" * 64}
    sent = {"name": "A key", "password": "the secret of anna", "nonce": nonce, "device": device}
    assert anna.post("/me/player-keys", sent).json["code"] == "invalid-player-key"
    guest = Caller(app).play_as_guest()
    assert add_device_key(guest).json["code"] == "sign-up-required"
    assert len(anna.get("/me/player-keys").json["items"]) == 1


def test_a_person_has_a_limited_number_of_keys(anna: Caller) -> None:
    for seed in range(MAX_PLAYER_KEYS):
        assert add_device_key(anna, Signer(seed + 50)).status_code == 201
    assert add_device_key(anna, Signer(99)).json["code"] == "too-many-player-keys"
    assert add_device_key(anna, Signer(50), "A new name").status_code == 201


def test_a_signed_resignation_is_recorded_and_verified_in_the_bundle(anna: Caller, boris: Caller) -> None:
    assert add_device_key(anna, BROWSER).status_code == 201
    match_id = started(anna, boris)
    signed = signed_act(anna, BROWSER, match_id, "player-resigned", 0)
    body, key = {"signed": signed}, {"Idempotency_Key": "once"}
    first = anna.post(f"/matches/{match_id}/resignation", body, **key)
    assert first.status_code == 201
    assert first.json["events"][0]["data"]["signed"]["signature"] == signed["signature"]
    again = anna.post(f"/matches/{match_id}/resignation", body, **key)
    assert (again.status_code, again.json) == (201, first.json)
    assert f"by device key {BROWSER.id}" in steps(boris, match_id)["player keys"]


def test_a_draw_is_offered_and_agreed_with_a_passkey_and_without_a_key(anna: Caller, boris: Caller) -> None:
    assert add_passkey(anna) == 201
    match_id = started(anna, boris)
    offer = {"signed": signed_act(anna, PASSKEY, match_id, "draw-offered", 0)}
    assert anna.post(f"/matches/{match_id}/draw-offers", offer).status_code == 201
    assert boris.post(f"/matches/{match_id}/draw-acceptance").status_code == 201
    found = steps(anna, match_id)
    assert f"draw offer of {anna.id}" in found["player keys"]
    assert "agreement" not in found["player keys"]


def test_what_is_signed_by_a_passkey_is_what_another_implementation_verifies() -> None:
    made = parse_attestation_object(base64url_to_bytes(Authenticator().make("A" * 43)["attestation_object"]))
    assert made.auth_data.attested_credential_data is not None
    challenge = bytes(range(32))
    signed = PASSKEY.answer(challenge, 1)
    check_signed(signed, challenge)
    raw = bytes.fromhex(signed.signature)
    encoded = encode_dss_signature(int.from_bytes(raw[:32]), int.from_bytes(raw[32:]))
    answer = {
        "clientDataJSON": base64url((signed.client_data or "").encode()),
        "authenticatorData": base64url(bytes.fromhex(signed.authenticator_data or "")),
        "signature": base64url(encoded),
    }
    credential = Authenticator().credential
    verified = verify_authentication_response(
        credential={"id": credential, "rawId": credential, "type": "public-key", "response": answer},
        expected_challenge=challenge,
        expected_rp_id="localhost",
        expected_origin=ORIGIN,
        credential_public_key=made.auth_data.attested_credential_data.credential_public_key,
        credential_current_sign_count=0,
    )
    assert verified.credential_id == base64url_to_bytes(credential)


def test_a_signature_counts_on_the_match_that_was_seen_or_not_at_all(anna: Caller, boris: Caller) -> None:
    add_device_key(anna)
    match_id = started(anna, boris)
    early = signed_act(anna, DEVICE, match_id, "player-resigned", 0)
    assert anna.move(match_id).status_code == 201
    late = anna.post(f"/matches/{match_id}/resignation", {"signed": early})
    assert late.status_code in (409, 412)
    assert late.json["code"] == "stale-version"
    other = signed_act(anna, DEVICE, match_id, "draw-offered", 0)
    wrong = anna.post(f"/matches/{match_id}/resignation", {"signed": other})
    assert (wrong.status_code, wrong.json["code"]) == (422, "invalid-signature")
    assert wrong.json["errors"].keys() == {"signed.signature"}
    unknown = {**signed_act(anna, DEVICE, match_id, "player-resigned", 0), "key": BROWSER.id}
    assert anna.post(f"/matches/{match_id}/resignation", {"signed": unknown}).json["code"] == "no-such-player-key"
    beyond = {**early, "version": 999}
    assert anna.post(f"/matches/{match_id}/resignation", {"signed": beyond}).json["errors"].keys() == {"signed.version"}
    assert anna.get(f"/matches/{match_id}").json["status"] == "playing"


def test_a_passkey_of_another_site_signs_nothing_here(anna: Caller, boris: Caller) -> None:
    add_passkey(anna)
    match_id = started(anna, boris)
    elsewhere = replace(PASSKEY, origin="http://localhost:666")
    sent = {"signed": signed_act(anna, elsewhere, match_id, "player-resigned", 0)}
    assert anna.post(f"/matches/{match_id}/resignation", sent).json["errors"].keys() == {"signed.client_data"}


def test_an_appeal_is_signed_like_other_acts(anna: Caller, boris: Caller, services: Services, arbiter: Caller) -> None:
    add_device_key(anna)
    match_id = started(anna, boris)
    said = {"ply": 0, "ground": "conduct", "statement": "Not nice."}
    assert boris.post(f"/matches/{match_id}/disputes", said).status_code == 201
    ruling = {"ruling": "let-stand", "reason": "It was.", "rule": "12"}
    assert arbiter.post(f"/matches/{match_id}/rulings", ruling).status_code == 201
    signed = signed_act(anna, DEVICE, match_id, "ruling-appealed", 0)
    sent = {"statement": "It was not.", "signed": signed}
    assert anna.post(f"/matches/{match_id}/appeals", sent).status_code == 201
    assert f"appeal of {anna.id}" in steps(anna, match_id)["player keys"]


def test_a_pause_that_the_server_records_first_does_not_void_a_signature(
    anna: Caller, boris: Caller, services: Services
) -> None:
    add_device_key(anna)
    match_id = started(anna, boris)
    signed = signed_act(anna, DEVICE, match_id, "player-resigned", 0)
    until = rfc3339(services.now() + 3 * DAY)
    assert anna.post("/me/vacations", {"until": until}).status_code == 201
    assert anna.post(f"/matches/{match_id}/resignation", {"signed": signed}).status_code == 201
    types = [event["type"] for event in anna.get(f"/matches/{match_id}/events").json["items"]]
    assert types[-3:] == ["clock-paused", "player-resigned", "match-finished"]
    assert "player keys" in steps(anna, match_id)


def test_erasure_deletes_the_keys_and_their_names_and_bundles_still_verify(
    anna: Caller, boris: Caller, services: Services
) -> None:
    add_device_key(anna, name="The grey telephone")
    assert anna.put("/me/signing", {"signs_acts": True}).status_code == 204
    assert anna.get("/me/player-keys").json["signs_acts"]
    match_id = started(anna, boris)
    signed = signed_act(anna, DEVICE, match_id, "player-resigned", 0)
    assert anna.post(f"/matches/{match_id}/resignation", {"signed": signed}).status_code == 201
    assert anna.post("/me/erasure", {"name": "anna"}).status_code in (200, 202)
    kept = "".join(f"{key} {content!r}" for key, content in stored(services.store.client))
    assert "grey telephone" not in kept
    assert f"player-keys:{anna.id}" not in kept
    assert DEVICE.id in steps(boris, match_id)["player keys"]
