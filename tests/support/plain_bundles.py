"""Bundles as plain JSON values, sealed as their specification says (``docs/proof/bundle.md``), true or forged.

Nothing here asks the code of the product what a bundle is, except for canonical JSON: a digest or a signature that
both compute alike is not a mistake that both make.
"""

import copy
import hashlib
import re
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from events.store.envelope import canonical_json

Content = dict[str, Any]
Change = Callable[[Content], Any]

BEGUN_AT = 1_700_000_000_000
SIGNED_AT = BEGUN_AT + 3_600_000
ORIGIN = "0123456789abcdef"
LOG = "rookery.example/rookery"

TERMS = {"private": False, "rated": True, "setup": "start"}
START = "1b1b1b1b/b1b1b1b1/1b1b1b1b/8/8/w1w1w1w1/1w1w1w1w/w1w1w1w1 w 0"
AFTER_ONE = "1b1b1b1b/b1b1b1b1/1b1b1b1b/8/3w4/w3w1w1/1w1w1w1w/w1w1w1w1 b 0"


class Key:
    """The public part of an Ed25519 key, 32 bytes, in use from BEGUN_AT on."""

    def __init__(self, raw: bytes) -> None:
        self.raw = raw
        self.published = published(raw)
        self.id: str = self.published["kid"]


class Signer(Key):
    """An Ed25519 key that is made of 32 bytes beginning with ``first``, in use from BEGUN_AT on."""

    def __init__(self, first: int) -> None:
        self._private = Ed25519PrivateKey.from_private_bytes(bytes(range(first, first + 32)))
        super().__init__(self._private.public_key().public_bytes_raw())

    def sign(self, message: bytes) -> bytes:
        """Return the signature of ``message``, 64 bytes."""
        return self._private.sign(message)

    def seal(self, kind: str, statement: Content) -> str:
        """Return the signature of a statement of a ``kind``, hexadecimal."""
        return self.sign(kind.encode() + b"\n" + canonical_json(statement)).hex()


def published(raw: bytes) -> Content:
    """Return the entry of a key set for the public key ``raw``, in use from BEGUN_AT on."""
    web_key = {"crv": "Ed25519", "kty": "OKP", "x": _base64url(raw)}
    kid = _base64url(hashlib.sha256(canonical_json(web_key)).digest())
    return web_key | {"alg": "Ed25519", "kid": kid, "since": BEGUN_AT, "until": None, "use": "sig"}


def _base64url(raw: bytes) -> str:
    return urlsafe_b64encode(raw).decode().rstrip("=")


SERVER, OTHER = Signer(0), Signer(1)


def finished() -> Content:
    """Return the bundle of a match of two people that Black has resigned; it is in a log of 7 leaves."""
    board = "1b1b1b1b/b1b1b1b1/3b1b1b/b7/3w4/w3w1w1/1w1w1w1w/w1w1w1w1 w 0"
    seats = [{"joined": True, "player": "alice"}, {"joined": True, "player": "bob"}]
    created = TERMS | {"creator": "alice", "game": "bashni", "ruleset": 1, "seats": [seats[0], {"joined": False}]}
    content = unsealed(
        ("alice", 1, "match-created", 1, created | {"seed": "7"}),
        ("bob", 2, "player-joined", 1, {"player": "bob", "seat": 1}),
        ("bob", 2, "match-started", 1, {}),
        ("alice", 3, "move-submitted", 1, {"move": "c3-d4", "ply": 1, "seat": 0}),
        ("bob", 4, "move-submitted", 1, {"move": "b6-a5", "ply": 2, "seat": 1}),
        ("bob", 5, "player-resigned", 1, {"seat": 1}),
        ("bob", 5, "match-finished", 1, {"reason": "resignation", "scores": [1, 0]}),
    )
    content["facts"] |= {
        "positions": [
            {"position": START, "version": 1},
            {"position": AFTER_ONE, "version": 4},
            {"position": board, "version": 5},
        ],
        "reason": "resignation",
        "result": {"proof": {"decided_by": 6, "ply": 2, "position": board}, "scores": [1, 0]},
        "seats": seats,
        "status": "finished",
    }
    return sealed(linked(content), version=5)


def running(occasion: Content | None = None, nodes: int | None = None) -> Content:
    """Return the bundle of a match against an opponent that goes on: its seed is withheld.

    It has an ``occasion`` and the opponent's move a budget of ``nodes`` if they are given.
    """
    terms = TERMS if occasion is None else TERMS | {"occasion": occasion}
    seats = [{"joined": True, "player": "alice"}, {"joined": True, "level": 1, "player": "opponent-1"}]
    created = terms | {"creator": "alice", "game": "bashni", "ruleset": 1, "seats": seats, "seed": "7"}
    answer = {"channel": "opponent", "engine": "2", "level": 1, "move": "f6-e5", "ply": 2, "seat": 1}
    answer |= {} if nodes is None else {"nodes": nodes}
    content = unsealed(
        ("alice", 1, "match-created", 1, created),
        ("alice", 1, "match-started", 1, {}),
        ("alice", 2, "move-submitted", 1, {"move": "c3-d4", "ply": 1, "seat": 0}),
        ("opponent-1", 3, "move-submitted", 1, answer | {"seed": 30285615251355}),
    )
    content["facts"] |= {"seats": seats, "status": "playing", "terms": terms}
    linked(content)
    content["events"][0]["withheld"] = ["seed"]
    del content["events"][0]["data"]["seed"]
    return sealed(content, version=4)


def unsealed(*events: tuple[str, int, str, int, Content]) -> Content:
    """Return the bundle of a match of Bashni without digests and signature.

    The ``events`` are given by actor, seconds since BEGUN_AT, type, schema and content.
    """
    return {
        "events": [
            {"actor": actor, "at": BEGUN_AT + 1000 * at, "data": {**held}, "schema": schema, "type": kind, "version": n}
            for n, (actor, at, kind, schema, held) in enumerate(events, 1)
        ],
        "facts": {"replayed": len(events), "rulesets": [{"game": "bashni", "ruleset": 1}], "seats": [], "terms": TERMS},
        "format": 1,
        "match": "4fRk2mXw",
        "signature": {},
    }


def linked(content: Content) -> Content:
    """Compute the chain of ``content`` again, as far as its events are events, and its head; return it.

    What is withheld keeps its digest.
    """
    digest = bytes(32)
    with suppress(KeyError, TypeError, ValueError, AttributeError):
        for event in content["events"]:
            if "withheld" not in event:
                held = {name: value for name, value in event.items() if name != "digest"}
                written = canonical_json(held | {"stream": content["match"]})
                event["digest"] = hashlib.sha256(digest + written).hexdigest()
            digest = bytes.fromhex(event["digest"])
        content["head"] = {"digest": digest.hex(), "version": content["events"][-1]["version"]}
    return content


def sealed(
    content: Content,
    key: Signer = SERVER,
    *,
    at: int = SIGNED_AT,
    version: int | None = None,
    leaves: int = 7,
    note: bool = True,
    log_key: Signer | None = None,
) -> Content:
    """Sign ``content`` by ``key``; with a ``version``, include that in a log of ``leaves`` leaves. Return it."""
    if version is not None:
        event = content["events"][version - 1]
        content["inclusion"] = inclusion_of(content["match"], version, event["digest"], leaves, log_key or key)
        if not note:
            del content["inclusion"]["note"]
    return signed(content, key, at=at)


def signed(content: Content, key: Signer = SERVER, *, at: int | None = None) -> Content:
    """Sign ``content`` as it is; return it."""
    signature = {
        "inclusion": digest_of(content.get("inclusion")),
        "key": key.id,
        "signed_at": content["signature"].get("signed_at", SIGNED_AT) if at is None else at,
    }
    unsigned = {name: value for name, value in content.items() if name not in ("signature", "inclusion")}
    statement = {
        **content["head"],
        "content": digest_of(unsigned),
        "inclusion": signature["inclusion"],
        "match": content["match"],
        "signed_at": signature["signed_at"],
    }
    content["signature"] = signature | {"value": key.seal("rookery bundle 1", statement)}
    return content


def inclusion_of(match_id: str, version: int, digest: str, leaves: int, key: Signer) -> Content:
    """Return the proof that the last leaf but one of a log is a version of a match, with a note of the same tree."""
    place = max(0, leaves - 2)
    hashes = other_leaves(leaves)
    head = canonical_json({"digest": digest, "match": match_id, "version": version})
    leaf = canonical_json({"commitment": hashlib.sha256(head).hexdigest(), "form": 1, "kind": "match"})
    hashes[place] = hashlib.sha256(b"\0" + leaf).digest()
    root, path = root_and_path(hashes, place)
    return {
        "checkpoint": checkpoint_of(leaves, root, key), "leaf": place, "note": note_of(leaves, root, key),
        "path": [node.hex() for node in path], "version": version,
    }  # fmt: skip


def other_leaves(count: int) -> list[bytes]:
    """Return the hashes of leaves of a log in which nothing of interest is."""
    return [hashlib.sha256(b"\0other %d" % number).digest() for number in range(count)]


def checkpoint_of(size: int, root: bytes, key: Signer, *, origin: str = ORIGIN, at: int = SIGNED_AT) -> Content:
    """Return the checkpoint of a log of ``size`` leaves, signed ``at`` an instant."""
    statement = {
        "administration": {"digest": "5a" * 32, "number": 12}, "day": "2023-11-15", "origin": origin,
        "root": root.hex(), "signed_at": at, "size": size,
    }  # fmt: skip
    return statement | {"format": 1, "key": key.id, "signature": key.seal("rookery checkpoint 1", statement)}


class Witness:
    """A witness, or with ``type`` 1 a log, by its name and key."""

    def __init__(self, name: str, key: Key, kind: int = 4) -> None:
        self._name, self._key = name, key
        typed = bytes([kind]) + key.raw
        self._key_id = hashlib.sha256(f"{name}\n".encode() + typed).digest()[:4]
        self.vkey = f"{name}+{self._key_id.hex()}+{b64encode(typed).decode()}"

    def cosign(self, note: str, time_s: int) -> str:
        """Return ``note`` with the cosignature of this witness, made at ``time_s``."""
        text = note.split("\n\n")[0] + "\n"
        assert isinstance(self._key, Signer)
        value = time_s.to_bytes(8, "big") + self._key.sign(f"cosignature/v1\ntime {time_s}\n{text}".encode())
        return f"{note}{self.line(value)}"

    def line(self, value: bytes) -> str:
        """Return the line of a note that says that ``value`` was made with the key."""
        return f"\u2014 {self._name} {b64encode(self._key_id + value).decode()}\n"


def root_and_path(hashes: Sequence[bytes], place: int | None) -> tuple[bytes, list[bytes]]:
    """Return the root over the leaf ``hashes`` and the audit path of the one at ``place`` (RFC 9162, 2.1)."""
    if len(hashes) == 1:
        return hashes[0], []
    split = 1 << ((len(hashes) - 1).bit_length() - 1)
    left, way_left = root_and_path(hashes[:split], place if place is not None and place < split else None)
    right, way_right = root_and_path(hashes[split:], place - split if place is not None and place >= split else None)
    path = [] if place is None else [*way_left, right] if place < split else [*way_right, left]
    return hashlib.sha256(b"\1" + left + right).digest(), path


def note_of(size: int, root: bytes, key: Signer) -> str:
    """Return the tree head of a log as a signed note (C2SP)."""
    text = f"{LOG}\n{size}\n{b64encode(root).decode()}\n"
    return f"{text}\n{Witness(LOG, key, 1).line(key.sign(text.encode()))}"


def put(path: str, value: Any) -> Change:
    """Return the change that puts ``value`` at ``path``, such as ``events[3].data.move``."""

    def change(content: Content) -> None:
        holder, last = _find(content, path)
        holder[last] = value(holder[last]) if callable(value) else copy.deepcopy(value)

    return change


def cut(path: str) -> Change:
    """Return the change that removes the member or element at ``path``."""

    def change(content: Content) -> None:
        holder, last = _find(content, path)
        del holder[last]

    return change


def both(*changes: Change) -> Change:
    """Return the change that makes ``changes`` one after the other."""

    def change(content: Content) -> None:
        for each in changes:
            each(content)

    return change


def _find(content: Content, path: str) -> tuple[Any, Any]:
    *before, last = (int(step) if step.isdigit() else step for step in re.findall(r"[^.\[\]]+", path))
    holder: Any = content
    for step in before:
        holder = holder[step]
    return holder, last


def written(content: Content) -> bytes:
    """Return ``content`` as the bytes of a bundle."""
    return canonical_json(content) + b"\n"


def digest_of(value: Any) -> str:
    """Return the SHA-256 of the canonical JSON of ``value``, hexadecimal."""
    return hashlib.sha256(canonical_json(value)).hexdigest()
