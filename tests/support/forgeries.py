"""Forged bundles, receipts, proofs, key sets and policies, drawn from a seed: what two verifiers are compared on.

A forgery begins with a true bundle. Members are changed, cut out, doubled or exchanged; then its forger computes none,
some or all of what follows from them again: the chain, the inclusion, the signature, by the right key or by another.
Or the text is changed. Most of them are bundles still, and get as far as the last steps. Receipts and proofs of
consistency are changed in the same way, key sets and policies as texts too.
"""

import json
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from random import Random
from typing import Any

from events.proof.player_signatures import MOVE
from events.store.envelope import canonical_json
from tests.support.bundle_vectors import FOLDER
from tests.support.plain_bundles import (
    BEGUN_AT,
    OTHER,
    SERVER,
    SIGNED_AT,
    Content,
    finished,
    inclusion_of,
    linked,
    running,
    sealed,
    signed,
    unsealed,
    written,
)
from tests.support.player_keys import SIGNER
from tests.support.verdicts import Given, given
from tests.support.witness_vectors import LOG_KEY, A, B

VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, 2, 3, 5, 7, 8, -1, 65, 2**31, 2**53 - 1, 1 - 2**53, 0.5, 1 / 3, -0.0001),
    *("", "x", "seed", "é", "\0", "\ud7ff\U0001f3f0", "match-created", "seed-drawn", "0" * 64, "a" * 128, "A" * 64),
    *([], {}, [[]], [0], ["seed"], {"a": 1}, BEGUN_AT, SIGNED_AT, SIGNED_AT + 1, SERVER.id, OTHER.id),
)
NAMES = ("a", "", "note", "withheld", "inclusion", "positions", "revoked", "administration", "digest", "seed")
TEXTS: tuple[bytes, ...] = (
    *(b"", b" ", b"\n", b"\\", b'"', b",", b":", b"{", b"}", b"[", b"]", b"0", b"-", b"1e5", b".0", b"null", b"tru"),
    *(b"\\u0041", b"\\ud800", b"\\x", b"\xff", b"\xc3\xa9", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\x00", b"9" * 20),
    *(b"9" * 5000, b"1e300", b"-0", b"[" * 5000, b"-Infinity", b'"":', b"\\u0000"),
    *(b"NaN", b'"a":1,', b'"at":1,', b"[" * 33, b",,", b"{}", b"[]", b'"x"', b"1e400", b"\r", b"\xe2\x80\xa8"),
)  # fmt: skip

POLICY_CHANGES = (
    *(
        (" ", ""),
        (" ", "\t"),
        (" ", "  "),
        ("any", "all"),
        ("any", "2"),
        ("any", "3"),
        ("a", "b"),
        ("b", "a"),
        ("+", ""),
    ),
    *(("quorum", "#"), ("group", "#"), ("witness", "log"), ("log", "witness"), ("=", ""), ("0", "1"), ("g", "none")),
)

POLICY_TEXTS = (*"\n\t \0\x7f\ré\u2028\ufeff", "\U0001f3f0" * 480, "x" * 480, "9" * 5000, "#")

Step = Callable[[Content, Random], None]


def forgeries(count: int, seed: int) -> Iterator[Given]:
    """Yield ``count`` forgeries, with keys and policies to verify them with; equal seeds give equal ones."""
    for number in range(count):
        chance = Random(f"{seed} {number}")
        what = chance.random()
        if what < 0.08:
            yield {**_true("receipt", chance), "receipt": _document(_true("receipt", chance)["receipt"], chance)}
        elif what < 0.16:
            asked, part = _true("earlier", chance), chance.choice(("earlier", "later", "proof"))
            yield {**asked, part: _document(asked[part], chance)}
        else:
            yield given(_forged(chance), _keys(chance), _policy(chance))


@cache
def _true_bundles() -> tuple[bytes, ...]:
    early = finished()
    del early["inclusion"]
    doubled = unsealed(("alice", 1, "match-created", 1, {"seed": "1"}), ("alice", 2, "seed-drawn", 1, {"seed": "2"}))
    linked(doubled)["events"][1] |= {"withheld": ["seed"], "data": {}}
    long = unsealed(*[("alice", at, "letter-sealed", 1, {"n": at, "of": {"x": [at, "é"]}}) for at in range(40)])
    made = (
        finished(),
        running(),
        early,
        sealed(doubled, version=2, leaves=2),
        sealed(linked(long), version=33, leaves=100),
        sealed(finished(), version=7, note=False),
        sealed(finished(), version=6, log_key=OTHER),
        _cosigned(),
        _cosigned(),
    )
    return (*map(written, made), *_signed_by_players())


@cache
def _vectors(kind: str) -> tuple[Given, ...]:
    """Return what is given in all vectors of a ``kind``, which is the name of a member: true ones and others."""
    found = []
    for path in sorted(FOLDER.parent.glob("*/*.json")):
        content = json.loads(path.read_text())
        vectors = content if isinstance(content, list) else [content]
        found += [vector["given"] for vector in vectors if kind in vector["given"]]
    return tuple(found)


def _true(kind: str, chance: Random) -> Given:
    return chance.choice(_vectors(kind))


def _document(encoded: str, chance: Random) -> str:
    """Return a document in base64 with its text or some of its members changed."""
    packed = b64decode(encoded)
    if chance.random() < 0.5:
        return b64encode(_text_changed(packed or b" ", chance)).decode()
    with suppress(KeyError, TypeError, ValueError, AttributeError, IndexError):
        content = json.loads(packed)
        for _ in range(chance.choice((1, 1, 2))):
            chance.choice((_put, _put_alike, _cut, _add, _exchange))(content, chance)
        packed = written(content)
    return b64encode(packed).decode()


def _cosigned() -> Content:
    content = finished()
    for number, witness in enumerate((A, B)):
        content["inclusion"]["note"] = witness.cosign(content["inclusion"]["note"], SIGNED_AT // 1000 + number)
    return signed(content)


def _signed_by_players() -> Iterator[bytes]:
    """Yield the bundles of all vectors in which players have signed acts, and no fault is."""
    for path in sorted((FOLDER.parent / "player-keys").glob("*.json")):
        vector = json.loads(path.read_text())
        if vector["expect"]["fault"] is None:
            yield b64decode(vector["given"]["bundle"])


def _forged(chance: Random) -> bytes:
    packed = chance.choice(_true_bundles())
    if chance.random() < 0.15:
        return _text_changed(packed, chance)
    content: Content = json.loads(packed)
    steps = chance.choices(_CHANGES, _WEIGHTS, k=chance.choice((1, 1, 1, 2, 3)))
    steps += [seal for seal in _SEALS if chance.random() < 0.6]
    for step in steps:
        changed = json.loads(json.dumps(content))
        # What has no place in this bundle, or in what is left of it, is left out.
        with suppress(KeyError, TypeError, ValueError, AttributeError, IndexError):
            step(changed, chance)
            content = json.loads(json.dumps(changed))
    return _written(content, chance)


def _written(content: Content, chance: Random) -> bytes:
    """Return ``content`` as a document, sometimes in another form than the canonical one."""
    if chance.random() < 0.03:
        ascii_only, indent = chance.random() < 0.5, chance.choice((None, 1))
        separators = chance.choice(((",", ":"), (", ", ": ")))
        text = json.dumps(content, ensure_ascii=ascii_only, indent=indent, separators=separators)
        return f"{text}\n".encode(errors="replace")
    return written(content)


def _text_changed(packed: bytes, chance: Random) -> bytes:
    text = bytearray(packed)
    for _ in range(chance.choice((1, 1, 2))):
        start = chance.randrange(len(text))
        end = min(len(text), start + chance.choice((0, 0, 1, 1, 2, 5, 100)))
        what = chance.random()
        if what < 0.4:
            text[start] ^= 1 << chance.randrange(8)
        elif what < 0.9:
            text[start:end] = chance.choice(TEXTS)
        else:
            text[start:start] = text[start : start + chance.randrange(100)]
    return bytes(text)


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    steps = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, item in steps:
        yield (*path, step)
        yield from _places(item, (*path, step))


def _holder(content: Content, chance: Random) -> tuple[Any, Any]:
    """Return a member or element of ``content``, as what holds it and its name or number."""
    places = list(_places(content))
    # What is free in form gets further; and half of them are outside the events, which are most of a bundle.
    if chance.random() < 0.5:
        places = [place for place in places if {"data", "terms", "status", "actor"} & {*place}] or places
    elif chance.random() < 0.5:
        places = [place for place in places if place[0] != "events"] or places
    *before, last = chance.choice(places)
    holder: Any = content
    for step in before:
        holder = holder[step]
    return holder, last


def _put(content: Content, chance: Random) -> None:
    holder, last = _holder(content, chance)
    holder[last] = json.loads(json.dumps(chance.choice(VALUES)))


def _put_alike(content: Content, chance: Random) -> None:
    """Put a value of the same type: this is what a forger would write."""
    holder, last = _holder(content, chance)
    value = holder[last]
    if isinstance(value, bool):
        holder[last] = not value
    elif isinstance(value, int | float):
        holder[last] = value + chance.choice((-1, 1, 1000, -2))
    elif isinstance(value, str) and value:
        place, letter = chance.randrange(len(value)), chance.choice("0af+/=\n \u2014")
        holder[last] = value[:place] + letter + value[place + 1 :]
    elif isinstance(value, list) and value:
        value.insert(chance.randrange(len(value)), value[chance.randrange(len(value))])


def _cut(content: Content, chance: Random) -> None:
    holder, last = _holder(content, chance)
    del holder[last]


def _add(content: Content, chance: Random) -> None:
    holder, _ = _holder(content, chance)
    value = chance.choice(VALUES)
    if isinstance(holder, dict):
        holder[chance.choice(NAMES)] = value
    else:
        holder.insert(chance.randrange(len(holder) + 1), value)


def _exchange(content: Content, chance: Random) -> None:
    (one, first), (other, second) = _holder(content, chance), _holder(content, chance)
    one[first], other[second] = json.loads(json.dumps([other[second], one[first]]))


def _shuffle_events(content: Content, chance: Random) -> None:
    events = content["events"]
    place = chance.randrange(len(events))
    what = chance.random()
    if what < 0.3:
        del events[place]
    elif what < 0.6:
        events.insert(chance.randrange(len(events)), dict(events[place]))
    elif what < 0.8:
        events.append(events.pop(place))
    else:
        del events[max(1, place) :]


def _withhold(content: Content, chance: Random) -> None:
    event = chance.choice(content["events"])
    if chance.random() < 0.5:
        event["data"].pop("seed", None)
    event["withheld"] = chance.choice((["seed"], ["seed"], ["seed", "seed"], [], ["move"], ["creator", "seed"]))


def _graft(content: Content, chance: Random) -> None:
    """Take a part of another bundle over."""
    other = json.loads(chance.choice(_true_bundles()))
    name = chance.choice(("inclusion", "inclusion", "signature", "head", "facts", "match", "events"))
    if name in other:
        content[name] = other[name]


def _change_signed_act(content: Content, chance: Random) -> None:
    events = content["events"]
    number = chance.choice([place for place, event in enumerate(events) if "signed" in event["data"]])
    what, act = chance.random(), events[number]["data"]
    if what < 0.5:
        chance.choice((_put, _put_alike, _put_alike, _cut, _add))({"act": act["signed"]}, chance)
    elif what < 0.7:
        act["signed"]["version"] += chance.choice((-2, -1, 1, -act["signed"]["version"]))
    elif what < 0.8:
        act["seat"] = chance.choice((0, 1, 2, "1", None))
    elif what < 0.9:
        events.insert(number, json.loads(json.dumps(events[chance.randrange(len(events))])))
    else:
        chance.choice(events)["data"]["signed"] = act["signed"]


def _sign_act(content: Content, chance: Random) -> None:
    """Sign an event as its player could have done, over an earlier version; sometimes as if it were laid down."""
    events = linked(content)["events"]
    number = chance.randrange(1, len(events))
    act = events[number]
    version = max(1, number - chance.choice((0, 0, 0, 1, 2)))
    moves = [event["data"]["move"] for event in events[version : number + 1] if event["type"] == MOVE]
    if chance.random() < 0.3:
        act["data"]["channel"] = "conditional"
    statement = {
        "act": act["type"], "digest": events[version - 1]["digest"], "match": content["match"], "moves": moves,
        "seat": act["data"].setdefault("seat", chance.randrange(2)), "version": version,
    }  # fmt: skip
    key = {"crv": "P-256", "kty": "EC", "x": SIGNER.public.x, "y": SIGNER.public.y}
    signature = SIGNER.sign(b"rookery act 1\n" + canonical_json(statement))
    act["data"]["signed"] = {"key": key, "signature": signature, "version": version}


def _change_inclusion(content: Content, chance: Random) -> None:
    inclusion = content["inclusion"]
    checkpoint, what = inclusion["checkpoint"], chance.randrange(7)
    if what == 0:
        chance.shuffle(inclusion["path"])
    elif what == 1:
        inclusion["leaf"] = chance.choice((-1, 0, inclusion["leaf"] + 1, checkpoint["size"] - 1, checkpoint["size"]))
    elif what == 2:
        inclusion["version"] = chance.randrange(len(content["events"]) + 2)
    elif what == 3:
        checkpoint["size"] += chance.choice((-1, 1, 2**32, -checkpoint["size"]))
    elif what == 4:
        note = inclusion["note"]
        lines = note.split("\n")
        chance.choice((lines.pop, lines.reverse, lambda: lines.insert(1, ""), lambda: lines.append(lines[-2])))()
        inclusion["note"] = "\n".join(lines)
    elif what == 5:
        place = chance.randrange(len(inclusion["note"]))
        letter = chance.choice("\n =A+\u2014\u0085\u00a0\ufeff\t0")
        inclusion["note"] = inclusion["note"][:place] + letter + inclusion["note"][place + chance.randrange(2) :]
    else:
        checkpoint["signed_at"] = chance.choice((BEGUN_AT - 1, SIGNED_AT + 1, 0))


_CHANGES: tuple[Step, ...] = (
    _put, _put_alike, _cut, _add, _exchange, _shuffle_events, _withhold, _graft, _change_inclusion,
    _change_signed_act, _sign_act,
)  # fmt: skip
_WEIGHTS = (2, 5, 2, 2, 1, 2, 1, 2, 7, 5, 5)


def _link(content: Content, chance: Random) -> None:
    if chance.random() < 0.8:
        for number, event in enumerate(content["events"], 1):
            event["version"] = number
    linked(content)


def _include(content: Content, chance: Random) -> None:
    """Log a version as it is now, sometimes in a checkpoint of another key."""
    if chance.random() < 0.5:
        return
    version = chance.randrange(1, len(content["events"]) + 1)
    key = chance.choice((SERVER, SERVER, OTHER))
    digest, leaves = content["events"][version - 1]["digest"], chance.choice((1, 2, 3, 8, 31))
    content["inclusion"] = inclusion_of(content["match"], version, digest, leaves, key)
    if chance.random() < 0.2:
        _change_inclusion(content, chance)


def _sign(content: Content, chance: Random) -> None:
    key = chance.choice((SERVER, SERVER, SERVER, SERVER, OTHER))
    at = chance.choice((None, None, None, SIGNED_AT, BEGUN_AT - 1, SIGNED_AT - 1))
    signed(content, key, at=at)
    if key is OTHER and chance.random() < 0.5:
        content["signature"]["key"] = SERVER.id


_SEALS: tuple[Step, ...] = (_link, _include, _sign)


def _policy(chance: Random) -> str | None:
    if chance.random() < 0.7:
        return None
    lines = [f"log {LOG_KEY.vkey}", f"witness a {A.vkey}", f"witness b {B.vkey}", "group g any a b"]
    lines.append(f"quorum {chance.choice(('none', 'a', 'b', 'g', 'g'))}")
    if chance.random() < 0.2:
        place = chance.randrange(len(lines))
        lines[place] = lines[place].replace(*chance.choice(POLICY_CHANGES), 1)
    text = "\n".join(lines)
    if chance.random() < 0.2:
        place = chance.randrange(len(text))
        text = text[:place] + chance.choice(POLICY_TEXTS) + text[place + chance.randrange(3) :]
    return text


def _keys(chance: Random) -> Any:
    """Return the key set that a forgery is verified with: mostly that of the server."""
    what = chance.random()
    if what < 0.1:
        return None
    if what < 0.15:
        return {"keys": [OTHER.published]}
    times = {"since": SIGNED_AT}, {"until": SIGNED_AT}, {"revoked": SIGNED_AT}, {"revoked": SIGNED_AT + 1}
    first = SERVER.published | (chance.choice(times) if what < 0.3 else {})
    keys = [first] if chance.random() < 0.5 else [first, {**OTHER.published}]
    if what > 0.95:
        with suppress(KeyError, TypeError, ValueError, AttributeError, IndexError):
            chance.choice((_put, _put_alike, _cut, _add))({"keys": keys}, chance)
    if 0.3 < what < 0.4:
        packed = json.dumps({"keys": keys}).encode()
        return b64encode(_text_changed(packed, chance)).decode()
    return {"keys": keys}
