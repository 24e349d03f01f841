"""Test vectors of receipts: what a bundle says to each, and the fault of every one that is no receipt."""

import json
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from events.proof.documents import write_document
from events.proof.public_keys import KeySet, key_set
from events.proof.receipts import make_receipt, write_receipt
from events.store.contract import Head
from tests.support.bundles import KEY, OTHER_KEY, SIGNED_AT, bundle_of, envelopes, resigned, taken_back
from tests.support.matches import T0, PlayedMatch

FOLDER = Path(__file__).parents[2] / "docs" / "proof" / "vectors" / "receipts"
INSTALLATION = "0123456789abcdef"
TRUSTED: KeySet = {KEY.id: KEY.public}
REVOKED: KeySet = {KEY.id: KEY.public._replace(revoked=SIGNED_AT)}
REVOKED_LATER: KeySet = {KEY.id: KEY.public._replace(revoked=SIGNED_AT + 1)}


def files() -> Iterator[tuple[Path, str]]:
    bundle = bundle_of(resigned())
    good = _receipt(resigned(), 5)
    later, earlier = SIGNED_AT + 1, SIGNED_AT - 4_001
    compared = [
        _vector("the receipt of a move", good, bundle, {"comparison": "contained"}),
        _vector("the receipt of the first event", _receipt(resigned(), 1), bundle, {"comparison": "contained"}),
        _vector("lines broken and quoted by a mail program", _quoted(good), bundle, {"comparison": "contained"}),
        _vector("another digest at that version", _receipt(taken_back(), 6), bundle, {"comparison": "contradicted"}),
        _vector("left out of a later bundle", _receipt(taken_back(), 9, earlier), bundle, {"comparison": "missing"}),
        _vector("newer than the bundle", _receipt(taken_back(), 9, later), bundle, {"comparison": "earlier"}),
        _vector("not surely older", _receipt(taken_back(), 9, earlier + 1), bundle, {"comparison": "earlier"}),
        _vector("signed before the key was revoked", _receipt(resigned(), 5, SIGNED_AT - 1), bundle,
                {"comparison": "contained"}, REVOKED_LATER),
    ]  # fmt: skip
    faulty = [
        _vector(name, _changed(good, **change), bundle, {"fault": place})
        for name, change, place in (
            ("another digest", {"digest": "0" * 64}, "signature"),
            ("another version", {"version": 6}, "signature"),
            ("another installation", {"installation": "another"}, "signature"),
            ("another instant", {"signed_at": SIGNED_AT + 1}, "signature"),
            ("a version before the first", {"version": 0}, "version"),
            ("a version that is a text", {"version": "5"}, "version"),
            ("another format", {"format": 2}, "format"),
            ("a key that is not trusted", {"key": OTHER_KEY.id}, "key"),
            ("a member too many", {"note": "x"}, ""),
            ("a digest in capitals", {"digest": json.loads(good)["digest"].upper()}, "digest"),
        )
    ]
    faulty += [
        _vector("a member is missing", _without(good, "installation"), bundle, {"fault": ""}),
        _vector("too large", good + b" " * 4096, bundle, {"fault": ""}),
        _vector("signed by a revoked key", good, bundle, {"fault": "signature"}, REVOKED),
        _vector("signed before the key was begun", _early(), bundle, {"fault": "signature"}),
        _vector("of another match", _receipt(resigned(), 5, match="another"), bundle, {"fault": "match"}),
    ]
    for name, vectors in (("compared", compared), ("faulty", faulty)):
        lines = ",\n".join(map(json.dumps, vectors))
        yield FOLDER / f"{name}.json", f"[\n{lines}\n]\n"


def _vector(name: str, receipt: bytes, bundle: bytes, expect: Any, keys: KeySet = TRUSTED) -> dict[str, Any]:
    given = {
        "bundle": b64encode(bundle).decode(),
        "keys": key_set(keys.values()),
        "receipt": b64encode(receipt).decode(),
    }
    return {"name": name, "given": given, "expect": expect}


def _receipt(played: PlayedMatch, version: int, signed_at: int = SIGNED_AT, match: str = "m") -> bytes:
    digest = envelopes(played.events, "m")[version - 1].digest
    return write_receipt(make_receipt(match, Head(version, digest), INSTALLATION, KEY, signed_at))


def _early() -> bytes:
    """Return a receipt with a valid signature that is dated before its key was in use."""
    statement = {**json.loads(_receipt(resigned(), 5)), "signed_at": T0 - 1}
    signed = {name: statement[name] for name in ("digest", "installation", "match", "signed_at", "version")}
    return write_document({**statement, "signature": KEY.sign("rookery receipt 1", signed)})


def _changed(receipt: bytes, **change: Any) -> bytes:
    return write_document({**json.loads(receipt), **change})


def _without(receipt: bytes, member: str) -> bytes:
    return write_document({name: value for name, value in json.loads(receipt).items() if name != member})


def _quoted(receipt: bytes) -> bytes:
    text = receipt.decode()
    return "".join(f"> | {text[start : start + 60]}\r\n" for start in range(0, len(text), 60)).encode()
