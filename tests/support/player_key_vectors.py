"""The vectors of docs/proof/player-keys.md."""

import base64
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from domain.games import find_ruleset
from domain.match import commands as c
from domain.match.enums import Channel
from domain.match.lines import ConditionalMoves, Line, Lines
from domain.match.player_signatures import PlayerSignature
from domain.match.terms import DAY
from events.proof.player_signatures import MOVE
from events.proof.public_keys import base64url, key_set
from events.store.converter import write_value
from tests.support.bundles import after_two_plies, bundle_of, keys
from tests.support.forging import Forgery, forged, saying
from tests.support.matches import PlayedMatch
from tests.support.player_keys import OTHER_SIGNER, SIGNER

DIRECTORY = Path(__file__).parents[2] / "docs" / "proof" / "vectors" / "player-keys"
STEP = "player keys"

RESIGNED = 6
"""The version of the resignation in the match of most vectors."""

FIELD = 2**256 - 2**224 + 2**192 + 2**96 - 1

Change = Callable[[PlayerSignature], PlayerSignature]


def _key(**members: str) -> Change:
    return lambda signed: replace(signed, key=replace(signed.key, **members))


FAULTS: dict[str, tuple[Change, str]] = {
    "another key": (lambda signed: replace(signed, key=OTHER_SIGNER.public), ".signature"),
    "a bit of the signature": (lambda signed: replace(signed, signature=_flipped(signed.signature)), ".signature"),
    "a signature of zeros": (lambda signed: replace(signed, signature="0" * 128), ".signature"),
    "a short signature": (lambda signed: replace(signed, signature=signed.signature[2:]), ".signature"),
    "capital digits": (lambda signed: replace(signed, signature="AB" * 64), ".signature"),
    "an earlier version": (lambda signed: replace(signed, version=2), ".version"),
    "its own version": (lambda signed: replace(signed, version=6), ".version"),
    "version 0": (lambda signed: replace(signed, version=0), ".version"), "another curve": (_key(crv="P-384"), ".key"),
    "another kind of key": (_key(kty="OKP"), ".key"), "no point": (_key(x="A" * 43), ".key"),
    "a coordinate that is not below the prime": (_key(x=base64url((FIELD + 5).to_bytes(32))), ".key"),
    "a padded coordinate": (lambda signed: replace(signed, key=replace(signed.key, x=signed.key.x + "=")), ".key"),
}  # fmt: skip


def _flipped(signature: str) -> str:
    return f"{int(signature, 16) ^ 1:0128x}"


def resigned() -> PlayedMatch:
    """Return a match that bob has resigned, signed by a key of his."""
    match = after_two_plies()
    match.do(c.Resign(player="bob", signed=SIGNER.sign_act(match, "player-resigned", 1)))
    return match


def moved() -> PlayedMatch:
    """Return a match whose third move alice has signed (version 6)."""
    match = after_two_plies()
    signed = SIGNER.sign_act(match, MOVE, 0, ["e3-f4"])
    match.do(c.SubmitMove(player="alice", move="e3-f4", channel=Channel.WEB, signed=signed))
    return match


def laid_down(answer: str = "f6-e5", *, time_given: bool = False) -> PlayedMatch:
    """Return a match in which bob's answer to e3-f4 was laid down and signed over version 5, and played.

    With ``time_given`` something else has happened between.
    """
    match = after_two_plies()
    signed = SIGNER.sign_act(match, MOVE, 1, ["e3-f4", answer])
    if time_given:
        match.do(c.GiveTime(player="alice", seat=1, time=DAY))
    line = Line(move="e3-f4", next=(Line(move=answer, signature=signed.signature),))
    rules = find_ruleset(match.state.game, match.state.ruleset)
    position = rules.format_position(match.state.play.position)
    lines = Lines(ply=2, position=position, first=(line,), key=signed.key, version=signed.version)
    match.orders = {1: ConditionalMoves(lines=lines)}
    match.move("alice", "e3-f4")
    return match


def signed_otherwise(name: str) -> bytes:
    """Return the bundle of a match whose resignation is signed wrongly in the way that FAULTS has under ``name``."""
    change, _ = FAULTS[name]
    signed = change(SIGNER.sign_act(after_two_plies(), "player-resigned", 1))
    return forged(resigned(), saying(RESIGNED, signed=write_value(signed)))


def _other_faults() -> Iterator[tuple[str, bytes, str]]:
    """Yield the name, the bundle and the place of the fault of signed moves that do not fit."""
    place = "events[5].data.signed"
    yield "another move", forged(moved(), saying(6, move="g3-f4")), f"{place}.signature"
    yield "another seat", forged(moved(), saying(6, seat=1)), f"{place}.signature"
    yield "a move that is no text", forged(moved(), saying(6, move=5)), "events[5].data.move"
    yield (
        "another move before an answer",
        forged(laid_down(), saying(6, move="g3-f4")),
        "events[6].data.signed.signature",
    )
    alone = write_value(SIGNER.sign_act(after_two_plies(), MOVE, 1, ["f6-e5"]))
    yield (
        "an answer signed without the move before it",
        forged(laid_down(), saying(7, signed=alone)),
        "events[6].data.signed.signature",
    )
    by_hand = forged(laid_down(time_given=True), saying(8, channel="web"))
    yield "a gift of time before a move by hand", by_hand, "events[7].data.signed.version"
    taken_back = forged(laid_down(time_given=True), _of_type(6, "moves-taken-back"))
    yield "moves taken back before an answer", taken_back, "events[7].data.signed.version"
    yield "a signed start", forged(moved(), saying(3, signed=alone)), "events[2].data.signed"


def _of_type(version: int, kind: str) -> Forgery:
    return lambda drafts: drafts.__setitem__(version - 1, drafts[version - 1]._replace(type=kind))


def vectors() -> Iterator[dict[str, Any]]:
    """Yield the vectors, in the form that docs/proof/bundle.md describes."""
    for name, match in (
        ("a resignation", resigned()),
        ("a move", moved()),
        ("an answer laid down beforehand", laid_down()),
        ("an answer laid down before time was given", laid_down(time_given=True)),
    ):
        yield _vector(name, bundle_of(match), None)
    for name, (_, place) in FAULTS.items():
        yield _vector(name, signed_otherwise(name), f"events[{RESIGNED - 1}].data.signed{place}")
    for name, packed, place in _other_faults():
        yield _vector(name, packed, place)
    yield _vector("the other valid signature", forged(resigned(), saying(RESIGNED, signed=_negated())), None)


def _negated() -> Any:
    """Return the resignation's signature (r, s) as (r, n - s), which is as valid."""
    order = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
    signed = SIGNER.sign_act(after_two_plies(), "player-resigned", 1)
    other = f"{order - int(signed.signature[64:], 16):064x}"
    return write_value(replace(signed, signature=signed.signature[:64] + other))


def files() -> Iterator[tuple[Path, str]]:
    for each in vectors():
        yield DIRECTORY / f"{slug(each['name'])}.json", json.dumps(each, indent=1, sort_keys=True) + "\n"


def slug(name: str) -> str:
    """Return the name of a vector's file, without its ending."""
    return re.sub("[^a-z0-9]+", "-", name.lower()).strip("-")


def _vector(name: str, packed: bytes, place: str | None) -> dict[str, Any]:
    given = {"bundle": base64.b64encode(packed).decode(), "keys": key_set(keys().values()), "policy": None}
    proved = ["well-formed", "chain", "signature"]
    if place is not None:
        return {"name": name, "given": given, "expect": {"proved": proved, "fault": {"step": STEP, "place": place}}}
    return {"name": name, "given": given, "expect": {"proved": [*proved, STEP], "fault": None}}
