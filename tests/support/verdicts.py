"""What verifiers say of a bundle, in the form in which they are compared: what is given and the verdict, as JSON.

``docs/proof/bundle.md``, section 13, specifies both.
"""

import json
from base64 import b64decode, b64encode
from typing import Any

from events.proof.bundle import read_bundle
from events.proof.checkpoints import read_checkpoint, read_consistency
from events.proof.documents import DocumentError
from events.proof.policies import parse_policy
from events.proof.public_keys import KeySet, read_key_set
from events.proof.receipts import compare, read_receipt
from events.proof.verification import FaultyBundleError, verify

Given = dict[str, Any]
Verdict = dict[str, Any]


def given(packed: bytes, keys: Any = None, policy: str | None = None) -> Given:
    """Return what a verifier is given: a bundle, a key set or None, and a policy of witnesses or None."""
    return {"bundle": b64encode(packed).decode(), "keys": keys, "policy": policy}


def read_keys(keys: Any) -> KeySet | None:
    """Return the key set that is given as its value, or as the base64 of its bytes; raises DocumentError."""
    if keys is None:
        return None
    return read_key_set(b64decode(keys) if isinstance(keys, str) else json.dumps(keys).encode())


def verdict(asked: Given) -> Verdict:
    """Return what the product's verifier says, of a bundle without the rules.

    ``crash`` is what a verifier ends with that is no verdict: there must be none.
    """
    try:
        return _verdict(asked)
    except Exception as error:
        return {"crash": repr(error)[:500]}


def crash_with_rules(asked: Given) -> str | None:
    """Return what the verification of a bundle with the rules ends with, if that is no verdict; None if it is one."""
    try:
        for _ in verify(b64decode(asked["bundle"]), read_keys(asked["keys"])):
            pass
    except DocumentError:
        return None
    except Exception as error:
        return repr(error)[:500]
    return None


def _verdict(asked: Given) -> Verdict:
    if "receipt" in asked:
        return _verdict_on_receipt(asked)
    if "earlier" in asked:
        return _verdict_on_checkpoints(asked)
    proved: list[str] = []
    step, fault = "keys", None
    try:
        keys = read_keys(asked["keys"])
        step = "policy"
        policy = None if asked["policy"] is None else parse_policy(asked["policy"].encode())
        for found in verify(b64decode(asked["bundle"]), keys, rules=False, policy=policy):
            if found.proved:
                proved.append(found.name)
    except FaultyBundleError as refused:
        fault = {"step": refused.step, "place": refused.path}
    except DocumentError as refused:
        fault = {"step": step, "place": refused.place}
    return {"proved": proved, "fault": fault}


def _verdict_on_receipt(asked: Given) -> Verdict:
    """Return how a receipt compares with a bundle, its fault, or that of the ``bundle``."""
    try:
        keys = read_keys(asked["keys"])
        receipt = read_receipt(b64decode(asked["receipt"]))
        if keys is not None:
            receipt.check(keys)
        packed = b64decode(asked["bundle"])
        for _ in verify(packed, keys, rules=False):
            pass
        return {"comparison": compare(receipt, read_bundle(packed))}
    except FaultyBundleError as refused:
        return {"bundle": {"step": refused.step, "place": refused.path}}
    except DocumentError as refused:
        return {"fault": refused.place}


def _verdict_on_checkpoints(asked: Given) -> Verdict:
    proved: list[str] = []
    step = "keys"
    try:
        keys = read_keys(asked["keys"])
        read = []
        for step in ("earlier", "later"):
            checkpoint = read_checkpoint(b64decode(asked[step]))
            read.append(checkpoint)
            if keys is not None:
                checkpoint.check(keys)
                proved.append(step)
        step = "consistency"
        read_consistency(b64decode(asked["proof"])).check(*read)
        proved.append(step)
    except DocumentError as refused:
        return {"proved": proved, "fault": {"step": step, "place": refused.place}}
    return {"proved": proved, "fault": None}
