"""Credentials: the sessions and tokens by which callers are recognised, stored by the SHA-256 of their secrets.

Each names its owner, whose account is read in the same round trip. The digest comes before the name, so no other reply
can pass for it.
"""

import hashlib
from typing import NamedTuple

from events.people.person import Person, Suspension, unpack_suspension
from events.runtime.connections import StoreClient
from events.runtime.errors import StoreUnavailableError
from events.runtime.keys import PeopleKeys
from events.runtime.scripts import load_script

DIGEST_DIGITS = 64
"""A key of a session, token or ticket ends with the SHA-256 of its secret in hexadecimal digits."""

FOREIGN_REPLY = "a reply of the event store does not belong to the question"


class ForeignReplyError(StoreUnavailableError):
    """A reply of the store does not belong to what it was asked: nothing of it is used."""


class Admission(NamedTuple):
    """The owner of a session or token, their acts in this window, which ends in ``resets_in`` seconds, and limits."""

    person: Person
    used: int
    resets_in: int
    suspension: Suspension | None
    availability: bytes | None


class Credentials:
    """The sessions and tokens of all people."""

    def __init__(self, client: StoreClient, prefix: str) -> None:
        self._client = client
        self._keys = PeopleKeys(prefix)
        self._admit = load_script(client, __package__, "admit")

    def key(self, kind: str, secret: str) -> str:
        """Return the key of the "session" or "token" with this ``secret``; it does not reveal the secret."""
        digest = hashlib.sha256(secret.encode(errors="replace")).hexdigest()
        return self._keys.session(digest) if kind == "session" else self._keys.token(digest)

    def person_of(self, key: str) -> Person | None:
        """Return the owner of the session or token stored under ``key``, None when it has ended or never existed."""
        admission = self._recognise(key, 0)
        return None if admission is None else admission.person

    def admit(self, kind: str, secret: str, window: int) -> Admission | None:
        """Return the owner of this "session" or "token" and count an act in this ``window`` (s); None if invalid."""
        return self._recognise(self.key(kind, secret), window)

    def _recognise(self, key: str, window: int) -> Admission | None:
        keys = self._keys
        reply = self._admit([key], [keys.accounts, keys.writes, window, keys.suspensions, keys.availabilities])
        match reply:
            case None:
                return None
            case [stored, [name, kind, created_at], int(used), int(resets_in), suspension, availability]:
                person_id = belonging_to(key, stored).decode()
                person = Person(person_id, name.decode(), kind.decode(), int(created_at))
                return Admission(person, used, resets_in, unpack_suspension(suspension), availability)
        raise ForeignReplyError(FOREIGN_REPLY)


def with_digest(key: str, content: str) -> str:
    """Return the stored form of the ``content`` of ``key``, for ``belonging_to``."""
    return key[-DIGEST_DIGITS:] + content


def belonging_to(key: str, stored: object) -> bytes:
    """Return what is ``stored`` under ``key`` without the digest before it; raises ForeignReplyError for another's."""
    digest = key[-DIGEST_DIGITS:].encode()
    if not (isinstance(stored, bytes) and stored.startswith(digest)):
        raise ForeignReplyError(FOREIGN_REPLY)
    return stored[DIGEST_DIGITS:]
