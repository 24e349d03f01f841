"""The kinds of streams, told by their names: ``seek-...`` and ``tournament-...`` are contests, all others matches."""

import base64
import hashlib
from collections.abc import Iterable, Iterator
from enum import StrEnum


class StreamKind(StrEnum):
    """The aggregate whose events a stream has."""

    MATCH = "match"
    SEEK = "seek"
    TOURNAMENT = "tournament"


_CONTESTS = {f"{kind}-": kind for kind in StreamKind if kind != StreamKind.MATCH}
_BEGINNINGS = tuple(_CONTESTS)


def is_match(stream: str) -> bool:
    """Tell whether ``stream`` is that of a match."""
    return not stream.startswith(_BEGINNINGS)


def kind_of(stream: str) -> StreamKind:
    """Return the kind of ``stream``."""
    return StreamKind.MATCH if is_match(stream) else StreamKind(stream.partition("-")[0])


def only_matches(streams: Iterable[str]) -> Iterator[str]:
    """Yield those of ``streams`` that are matches."""
    return filter(is_match, streams)


def stream_id(kind: StreamKind, person: str, key: str) -> str:
    """Return the id of the contest that ``person`` begins with the idempotency key ``key``: the same for a repetition.

    It is the name of its stream, and fit to be the id of an ``Occasion``.
    """
    made_of = f"{kind}\n{person}\n{key}"
    return f"{kind}-{digest_id(made_of)}"


def digest_id(text: str) -> str:
    """Return the first 80 bits of the SHA-256 of ``text`` in base 32, 16 letters and digits: always the same id."""
    return base64.b32encode(hashlib.sha256(text.encode()).digest()[:10]).decode().lower()
