"""Test vectors of the consistency of checkpoints (``docs/proof/bundle.md``, section 11)."""

import hashlib
import json
from base64 import b64encode
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tests.support.plain_bundles import (
    OTHER,
    SERVER,
    Change,
    both,
    checkpoint_of,
    cut,
    other_leaves,
    put,
    root_and_path,
    written,
)

FILE = Path(__file__).parents[2] / "docs" / "proof" / "vectors" / "consistency" / "consistency.json"
KEYS = {"keys": [SERVER.published]}
STEPS = ("earlier", "later", "consistency")
EMPTY_ROOT = hashlib.sha256().digest()


def text() -> str:
    """Return the content of the file: a JSON array, one vector a line."""
    lines = ",\n".join(map(json.dumps, _vectors()))
    return f"[\n{lines}\n]\n"


def _vectors() -> Iterator[dict[str, Any]]:
    for first, second in ((0, 0), (0, 5), (1, 1), (1, 8), (3, 7), (4, 7), (6, 7), (7, 7), (8, 9), (33, 100), (64, 100)):
        yield _vector(f"{first} leaves, then {second}", first, second)
    yield _vector("no keys are given", keys=None, proved=STEPS[2:])
    for name, step, place, change in (
        ("another format", "earlier", "format", put("earlier.format", 2)),
        ("an unknown member", "earlier", "", put("earlier.extra", 1)),
        ("another day", "earlier", "signature", put("earlier.day", "2023-11-16")),
        ("a key that is not given", "earlier", "key", put("earlier", checkpoint_of(3, _root(3), OTHER))),
        ("before the key was in use", "earlier", "signature", put("earlier", checkpoint_of(3, _root(3), SERVER, at=0))),
        ("a forged signature", "later", "signature", put("later.signature", "0" * 128)),
        ("another root", "later", "signature", put("later.root", "0" * 64)),
        ("another origin", "consistency", "origin", put("later", checkpoint_of(7, _root(7), SERVER, origin="x"))),
        ("other sizes", "consistency", "sizes", put("proof.sizes", [3, 8])),
        ("three sizes", "consistency", "sizes", put("proof.sizes", [3, 7, 7])),
        ("sizes as text", "consistency", "sizes[0]", put("proof.sizes", ["3", "7"])),
        ("no sizes", "consistency", "", cut("proof.sizes")),
        ("no path", "consistency", "path", put("proof.path", [])),
        ("a path that is too short", "consistency", "path", cut("proof.path[3]")),
        ("a path that is too long", "consistency", "path", lambda case: case["proof"]["path"].append("0" * 64)),
        ("a path in another order", "consistency", "path", lambda case: case["proof"]["path"].reverse()),
        ("a hash in capitals", "consistency", "path[0]", put("proof.path[0]", "A" * 64)),
        ("a log written again", "consistency", "path", put("earlier", checkpoint_of(3, _root(4), SERVER))),
        ("the later one first", "consistency", "path", both(_exchange, put("proof.sizes", [7, 3]))),
    ):
        yield _vector(name, change=change, proved=STEPS[: STEPS.index(step)], fault={"step": step, "place": place})
    fault = {"step": "consistency", "place": "path"}
    for name, size in (("two logs of one size", 3), ("a root of no leaves that is none", 0)):
        forked = put("earlier", checkpoint_of(size, _root(4), SERVER))
        yield _vector(name, size, 3, change=forked, proved=STEPS[:2], fault=fault)


def _vector(
    name: str,
    first: int = 3,
    second: int = 7,
    *,
    change: Change | None = None,
    keys: Any = KEYS,
    proved: Sequence[str] = STEPS,
    fault: Any = None,
) -> dict[str, Any]:
    """Return a vector of two checkpoints and the proof of their consistency, after a ``change`` to the three."""
    path = _consistency(first, other_leaves(second)) if first else []
    case = {
        "earlier": checkpoint_of(first, _root(first), SERVER),
        "later": checkpoint_of(second, _root(second), SERVER),
        "proof": {"path": [node.hex() for node in path], "sizes": [first, second]},
    }
    if change is not None:
        change(case)
    packed = {member: b64encode(written(document)).decode() for member, document in case.items()}
    return {"name": name, "given": packed | {"keys": keys}, "expect": {"proved": list(proved), "fault": fault}}


def _root(size: int) -> bytes:
    return root_and_path(other_leaves(size), None)[0] if size else EMPTY_ROOT


def _consistency(first: int, hashes: Sequence[bytes], whole: bool = True) -> list[bytes]:
    """Return the proof that the first ``hashes`` begin all of them, as RFC 9162, section 2.1.4.1, defines it."""
    if first == len(hashes):
        return [] if whole else [root_and_path(hashes, None)[0]]
    split = 1 << ((len(hashes) - 1).bit_length() - 1)
    if first <= split:
        return [*_consistency(first, hashes[:split], whole), root_and_path(hashes[split:], None)[0]]
    return [*_consistency(first - split, hashes[split:], False), root_and_path(hashes[:split], None)[0]]


def _exchange(case: dict[str, Any]) -> None:
    case["earlier"], case["later"] = case["later"], case["earlier"]
