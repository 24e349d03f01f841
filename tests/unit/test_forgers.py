"""What a forger who knows the code may write: it ends in a fault, or in steps that are not proved; in nothing else."""

import json
from collections.abc import Iterator
from contextlib import suppress
from random import Random
from typing import Any

import pytest

from events.proof.documents import DocumentError, write_document
from events.proof.verification import verify
from events.store.contract import GENESIS
from events.store.envelope import Draft, canonical_bytes, chain_digest
from tests.support.bundles import STORIES, bundle_of, keys
from tests.support.draws import sampled

FORGERIES = 80
"""Of each story."""

WRITTEN: tuple[Any, ...] = (
    *(0, -1, 1, 2, 7, 99, 2**31, 2**53 - 1, 1 - 2**53, 10**15, 0.5, True, None),
    *("", "x", "x" * 20_000, "\0", "\u202e", "é", "bashni", "towers", "opponent-1", "time", "ruling", "draw-agreed"),
    *([], {}, [[]], [0] * 50, {"a": 1}),
)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the paths of all values within ``value``."""
    steps = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, item in steps:
        yield (*path, step)
        yield from places(item, (*path, step))


def linked_anew(content: dict[str, Any]) -> None:
    """Compute the chain of a bundle again, as far as its events are events."""
    digest = GENESIS
    for version, event in enumerate(content["events"], 1):
        event["version"] = version
        draft = Draft(event["type"], event["schema"], event["at"], event["actor"], event["data"])
        digest = chain_digest(digest, canonical_bytes(draft, content["match"], version))
        event["digest"] = digest.hex()
    content["head"] = {"digest": digest.hex(), "version": len(content["events"])}


def forged(packed: bytes, chance: Random) -> bytes:
    """Return a bundle with events changed, doubled or left out, and the chain computed again."""
    content = json.loads(packed)
    for _ in range(chance.choice([1, 1, 2, 3])):
        events, what = content["events"], chance.random()
        if what < 0.8:
            *path, last = chance.choice([path for path in places(events) if len(path) > 1])
            holder: Any = events
            for step in path:
                holder = holder[step]
            holder[last] = json.loads(json.dumps(chance.choice(WRITTEN)))
        elif what < 0.9:
            events.insert(chance.randrange(len(events)), json.loads(json.dumps(chance.choice(events))))
        elif len(events) > 1:
            del events[chance.randrange(len(events))]
    content["facts"]["replayed"] *= chance.choice([0, 1])
    # What is no event has no digest; the bundle is refused before its chain is looked at.
    with suppress(KeyError, TypeError, ValueError, AttributeError):
        linked_anew(content)
    return write_document(content)


@sampled("story", STORIES)
def test_whatever_is_written_into_events_is_refused_or_not_vouched_for(story: str) -> None:
    chance, packed = Random(f"forger of {story}"), bundle_of(STORIES[story]())
    for _ in range(FORGERIES):
        forgery = forged(packed, chance)
        if forgery == packed:
            continue
        with pytest.raises(DocumentError):
            list(verify(forgery, keys()))
        with suppress(DocumentError):
            assert not {step.name: step for step in verify(forgery, recompute=True)}["signature"].proved
