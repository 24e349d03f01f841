"""A person as every other module knows them: an opaque id, a name and a kind."""

import base64
import secrets
from typing import NamedTuple

from events.store.converter import unpack

GUEST = "guest"
"""The kind of an account without a password, of which anybody can have many."""


class Person(NamedTuple):
    """A holder of seats. ``kind`` is "person", "guest" or "bot", ``created_at`` milliseconds since 1970 UTC."""

    id: str
    name: str
    kind: str
    created_at: int


class Suspension(NamedTuple):
    """The reason why a person may not act, and its end (milliseconds since 1970 UTC; None: until it is lifted)."""

    reason: str
    until: int | None


class UnknownPersonError(LookupError):
    """No person has this id, perhaps because they have just been erased."""


def unpack_suspension(stored: bytes | None) -> Suspension | None:
    """Return the suspension of a stored form, None for an empty one."""
    return unpack(Suspension, stored) if stored else None


def random_letters(size: int) -> str:
    """Return ``size`` random bytes in lower-case base 32."""
    return base64.b32encode(secrets.token_bytes(size)).decode().rstrip("=").lower()
