"""Test vectors of bundles: true ones, and one for every fault that a verifier must find, each with its place."""

import json
import re
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.support.odd_keys import WEAK, OddSigner
from tests.support.plain_bundles import (
    BEGUN_AT,
    OTHER,
    SERVER,
    SIGNED_AT,
    Content,
    both,
    cut,
    finished,
    linked,
    published,
    put,
    running,
    sealed,
    signed,
    unsealed,
    written,
)
from tests.support.vectors import ORDER, Vector, changed
from tests.support.witness_vectors import cosigned, policies

FOLDER = Path(__file__).parents[2] / "docs" / "proof" / "vectors" / "bundle"


OCCASION = {"id": "t1", "kind": "tournament", "pairing": "r2-b3"}


def files() -> Iterator[tuple[Path, str]]:
    """Yield the path and the content of each file of vectors: a JSON array, one vector a line."""
    for name, made in (
        ("good", _good()),
        ("well-formed", (*_bytes(), *_members())),
        ("chain", _chains()),
        ("signature", _signatures()),
        ("checkpoint", _checkpoints()),
        ("keys", _keys()),
        ("cosigned", cosigned()),
        ("policy", policies()),
    ):
        lines = ",\n".join(vector.line for vector in made)
        yield FOLDER / f"{name}.json", f"[\n{lines}\n]\n"


def _good() -> Iterator[Vector]:
    whole = written(finished())
    yield Vector("a finished match with everything a bundle can have", whole)
    yield Vector("the seed of a match with an opponent is withheld", written(running()))
    yield Vector("no keys are given", whole, ("well-formed", "chain"), keys=None)
    yield Vector("no inclusion", changed(cut("inclusion"), signed), ORDER[:3])
    both_keys = {"keys": [SERVER.published, OTHER.published]}
    old = written(sealed(finished(), version=7, note=False))
    yield Vector("no note", old)
    yield Vector("the only leaf of a log", written(sealed(finished(), version=1, leaves=1)))
    yield Vector("a log of 65 leaves", written(sealed(finished(), version=2, leaves=65)))
    other = written(sealed(finished(), version=7, log_key=OTHER))
    yield Vector("the checkpoint is signed by another key", other, keys=both_keys)
    yield Vector("the key was revoked later", whole, keys=_keys_with(revoked=SIGNED_AT + 1))
    yield Vector("the key was used until later", whole, keys=_keys_with(until=SIGNED_AT + 1))
    yield Vector("the key was begun at this instant", whole, keys=_keys_with(since=SIGNED_AT))
    marked = changed(put("inclusion.note", lambda note: note.replace("\u2014 r", "\u2014 r\ufeff")), signed)
    yield Vector("a note that names a key with a byte order mark, which is no space", marked)
    extended = changed(put("inclusion.note", lambda note: note.replace("\n\n", "\nanything\n\n")), signed)
    yield Vector("a note of a checkpoint with a line more", extended)
    text = 'é \u2028 \U0001f3f0 "\\/\b\t\n\f\r\0\x1f\x7f'
    numbers = [0, -1, 0.5, -0.0001, 1 / 3, 2**53 - 1, 1 - 2**53, 1e15, 123456.789]
    names = {"[a].b": [True, False, None, [[]]], "": "", "A": 1, "a": 2, "Z": 3, "~": 4, "0": 5, "10": 6, "9": 7}
    odd = unsealed(
        ("alice", 0, "letter-sealed", 9, {"text": text, "empty": {}, "none": []}),
        ("bob", -1, "", 0, {"numbers": numbers, "x": None}),
        ("", 1, "letter-sealed", -3, names),
    )
    odd |= {"match": "é/\U0001f3f0"}
    odd["facts"] |= {"terms": {}, "status": "é", "rulesets": []}
    odd_packed = written(signed(linked(odd)))
    yield Vector("unknown types of events, and text, numbers and names of every form", odd_packed, ORDER[:3])
    doubled = unsealed(("alice", 1, "match-created", 1, {"seed": "1"}), ("alice", 2, "seed-drawn", 1, {"seed": "2"}))
    linked(doubled)["events"][1] |= {"withheld": ["seed"], "data": {}}
    yield Vector("the second seed is withheld", written(signed(doubled)), ORDER[:3])
    content = running(occasion=OCCASION, nodes=400)
    yield Vector("a match of a tournament, and a move that names its node budget", written(content))


def _bytes() -> Iterator[Vector]:
    packed = written(finished())
    both_faults = changed(both(put("format", True), put("events[0].at", "")))
    for name, damaged, place in (
        ("no bytes", b"", ""),
        ("the line feed at the end is missing", packed[:-1], ""),
        ("a second line feed", packed + b"\n", ""),
        ("a carriage return before the line feed", packed[:-1] + b"\r\n", ""),
        ("a byte order mark", b"\xef\xbb\xbf" + packed, ""),
        ("a list", b"[]\n", ""),
        ("cut off in a string", packed[: packed.index(b"b6-a5") + 2], "events[4].data.move"),
        ("cut off after a comma", packed[: packed.index(b'"facts"')], ""),
        ("nested 40 deep and cut off", packed[:100] + b"[" * 40, ""),
        ("format 2, and white space", packed.replace(b'"format":1', b'"format": 2'), "format"),
        ("format as text", packed.replace(b'"format":1', b'"format":"1"'), "format"),
        ("format true, and white space", packed.replace(b'"format":1', b'"format": true'), "format"),
        ("format true, and another fault", both_faults, "format"),
        ("format null", packed.replace(b'"format":1', b'"format":null'), "format"),
        ("a leading zero under an empty name", b'{"":{"a":02}}\n', ".a"),
        ("a number without form under an empty name", b'{"":{"a":1e400}}\n', ".a"),
        ("a number without form under two empty names", b'{"":{"":1e400}}\n', "."),
        (
            "not a number, and format 2",
            packed.replace(b'"format":1', b'"format":2').replace(b'"ply":2', b'"ply":-Infinity'),
            "events[4].data.ply",
        ),
    ):
        yield Vector(name, damaged, (), ("well-formed", place))
    ply, move = "events[4].data.ply", "events[4].data.move"
    for name, old, new, place in (
        ("white space", b'"ply":2', b'"ply": 2', ply),
        ("a comma too many in an object", b'"seat":1}', b'"seat":1,}', "events[1].data"),
        ("a comma too many in a list", b'"scores":[1,0]', b'"scores":[1,0,]', "events[6].data.scores[2]"),
        ("a member without a value", b'"ply":2', b'"ply":', ply),
        ("a name without quotation marks", b'"ply":2', b"ply:2", "events[4].data"),
        ("a control character in a string", b"b6-a5", b"b6\x01a5", move),
        ("an unknown escape", b"b6-a5", b"b6\\-a5", move),
        ("an escape that is not needed", b"b6-a5", b"b6\\u002da5", move),
        ("an escaped solidus", b"1b1b/b1", b"1b1b\\/b1", "facts.positions[0].position"),
        ("an escape in a name", b'"move":"b6', b'"mov\\u0065":"b6', "events[4].data.mov\\u0065"),
        ("a byte that is not UTF-8", b"b6-a5", b"b6\xffa5", move),
        ("a long form of UTF-8", b"b6-a5", b"b6\xc0\xada5", move),
        ("a surrogate in UTF-8", b"b6-a5", b"b6\xed\xa0\x80", move),
        ("no UTF-8 after text that is no JSON", b'"ply":2,"seat":1', b'ply":2,"seat\xff', "events[4].data.:2,"),
        ("no UTF-8 after a missing comma", b'"ply":2,"seat"', b'"ply":2"seat\xff', ply),
        ("no UTF-8 after a backslash in a name", b'"ply":2', b'"pl\\\xff', "events[4].data.pl\\"),
        ("no UTF-8 after a wrong bracket", b'"ply":2', b'"ply":2]]\xff', "events[4]"),
        ("a name that is not UTF-8", b'"ply":2', b'"p\xffy":2', "events[4].data.p"),
        ("half of a surrogate pair", b"b6-a5", b"b6\\ud83c", move),
        ("a name outside ASCII", b'"move":"b6', b'"m\xc3\xb6ve":"b6', "events[4].data"),
        (
            "a number without form under a name outside ASCII",
            b'"ply":2',
            b'"p\xc3\xa9":[1e400]',
            "events[4].data.pé[0]",
        ),
        ("a leading zero after a name with an escape", b'"ply":2', b'"p\\"":02', 'events[4].data.p\\"'),
        ("a fraction of zero", b'"ply":2', b'"ply":2.0', ply),
        ("an exponent", b'"ply":2', b'"ply":2e0', ply),
        ("a negative zero", b'"scores":[1,0]', b'"scores":[1,-0]', "events[6].data.scores[1]"),
        ("a leading zero", b'"ply":2', b'"ply":02', ply),
        ("an integer beyond 2^53", b'"ply":2', b'"ply":9007199254740993', ply),
        ("an integer of five thousand digits", b'"ply":2', b'"ply":' + b"9" * 5000, ply),
        ("an integer of a hundred digits", b'"ply":2', b'"ply":' + b"9" * 100, ply),
        ("a number beyond all doubles", b'"ply":2', b'"ply":1e400', ply),
        ("a number that is too small", b'"ply":2', b'"ply":0.00001', ply),
        ("digits beyond those of a double", b'"ply":2', b'"ply":0.10000000000000001', ply),
        ("not a number", b'"ply":2', b'"ply":NaN', ply),
        ("not a number, and a comma too many", b'"ply":2', b'"ply":NaN,,', ply),
        ("not a number, after a string that names it", b'"ply":2', b'"ply":["NaN",NaN', f"{ply}[1]"),
        ("a member stands twice", b'"ply":2', b'"ply":2,"ply":2', ply),
        ("a member stands twice, first with another value", b'"ply":2', b'"ply":3,"ply":2', ply),
        ("members in another order", b'"ply":2,"seat":1', b'"seat":1,"ply":2', "events[4].data.seat"),
        ("nested 33 deep", b'"ply":2', b'"ply":' + b"[" * 29 + b"]" * 29, ""),
    ):
        yield Vector(name, packed.replace(old, new, 1), (), ("well-formed", place))
    for name, old, new in (
        ("nested 32 deep, which may be read", b'"ply":2', b'"ply":' + b"[" * 28 + b"]" * 28),
        ("brackets in a string", b"b6-a5", b"[{" * 40),
    ):
        yield Vector(name, packed.replace(old, new, 1), ORDER[:1], ("chain", "events[4]"))


def _members() -> Iterator[Vector]:
    seedless = both(cut("events[0].data.seed"), put("events[0].withheld", ["seed", "seed"]))
    first_of_two = both(put("events[1].at", ""), cut("match"))
    missing_last = both(cut("events[1].actor"), put("events[1].version", ""))
    for name, change, place in (
        ("an unknown member", put("extra", 1), ""),
        ("an unknown member of an event", put("events[2].note", ""), "events[2]"),
        ("the format is missing", cut("format"), ""),
        ("the head is missing", cut("head"), ""),
        ("an instant is missing", cut("events[2].at"), "events[2]"),
        ("events are an object", put("events", {}), "events"),
        ("an event is null", put("events[2]", None), "events[2]"),
        ("no events", put("events", []), "events"),
        ("an instant with a fraction", put("events[2].at", 0.5), "events[2].at"),
        ("an instant as text", put("events[2].at", "0"), "events[2].at"),
        ("a version that is true", put("events[0].version", True), "events[0].version"),
        ("content that is a list", put("events[2].data", []), "events[2].data"),
        ("content that is null", put("events[2].data", None), "events[2].data"),
        ("a digest in capitals", put("head.digest", "A" * 64), "head.digest"),
        ("a digest of 63 digits", put("events[3].digest", "0" * 63), "events[3].digest"),
        ("a digest and a line feed", put("events[3].digest", "0" * 64 + "\n"), "events[3].digest"),
        ("a signature of 127 digits", put("signature.value", "0" * 127), "signature.value"),
        ("an optional member that is null", put("facts.reason", None), "facts.reason"),
        ("an inclusion that is null", put("inclusion", None), "inclusion"),
        ("a score that is text", put("facts.result.scores[1]", "1"), "facts.result.scores[1]"),
        ("a score that is true", put("facts.result.scores[1]", True), "facts.result.scores[1]"),
        ("a player that is a number", put("facts.seats[1].player", 7), "facts.seats[1].player"),
        ("a seat that does not say whether it was taken", cut("facts.seats[1].joined"), "facts.seats[1]"),
        ("a position without version", cut("facts.positions[2].version"), "facts.positions[2]"),
        ("a proof with an unknown member", put("facts.result.proof.by", 1), "facts.result.proof"),
        ("a path with a number", put("inclusion.path[0]", 0), "inclusion.path[0]"),
        ("a note that is an object", put("inclusion.note", {}), "inclusion.note"),
        ("a checkpoint without size", cut("inclusion.checkpoint.size"), "inclusion.checkpoint"),
        ("a checkpoint without a head", cut("inclusion.checkpoint.administration"), "inclusion.checkpoint"),
        ("a signature that says nothing of the inclusion", cut("signature.inclusion"), "signature"),
        ("the first of two faults counts", first_of_two, "events[1].at"),
        ("members that are there count before a missing one", missing_last, "events[1].version"),
        ("withheld of an event without a seed", put("events[2].withheld", ["seed"]), "events[2].withheld"),
        ("withheld though it is there", put("events[0].withheld", ["seed"]), "events[0].withheld"),
        ("withheld beside the seed", put("events[0].withheld", ["creator", "seed"]), "events[0].withheld"),
        ("nothing withheld", put("events[0].withheld", []), "events[0].withheld"),
        ("withheld twice", seedless, "events[0].withheld"),
        ("withheld as text", put("events[0].withheld", "seed"), "events[0].withheld"),
    ):
        yield Vector(name, changed(change), (), ("well-formed", place))
    early = unsealed(("alice", 1, "match-created", 1, {}), ("alice", 2, "seed-drawn", 1, {"seed": "2"}))
    linked(early)["events"][0] |= {"withheld": ["seed"]}
    fault = "well-formed", "events[0].withheld"
    yield Vector("a seed is withheld that is not the last", written(signed(early)), (), fault)


def _chains() -> Iterator[Vector]:
    for name, change, place in (
        ("another actor", put("events[3].actor", "eve"), "events[3]"),
        ("another instant", put("events[3].at", BEGUN_AT), "events[3]"),
        ("another move", put("events[3].data.move", "c3-b4"), "events[3]"),
        ("a member more in the content", put("events[3].data.x", 1), "events[3]"),
        ("another schema", put("events[3].schema", 2), "events[3]"),
        ("another type", put("events[5].type", "draw-accepted"), "events[5]"),
        ("another digest", put("events[3].digest", "0" * 64), "events[3]"),
        ("another match", put("match", "another"), "events[0]"),
        ("an event is missing", cut("events[3]"), "events[3]"),
        ("the first event is missing", cut("events[0]"), "events[0]"),
        ("an event stands twice", lambda b: b["events"].insert(3, b["events"][3]), "events[4]"),
        ("two events are exchanged", lambda b: b["events"].insert(3, b["events"].pop(4)), "events[3]"),
        ("the last event is missing", cut("events[6]"), "head.version"),
        ("the head has another version", put("head.version", 6), "head.version"),
        ("the head has another digest", put("head.digest", "0" * 64), "head.digest"),
    ):
        yield Vector(name, changed(change), ORDER[:1], ("chain", place))
    for name, change, place in (
        ("another digest of what is withheld", put("events[0].digest", "0" * 64), "events[1]"),
        ("a change after what is withheld", put("events[3].data.move", "h6-g5"), "events[3]"),
    ):
        content = running()
        change(content)
        yield Vector(name, written(content), ORDER[:1], ("chain", place))
    for name, change in (
        ("another node budget", put("events[3].data.nodes", 399)),
        ("a node budget is missing", cut("events[3].data.nodes")),
    ):
        content = running(occasion=OCCASION, nodes=400)
        change(content)
        yield Vector(name, written(content), ORDER[:1], ("chain", "events[3]"))


def _signatures() -> Iterator[Vector]:
    another_move, wrong_id = put("events[3].data.move", "c3-b4"), put("signature.key", SERVER.id)
    other_note = put("inclusion.note", sealed(finished(), OTHER, version=5)["inclusion"]["note"])
    foreign = finished()["inclusion"]["checkpoint"]["signature"]
    for name, change, place in (
        ("facts are changed", put("facts.result.scores", [0, 1]), "signature"),
        ("a position is changed", cut("facts.positions[2]"), "signature"),
        ("a move is changed and the chain computed again", both(another_move, linked), "signature"),
        ("the date is changed", put("signature.signed_at", SIGNED_AT + 1), "signature"),
        ("zeros", put("signature.value", "0" * 128), "signature"),
        ("a key that is not given", lambda b: signed(b, OTHER), "signature.key"),
        ("the id of the key in another form", put("signature.key", SERVER.id + "="), "signature.key"),
        ("of another key under the id of the right one", both(lambda b: signed(b, OTHER), wrong_id), "signature"),
        ("before the key was in use", lambda b: signed(b, at=BEGUN_AT - 1), "signature"),
        ("the inclusion is cut out", cut("inclusion"), "inclusion"),
        ("the inclusion is another", put("inclusion", sealed(finished(), version=6)["inclusion"]), "inclusion"),
        ("the inclusion is changed", put("inclusion.leaf", 0), "inclusion.path"),
        ("the note in the inclusion is replaced", other_note, "inclusion"),
        ("another digest of the inclusion", put("signature.inclusion", "0" * 64), "inclusion"),
        ("the signature of the checkpoint", put("signature.value", foreign), "signature"),
    ):
        yield Vector(name, changed(change), ORDER[:2], ("signature", place))
    content = running()
    content["events"][0]["actor"] = "eve"
    yield Vector("a change beside what is withheld", written(content), ORDER[:2], ("signature", "signature"))
    content = running(occasion=OCCASION, nodes=400)
    put("events[0].data.occasion.pairing", "r2-b4")(content)
    yield Vector("another pairing beside what is withheld", written(content), ORDER[:2], ("signature", "signature"))
    packed = written(finished())
    for name, times in (
        ("the key was in use only before", {"until": SIGNED_AT}),
        ("the key was in use only later", {"since": SIGNED_AT + 1}),
        ("the key was revoked before", {"revoked": SIGNED_AT}),
    ):
        yield Vector(name, packed, ORDER[:2], ("signature", "signature"), keys=_keys_with(**times))
    yield Vector("an empty key set", packed, ORDER[:2], ("signature", "signature.key"), keys={"keys": []})
    for name, key, proved in (
        ("another signature of the same key", OddSigner(), True),
        ("a signature whose first half is of small order", OddSigner(nonce=0, commitment=(0, 1)), False),
        ("a signature whose second half is not reduced", OddSigner(reduced=False), False),
        ("a key with a part of small order, and its signature", OddSigner(mixed=True, cofactor=False), True),
        ("a signature that is valid only with the cofactor", OddSigner(mixed=True, cofactor=True), False),
    ):
        fault = None if proved else ("signature", "signature")
        keys = {"keys": [key.published]}
        content = finished()
        del content["inclusion"]
        yield Vector(name, written(signed(content, key)), ORDER[: 2 + proved], fault, keys)


def _checkpoints() -> Iterator[Vector]:
    by_other = put("inclusion", sealed(finished(), version=5, log_key=OTHER)["inclusion"])
    of_other_tree = sealed(finished(), version=6)["inclusion"]["note"]
    in_checkpoint, signature = "inclusion.checkpoint", "inclusion.checkpoint.signature"
    for name, change, place in (
        ("a version that is not there", put("inclusion.version", 8), "inclusion.version"),
        ("version 0", put("inclusion.version", 0), "inclusion.version"),
        ("another version", put("inclusion.version", 4), "inclusion.path"),
        ("another format", put(f"{in_checkpoint}.format", 2), f"{in_checkpoint}.format"),
        ("another leaf", put("inclusion.leaf", 4), "inclusion.path"),
        ("a leaf beyond the log", put("inclusion.leaf", 7), "inclusion.path"),
        ("a negative leaf", put("inclusion.leaf", -1), "inclusion.path"),
        ("a path that is too short", cut("inclusion.path[2]"), "inclusion.path"),
        ("a path that is too long", lambda b: b["inclusion"]["path"].append("0" * 64), "inclusion.path"),
        ("an empty path", put("inclusion.path", []), "inclusion.path"),
        ("a path in another order", lambda b: b["inclusion"]["path"].reverse(), "inclusion.path"),
        ("another size", put(f"{in_checkpoint}.size", 2**40), "inclusion.path"),
        ("a log without leaves", put(f"{in_checkpoint}.size", 0), "inclusion.path"),
        ("another root", put(f"{in_checkpoint}.root", "0" * 64), "inclusion.path"),
        ("another day", put(f"{in_checkpoint}.day", "2023-11-16"), signature),
        ("another origin", put(f"{in_checkpoint}.origin", "0"), signature),
        ("another date", put(f"{in_checkpoint}.signed_at", SIGNED_AT + 1), signature),
        ("before the key was in use", put(f"{in_checkpoint}.signed_at", 0), signature),
        ("another head of the log of administration", put(f"{in_checkpoint}.administration.number", 13), signature),
        ("a key that is not given", by_other, f"{in_checkpoint}.key"),
    ):
        yield Vector(name, changed(change, signed), ORDER[:3], ("checkpoint", place))
    for name, note in (
        ("a note of another tree", lambda note: of_other_tree),
        ("a note of another size", lambda note: note.replace("\n7\n", "\n8\n")),
        ("a note whose size has a leading zero", lambda note: note.replace("\n7\n", "\n07\n")),
        ("a note without signatures", lambda note: note.split("\n\n")[0] + "\n"),
        ("a note without its last line feed", lambda note: note.removesuffix("\n")),
        ("a note with a line feed more", lambda note: f"{note}\n"),
        ("an empty note", lambda note: ""),
        ("a note with carriage returns", lambda note: note.replace("\n", "\r\n")),
        ("a note whose root is not padded", lambda note: note.replace("=\n", "\n", 1)),
        ("a note that names a key with a no-break space", lambda note: note.replace("\u2014 r", "\u2014 r\u00a0")),
        ("a note that names a key with a next line", lambda note: note.replace("\u2014 r", "\u2014 r\u0085")),
        ("a note that names a key with a plus sign", lambda note: note.replace("\u2014 r", "\u2014 r+")),
        ("a note with a tabulator", lambda note: note.replace("\u2014 r", "\u2014 r\t")),
        ("a note whose signature has a hyphen for a dash", lambda note: note.replace("\u2014", "-")),
        ("a note whose signature has no key", lambda note: note.replace("\n\u2014 ", "\n\u2014  ")),
        ("a note whose root has spare bits", lambda note: re.sub("[A-Za-z0-9+/]=\n", "B=\n", note, count=1)),
    ):
        packed = changed(put("inclusion.note", note), signed)
        yield Vector(name, packed, ORDER[:3], ("checkpoint", "inclusion.note"))
    packed = changed(lambda content: content["inclusion"]["path"].reverse(), signed)
    fault = "checkpoint", "inclusion.path"
    yield Vector("without keys only the path is checked", packed, ORDER[:2], fault, keys=None)


def _keys() -> Iterator[Vector]:
    packed, key = written(finished()), SERVER.published
    x = key["x"]
    for name, keys, place in (
        ("a list", [], "keys"),
        ("no list of keys", {"keys": {}}, "keys"),
        ("no object in the list", {"keys": [key["kid"]]}, "keys[0]"),
        ("a key stands twice", {"keys": [key, key]}, "keys[1].kid"),
        ("the id of another key", {"keys": [key | {"kid": OTHER.id}]}, "keys[0].kid"),
        ("an id is missing", {"keys": [_without(key, "kid")]}, "keys[0]"),
        ("another kind of key", {"keys": [OTHER.published, key | {"kty": "EC"}]}, "keys[1]"),
        ("a key of 30 bytes", {"keys": [key | {"x": x[:40]}]}, "keys[0]"),
        ("a key that is not base64url", {"keys": [key | {"x": x[:-1] + "!"}]}, "keys[0].x"),
        ("a key with spare bits that are not zero", {"keys": [key | {"x": x[:-1] + "h"}]}, "keys[0].x"),
        ("a key in padded base64url", {"keys": [key | {"x": x + "="}]}, "keys[0].x"),
        ("an unknown member", {"keys": [key | {"d": ""}]}, "keys[0]"),
        ("an instant as text", {"keys": [key | {"since": "0"}]}, "keys[0].since"),
        ("an end as text", {"keys": [key | {"until": ""}]}, "keys[0].until"),
        ("a revocation that is null", {"keys": [key | {"revoked": None}]}, "keys[0].revoked"),
        ("no algorithm", {"keys": [_without(key, "alg")]}, "keys[0]"),
        ("no use", {"keys": [_without(key, "use")]}, "keys[0]"),
        ("an instant beyond 2^53", {"keys": [key | {"since": 2**53}]}, "keys[0].since"),
        ("an instant of a thousand digits", _key_set({"since": "9" * 5000}), "keys[0].since"),
        ("an instant of 1e300", _key_set({"until": "1e300"}), "keys[0].until"),
        ("an instant with a fraction", _key_set({"since": "0.5"}), "keys[0].since"),
        ("two faults, of which the first by name counts", _key_set({"use": "1", "since": '"0"'}), "keys[0].since"),
        ("an instant that is not a number", _key_set({"since": "NaN"}), ""),
        ("a key set that is no JSON", b64encode(b'{"keys":[]').decode(), ""),
        ("a key set that is not UTF-8", b64encode(b'{"keys":[],"\xff":0}').decode(), ""),
        ("a key set with a byte order mark", b64encode(b'\xef\xbb\xbf{"keys":[]}').decode(), ""),
        ("a key set that is nested 33 deep", b64encode(b'{"keys":' + b"[" * 32 + b"]" * 32 + b"}").decode(), ""),
    ):
        yield Vector(name, packed, (), ("keys", place), keys=keys)
    for name, raw in WEAK.items():
        yield Vector(f"a key {name}", packed, (), ("keys", "keys[0]"), keys={"keys": [published(raw)]})
    readable: tuple[tuple[str, Any], ...] = (
        ("an instant written with an exponent", _key_set({"since": "17e11"})),
        ("an instant written with a fraction of zero", _key_set({"since": f"{BEGUN_AT}.0"})),
        ("another algorithm and another use, which are not checked", {"keys": [key | {"alg": "", "use": "enc"}]}),
        ("members beside the list of keys", {"keys": [key], "more": {"a": [None]}}),
        (
            "a member that stands twice in a key, of which the last counts",
            _key_set({'since":"0","since': str(BEGUN_AT)}),
        ),
    )
    for name, keys in readable:
        yield Vector(name, packed, keys=keys)


def _key_set(change: dict[str, str]) -> str:
    """Return the base64 of the server's key set in which the values of some members are these texts."""
    members = {name: json.dumps(value) for name, value in SERVER.published.items() if name not in change} | change
    text = ",".join(f'"{name}":{value}' for name, value in members.items())
    return b64encode(f'{{"keys":[{{{text}}}]}}'.encode()).decode()


def _without(key: Content, member: str) -> Content:
    return {name: value for name, value in key.items() if name != member}


def _keys_with(**times: int) -> Any:
    return {"keys": [SERVER.published | times]}
