"""What verifiers say of a bundle, in the form in which they are compared: what is given and the verdict, as JSON.

``docs/proof/bundle.md``, section 13, specifies both.
"""

import json
from base64 import b64decode, b64encode
from typing import Any

from events.proof.documents import DocumentError
from events.proof.public_keys import read_key_set
from events.proof.verification import FaultyBundleError, verify

Given = dict[str, Any]
Verdict = dict[str, Any]


def given(packed: bytes, keys: Any = None, policy: str | None = None) -> Given:
    """Return what a verifier is given: a bundle, a key set or None, and a policy of witnesses or None."""
    return {"bundle": b64encode(packed).decode(), "keys": keys, "policy": policy}


def verdict(asked: Given) -> Verdict:
    """Return what the product's verifier says without the rules."""
    proved: list[str] = []
    fault = None
    try:
        keys = None if asked["keys"] is None else read_key_set(json.dumps(asked["keys"]).encode())
    except DocumentError as refused:
        return {"proved": proved, "fault": {"step": "keys", "place": refused.place}}
    try:
        for step in verify(b64decode(asked["bundle"]), keys, rules=False):
            if step.proved:
                proved.append(step.name)
    except FaultyBundleError as found:
        fault = {"step": found.step, "place": found.path}
    return {"proved": proved, "fault": fault}
