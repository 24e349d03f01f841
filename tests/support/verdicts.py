"""What verifiers say of a bundle, in the form in which they are compared: what is given and the verdict, as JSON.

``docs/proof/bundle.md``, section 13, specifies both.
"""

import json
from base64 import b64decode, b64encode
from typing import Any

from events.proof.checkpoints import read_checkpoint, read_consistency
from events.proof.documents import DocumentError
from events.proof.policies import parse_policy
from events.proof.public_keys import read_key_set
from events.proof.verification import FaultyBundleError, verify

Given = dict[str, Any]
Verdict = dict[str, Any]


def given(packed: bytes, keys: Any = None, policy: str | None = None) -> Given:
    """Return what a verifier is given: a bundle, a key set or None, and a policy of witnesses or None."""
    return {"bundle": b64encode(packed).decode(), "keys": keys, "policy": policy}


def verdict(asked: Given) -> Verdict:
    """Return what the product's verifier says, of a bundle without the rules."""
    if "earlier" in asked:
        return _verdict_on_checkpoints(asked)
    proved: list[str] = []
    step, fault = "keys", None
    try:
        keys = None if asked["keys"] is None else read_key_set(json.dumps(asked["keys"]).encode())
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


def _verdict_on_checkpoints(asked: Given) -> Verdict:
    proved: list[str] = []
    step = "keys"
    try:
        keys = None if asked["keys"] is None else read_key_set(json.dumps(asked["keys"]).encode())
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
