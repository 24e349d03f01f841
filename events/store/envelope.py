"""The envelope of an event, its canonical bytes, and the hash chain.

The id of an event is the SHA-256 of the digest before it and its canonical bytes: it names everything before it, too.
"""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import orjson


class Draft(NamedTuple):
    """An event that has not been appended; ``actor`` is the id of a player or a part of the server."""

    type: str
    schema: int
    at: int
    actor: str
    data: Mapping[str, Any]


class Envelope(NamedTuple):
    """An event of a stream. ``id`` is its chain digest in hexadecimal (64 characters)."""

    id: str
    stream: str
    version: int
    type: str
    schema: int
    at: int
    actor: str
    data: Mapping[str, Any]

    @property
    def draft(self) -> Draft:
        """The event without its place in the stream."""
        return Draft(self.type, self.schema, self.at, self.actor, self.data)

    @property
    def digest(self) -> bytes:
        """The chain digest, 32 bytes."""
        return bytes.fromhex(self.id)


class SealedEvent(NamedTuple):
    """An event that has got its place in the chain: the envelope, its stored bytes and its digest (32 bytes)."""

    envelope: Envelope
    packed: bytes
    digest: bytes


def canonical_bytes(draft: Draft, stream: str, version: int) -> bytes:
    """Return the canonical bytes of an event: JSON after RFC 8785 (sorted keys, no white space, UTF-8).

    Raises ValueError (NaN, infinities, integers beyond 2**53, lone surrogates) and TypeError.
    """
    return _canonical(_plain(draft), stream, version)


def canonical_json(value: Any) -> bytes:
    """Return ``value`` as RFC 8785 JSON bytes; raises ValueError or TypeError where it has no such form."""
    return _encode(_canonical_value(value))


def chain_digest(previous: bytes, event: bytes) -> bytes:
    """Return the digest of an event with canonical bytes ``event`` that follows the digest ``previous`` (32 bytes)."""
    return hashlib.sha256(previous + event).digest()


def seal(drafts: Sequence[Draft], stream: str, version: int, digest: bytes) -> list[SealedEvent]:
    """Return ``drafts`` as the events that follow ``version`` with ``digest``; raises like ``canonical_bytes``."""
    sealed = []
    for draft in drafts:
        version += 1
        plain = _plain(draft)
        digest = chain_digest(digest, _canonical(plain, stream, version))
        # Stored without stream and version, which are the key and the entry id already; without names of fields an
        # entry takes a third less memory.
        sealed.append(SealedEvent(Envelope(digest.hex(), stream, version, *plain), _encode(plain), digest))
    return sealed


def _plain(draft: Draft) -> tuple[str, int, int, str, Any]:
    kind, schema, at, actor, content = draft
    return kind, schema, at, actor, _canonical_value(content)


def _canonical(plain: tuple[str, int, int, str, Any], stream: str, version: int) -> bytes:
    kind, schema, at, actor, content = plain
    return _encode(
        {
            "actor": actor,
            "at": at,
            "data": content,
            "schema": schema,
            "stream": stream,
            "type": kind,
            "version": version,
        }
    )


def unpack(packed: bytes, stream: str, version: int, digest: bytes) -> Envelope:
    """Return the event whose stored bytes are ``packed``; raises ValueError when they cannot be an event."""
    fields = orjson.loads(packed)
    if not isinstance(fields, list) or list(map(type, fields)) != _PACKED_TYPES or len(digest) != 32:
        raise ValueError("these are not the fields of an event")
    return Envelope(digest.hex(), stream, version, *fields)


_PACKED_TYPES: list[type] = [str, int, int, str, dict]
_MAX_INTEGER = 2**53 - 1


def _encode(value: Any) -> bytes:
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS | orjson.OPT_STRICT_INTEGER)
    except orjson.JSONEncodeError as error:
        surrogate = "surrogates" in str(error)
        raise ValueError("half of a surrogate pair is no character" if surrogate else str(error)) from None


_STRING = frozenset({str})
_SINGLE = frozenset({str, int, bool, type(None)})
"""Types whose values are written as they are; that integers fit is seen to when they are."""


def _canonical_value(value: Any) -> Any:
    if type(value) is dict and _STRING.issuperset(map(type, value)) and "".join(value).isascii():
        if _SINGLE.issuperset(map(type, value.values())):
            return value
        return {key: item if type(item) in _SINGLE else _canonical_value(item) for key, item in value.items()}
    if value is None or isinstance(value, str | bool):
        return value
    if isinstance(value, int):
        if abs(value) > _MAX_INTEGER:
            raise ValueError(f"{value} is beyond the integers that JSON carries exactly")
        return value
    if isinstance(value, float):
        # Python and ECMAScript (which RFC 8785 follows) write the shortest digits alike, but change to exponents at
        # other sizes; numbers outside the common range do not occur in events.
        if not abs(value) <= _MAX_INTEGER:
            raise ValueError(f"{value!r} is no number that JSON carries exactly")
        if value.is_integer():
            return int(value)
        if abs(value) < 1e-4:
            raise ValueError(f"{value!r} is too small to have the same form everywhere")
        return value
    if isinstance(value, Mapping):
        return {_key(key): _canonical_value(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [item if type(item) in _SINGLE else _canonical_value(item) for item in value]
    raise TypeError(f"{type(value).__name__} is no JSON value")


def _key(key: object) -> str:
    if not isinstance(key, str):
        raise TypeError(f"the JSON key {key!r} is not a string")
    if not key.isascii():
        # RFC 8785 sorts keys by UTF-16 code units, Python by code points: the same order for ASCII.
        raise ValueError(f"the JSON key {key!r} is not ASCII")
    return key
