"""The vectors of docs/proof/player-keys.md: `python -m tests.support.player_key_vectors` writes them again."""

import base64
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from domain.match import commands as c
from domain.match.enums import PlayerKeyKind
from domain.match.events import PlayerResigned
from domain.match.player_signatures import PlayerSignature
from events.proof.public_keys import key_set
from events.store.converter import write_value
from tests.support.bundles import after_two_plies, bundle_of, keys
from tests.support.forging import forged, saying
from tests.support.matches import PlayedMatch
from tests.support.player_keys import BROWSER, DEVICE, PASSKEY, Signer

DIRECTORY = Path(__file__).parents[2] / "docs" / "proof" / "vectors" / "player-keys"

RESIGNED = 6
"""The version of the resignation in the match of these vectors."""

Change = Callable[[PlayerSignature], PlayerSignature]

FAULTS: dict[str, tuple[Signer, Change, str]] = {
    "another key": (DEVICE, lambda signed: replace(signed, key=BROWSER.public), ".signature"),
    "a bit of the signature": (
        DEVICE,
        lambda signed: replace(signed, signature="00" + signed.signature[2:]),
        ".signature",
    ),
    "a short signature": (DEVICE, lambda signed: replace(signed, signature=signed.signature[2:]), ".signature"),
    "capital digits": (DEVICE, lambda signed: replace(signed, signature="AB" * 64), ".signature"),
    "an earlier version": (DEVICE, lambda signed: replace(signed, version=4), ".version"),
    "its own version": (DEVICE, lambda signed: replace(signed, version=6), ".version"),
    "version 0": (DEVICE, lambda signed: replace(signed, version=0), ".version"),
    "no curve": (DEVICE, lambda signed: replace(signed, key=replace(signed.key, crv="X25519")), ".key"),
    "a coordinate too many": (DEVICE, lambda signed: replace(signed, key=replace(signed.key, y="A" * 43)), ".key"),
    "no point": (BROWSER, lambda signed: replace(signed, key=replace(signed.key, x="A" * 43)), ".key"),
    "a padded coordinate": (
        BROWSER,
        lambda signed: replace(signed, key=replace(signed.key, x=signed.key.x + "=")),
        ".key",
    ),
    "a device key with client data": (DEVICE, lambda signed: replace(signed, client_data="{}"), ".client_data"),
    "a device key with authenticator data": (
        DEVICE,
        lambda signed: replace(signed, authenticator_data="00"),
        ".authenticator_data",
    ),
    "a passkey that says it is a device key": (
        PASSKEY,
        lambda signed: replace(signed, kind=PlayerKeyKind.DEVICE),
        ".authenticator_data",
    ),
    "no authenticator data": (PASSKEY, lambda signed: replace(signed, authenticator_data=None), ".authenticator_data"),
    "no client data": (PASSKEY, lambda signed: replace(signed, client_data=None), ".client_data"),
    "client data that is no JSON": (PASSKEY, lambda signed: replace(signed, client_data="{"), ".client_data"),
    "client data that is no object": (PASSKEY, lambda signed: replace(signed, client_data="[]"), ".client_data"),
    "client data with too many brackets": (
        PASSKEY,
        lambda signed: replace(signed, client_data=_with_member(signed, "[" * 1500 + "]" * 1500)),
        ".client_data",
    ),
    "client data with a long number": (
        PASSKEY,
        lambda signed: replace(signed, client_data=_with_member(signed, "9" * 5000)),
        ".signature",
    ),
    "another counter": (
        PASSKEY,
        lambda signed: replace(signed, authenticator_data=(signed.authenticator_data or "")[:-1] + "8"),
        ".signature",
    ),
    "another relying party": (
        PASSKEY,
        lambda signed: replace(signed, authenticator_data="00" * 37),
        ".authenticator_data",
    ),
}


def _with_member(signed: PlayerSignature, value: str) -> str:
    return f'{(signed.client_data or "").removesuffix("}")},"more":{value}}}'


def resigned_with(signer: Signer) -> PlayedMatch:
    """Return a match that bob has resigned, signed by a key of his."""
    match = after_two_plies()
    match.do(c.Resign(player="bob", signed=signer.sign(match, "player-resigned", 1)))
    return match


def signed_otherwise(name: str) -> bytes:
    """Return the bundle of a match whose resignation is signed wrongly in the way that FAULTS has under ``name``."""
    signer, change, _ = FAULTS[name]
    match = resigned_with(signer)
    event = match.events[RESIGNED - 1]
    assert isinstance(event, PlayerResigned)
    assert event.signed is not None
    return forged(match, saying(RESIGNED, signed=write_value(change(event.signed))))


def vectors() -> Iterator[dict[str, Any]]:
    """Yield the vectors, in the form that docs/proof/bundle.md describes."""
    for name, signer in (("a device key", DEVICE), ("a key of a browser", BROWSER), ("a passkey", PASSKEY)):
        yield _vector(name, bundle_of(resigned_with(signer)), None)
    for name, (_, _, place) in FAULTS.items():
        yield _vector(name, signed_otherwise(name), f"events[{RESIGNED - 1}].data.signed{place}")


def slug(name: str) -> str:
    """Return the name of a vector's file, without its ending."""
    return re.sub("[^a-z0-9]+", "-", name.lower()).strip("-")


def _vector(name: str, packed: bytes, place: str | None) -> dict[str, Any]:
    given = {"bundle": base64.b64encode(packed).decode(), "keys": key_set(keys().values()), "policy": None}
    proved = ["well-formed", "chain", "signature"]
    if place is not None:
        return {"name": name, "given": given, "expect": {"proved": proved, "fault": {"step": STEP, "place": place}}}
    return {"name": name, "given": given, "expect": {"proved": [*proved, STEP], "fault": None}}


STEP = "player keys"

if __name__ == "__main__":
    DIRECTORY.mkdir(parents=True, exist_ok=True)
    for each in vectors():
        text = json.dumps(each, indent=1, sort_keys=True) + "\n"
        (DIRECTORY / f"{slug(each['name'])}.json").write_text(text, encoding="utf-8")
