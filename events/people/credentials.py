"""Credentials: the sessions and tokens by which callers are recognised.

The store keeps the SHA-256 of each secret, never the secret. A session or token key carries the whole person, so that
recognising a caller takes one round trip.
"""

import hashlib
from typing import NamedTuple

from events.people.person import Person, Suspension, unpack_person, unpack_suspension
from events.runtime.connections import StoreClient
from events.runtime.keys import PeopleKeys
from events.runtime.scripts import load_script
from events.store.converter import unpack


class Admission(NamedTuple):
    """The owner of a session or token, and their use of the write limit.

    ``used`` counts the person's acts in this window, which ends in ``resets_in`` seconds. ``suspension`` is None when
    the person may act.
    """

    person: Person
    used: int
    resets_in: int
    suspension: Suspension | None


class Credentials:
    """The sessions and tokens of all people. Methods raise StoreError when the store is unreachable."""

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
        return unpack_person(self._client.get(key))

    def admit(self, kind: str, secret: str, window: int) -> Admission | None:
        """Return the owner of this "session" or "token" and count one act of theirs; None when it is invalid.

        Acts are counted in windows of ``window`` seconds, each beginning with the first act after the previous one.
        """
        key = self.key(kind, secret)
        admitted = self._admit(keys=[key], args=[self._keys.writes, window, self._keys.suspensions])
        if not admitted:
            return None
        packed, used, resets_in, suspension = admitted
        return Admission(unpack(Person, packed), used, resets_in, unpack_suspension(suspension))
