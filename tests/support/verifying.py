"""Bundles taken to pieces in tests: what is proved of them, and what is wrong after a change."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from events.proof.bundle import make_bundle
from events.proof.documents import DocumentError, write_document
from events.proof.keys import SigningKey
from events.proof.public_keys import KeySet
from events.proof.verification import Step, verify
from tests.support.bundles import KEY, SIGNED_AT, envelopes, keys
from tests.support.matches import PlayedMatch

Change = Callable[[dict[str, Any]], Any]


def steps(packed: bytes, trusted: KeySet | None = None, **more: Any) -> dict[str, Step]:
    return {step.name: step for step in verify(packed, keys() if trusted is None else trusted, **more)}


def fault(packed: bytes, trusted: KeySet | None = None, **more: Any) -> DocumentError:
    """Return the first thing that is wrong with a bundle."""
    with pytest.raises(DocumentError) as caught:
        steps(packed, trusted, **more)
    return caught.value


def fault_after(packed: bytes, offset: int, trusted: KeySet) -> DocumentError | None:
    """Return what is wrong with a bundle after one bit of the byte at ``offset`` was changed, None for nothing."""
    damaged = bytearray(packed)
    damaged[offset] ^= 1
    try:
        for _ in verify(bytes(damaged), trusted):
            pass
    except DocumentError as found:
        return found
    return None


def changed(packed: bytes, change: Change) -> bytes:
    """Return the bundle after ``change``, written as a bundle is."""
    content = json.loads(packed)
    change(content)
    return write_document(content)


def resealed(
    match: PlayedMatch, change: Callable[[list[Any]], Any], key: SigningKey = KEY, *, positions: bool = False
) -> bytes:
    """Return a bundle of which every digest and the signature fit, made of the events after ``change``."""
    events = list(match.events)
    change(events)
    stored, now = envelopes(events, match.name), max(SIGNED_AT, match.now)
    return make_bundle(match.name, stored, key, now, None, positions=positions)
