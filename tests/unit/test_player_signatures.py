"""Acts that players have signed: what a bundle proves of them, and that nothing else passes for a signature."""

import base64
import json
from dataclasses import replace
from hashlib import sha256
from typing import Any

import pytest

from domain.match import commands as c
from events.proof.player_signatures import Statement
from events.proof.verification import FaultyBundleError, place_in_words, verify
from events.store.converter import write_value
from tests.support.bundles import after_two_plies, bundle_of, disputed, keys
from tests.support.forging import adding, forged, saying, without
from tests.support.player_key_vectors import (
    DIRECTORY,
    FAULTS,
    RESIGNED,
    STEP,
    resigned_with,
    signed_otherwise,
    slug,
    vectors,
)
from tests.support.player_keys import BROWSER, DEVICE, PASSKEY, Signer
from tests.support.verifying import fault, steps


@pytest.mark.parametrize("signer", [DEVICE, BROWSER, PASSKEY], ids=["device", "browser", "passkey"])
def test_a_signed_resignation_is_proved_by_the_key_in_its_event(signer: Signer) -> None:
    found = steps(bundle_of(resigned_with(signer)))
    kind = "device key" if signer.origin is None else "passkey"
    where = "" if signer.origin is None else f" on {signer.origin}"
    said = f"signed by players: resignation of bob (version 6) by {kind} {signer.id}{where}. That a key is its player's"
    assert found["player keys"].found.startswith(said)
    assert found["player keys"].proved
    assert list(found)[-2:] == ["player keys", "checkpoint"]


def test_offer_agreement_and_appeal_are_signed_in_the_same_way() -> None:
    match = after_two_plies()
    match.do(c.OfferDraw(player="alice", signed=DEVICE.sign(match, "draw-offered", 0)))
    match.do(c.AcceptDraw(player="bob", signed=PASSKEY.sign(match, "draw-accepted", 1)))
    words = steps(bundle_of(match))["player keys"].found
    assert "draw offer of alice (version 6)" in words
    assert "agreement to a draw of bob (version 7)" in words
    case = disputed()
    case.do(c.Appeal(player="bob", statement="0" * 64, signed=DEVICE.sign(case, "ruling-appealed", 1)))
    assert "appeal of bob" in steps(bundle_of(case))["player keys"].found


def test_an_offer_where_a_draw_is_on_offer_is_agreement_without_the_signature_under_an_offer() -> None:
    match = after_two_plies()
    match.do(c.OfferDraw(player="alice"))
    match.do(c.OfferDraw(player="bob", signed=DEVICE.sign(match, "draw-offered", 1)))
    assert "player keys" not in steps(bundle_of(match))


@pytest.mark.parametrize("name", FAULTS)
def test_a_signature_that_is_not_the_keys_is_refused_with_its_place(name: str) -> None:
    packed, place = signed_otherwise(name), FAULTS[name][2]
    for rules in (True, False):
        found = fault(packed, rules=rules)
        assert isinstance(found, FaultyBundleError)
        assert (found.step, found.place) == ("player keys", f"version 6, data.signed{place}")


@pytest.mark.parametrize(
    ("signer", "place"),
    [
        (replace(PASSKEY, flags=4), ".authenticator_data"),
        (replace(PASSKEY, client={"type": "webauthn.create"}), ".client_data"),
        (replace(PASSKEY, client={"crossOrigin": True}), ".client_data"),
        (replace(PASSKEY, client={"origin": "android:apk-key-hash:x"}), ".client_data"),
        (replace(PASSKEY, client={"challenge": "A" * 43}), ".client_data"),
    ],
    ids=["nobody present", "made, not used", "another site", "an app", "another challenge"],
)
def test_an_assertion_that_was_made_for_something_else_is_refused(signer: Signer, place: str) -> None:
    assert fault(bundle_of(resigned_with(signer))).place == f"version 6, data.signed{place}"


def test_a_signature_cannot_be_moved_to_another_act_seat_match_or_time() -> None:
    match = after_two_plies()
    for act, seat in (("draw-offered", 1), ("player-resigned", 0)):
        other = after_two_plies()
        other.do(c.Resign(player="bob", signed=DEVICE.sign(match, act, seat)))
        assert fault(bundle_of(other)).place == "version 6, data.signed.signature"
    match.do(c.OfferDraw(player="bob", signed=DEVICE.sign(match, "draw-offered", 1)))
    event = match.events[-1]
    match.do(c.DeclineDraw(player="alice"))
    match.move("alice", "d4-c5")
    again = forged(match, without(8), adding(8, event, "bob"))
    assert fault(again, rules=False).place == "version 8, data.signed.version"


@pytest.mark.parametrize(
    ("content", "place"),
    [
        ("yes", ""),
        ({"kind": "device"}, ""),
        ({"kind": "tattoo"}, ".kind"),
        ({"kind": "device", "more": 1}, ""),
        ({"key": {"crv": 5}}, ".key.crv"),
        ({"version": None}, ".version"),
    ],
)
def test_a_malformed_signature_is_refused_with_its_place_without_any_rules(content: Any, place: str) -> None:
    packed = forged(resigned_with(DEVICE), saying(RESIGNED, signed=content))
    assert fault(packed, rules=False).place == f"version 6, data.signed{place}"
    assert fault(packed).place.startswith("version 6")


def test_only_acts_that_settle_a_match_are_signed() -> None:
    match = after_two_plies()
    signed = write_value(DEVICE.sign(match, "move-submitted", 1, 3))
    assert fault(forged(match, saying(4, signed=signed)), rules=False).place == "version 4, data.signed"


def test_what_is_hashed_to_a_challenge_is_as_the_document_says() -> None:
    statement = {"act": "player-resigned", "digest": "ab" * 32, "match": "m", "seat": 1, "version": 5}
    text = json.dumps(statement, sort_keys=True, separators=(",", ":"))
    expected = sha256(b"rookery act 1\n" + text.encode()).digest()
    assert Statement("player-resigned", "ab" * 32, "m", 1, 5).challenge == expected


def test_the_published_vectors_are_those_that_the_program_writes_and_hold_here() -> None:
    files = {path.name: json.loads(path.read_text()) for path in DIRECTORY.iterdir()}
    assert files == {f"{slug(each['name'])}.json": each for each in vectors()}
    for each in files.values():
        given, proved, found = each["given"], [], None
        expected = each["expect"]["fault"] and (STEP, place_in_words(each["expect"]["fault"]["place"]))
        try:
            for step in verify(base64.b64decode(given["bundle"]), keys(), rules=False):
                proved += [step.name] * step.proved
        except FaultyBundleError as fault:
            found = fault.step, fault.place
        assert (proved, found) == (each["expect"]["proved"], expected), each["name"]
