"""Sessions: what a browser holds after signing in."""

import secrets
from collections.abc import Callable
from typing import NamedTuple

from events.people.credentials import Credentials, with_digest
from events.people.person import Person, UnknownPersonError
from events.runtime.connections import StoreClient, StorePipeline
from events.runtime.keys import PeopleKeys
from events.runtime.transactions import transact

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

    def open(self, person: Person, ttl_s: int) -> str:
        """Return the secret of a new session of ``person``, valid for ``ttl_s`` seconds. Raises UnknownPersonError."""
        secret = secrets.token_urlsafe(32)
        key = self._credentials.key("session", secret)
        account, sessions = self._keys.account(person.id), self._keys.sessions(person.id)

        def change(pipeline: StorePipeline) -> None:
            if not pipeline.exists(account):
                raise UnknownPersonError(person.id)
            surplus = pipeline.zrange(sessions, 0, -MAX_SESSIONS_PER_PERSON)
            pipeline.multi()
            pipeline.set(key, with_digest(key, person.id), ex=ttl_s)
            pipeline.zadd(sessions, {key: self._now()})
            pipeline.expire(sessions, ttl_s)
            if surplus:
                pipeline.delete(*surplus)
                pipeline.zrem(sessions, *surplus)

        # Crash-safe: one step with the check that there is the account: of a person who is being erased none is left.
        transact(self._client, [account, sessions], change)
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
        sessions = self._keys.sessions(person.id)

        def change(pipeline: StorePipeline) -> None:
            opened = pipeline.zrange(sessions, 0, -1)
            pipeline.multi()
            pipeline.delete(sessions, *opened)

        transact(self._client, [sessions], change)
