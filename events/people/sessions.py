"""Sessions: what a browser holds after signing in."""

import secrets
from collections.abc import Callable
from typing import NamedTuple

from events.people.credentials import Credentials
from events.people.person import Person, UnknownPersonError, pack_person
from events.runtime.connections import StoreClient
from events.runtime.keys import PeopleKeys
from events.runtime.scripts import load_script

MAX_SESSIONS_PER_PERSON = 50
"""One more sign-in ends the oldest session."""


class Session(NamedTuple):
    """A session as its owner sees it, without its secret."""

    created_at: int
    expires_at: int


class Sessions:
    """The sessions of all people."""

    def __init__(self, client: StoreClient, prefix: str, now: Callable[[], int], credentials: Credentials) -> None:
        self._client = client
        self._keys = PeopleKeys(prefix)
        self._now = now
        self._credentials = credentials
        self._open = load_script(client, __package__, "open_session")
        self._end_all = load_script(client, __package__, "end_sessions")

    def open(self, person: Person, ttl_s: int) -> str:
        """Return the secret of a new session of ``person``, valid for ``ttl_s`` seconds. Raises UnknownPersonError."""
        secret = secrets.token_urlsafe(32)
        key = self._credentials.key("session", secret)
        keys = [self._keys.account(person.id), key, self._keys.sessions(person.id)]
        if not self._open(keys=keys, args=[pack_person(person), ttl_s, self._now(), MAX_SESSIONS_PER_PERSON]):
            raise UnknownPersonError(person.id)
        return secret

    def of(self, person: Person) -> list[Session]:
        """Return the sessions of ``person`` that have not ended, oldest first."""
        opened = self._client.zrange(self._keys.sessions(person.id), 0, -1, withscores=True)
        with self._client.pipeline(transaction=False) as pipeline:
            for key, _ in opened:
                pipeline.pttl(key)
            left = pipeline.execute()
        now = self._now()
        return [Session(int(at), now + ms) for (_, at), ms in zip(opened, left, strict=True) if ms > 0]

    def end(self, secret: str) -> None:
        """End the session with this ``secret``, if it has not ended already."""
        key = self._credentials.key("session", secret)
        person = self._credentials.person_of(key)
        if person is not None:
            with self._client.pipeline(transaction=True) as pipeline:
                pipeline.delete(key)
                pipeline.zrem(self._keys.sessions(person.id), key)
                pipeline.execute()

    def end_all(self, person: Person) -> None:
        """End all sessions of ``person``, on all devices."""
        self._end_all(keys=[self._keys.sessions(person.id)])
