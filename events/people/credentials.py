"""Credentials: the sessions and tokens by which callers are recognised, stored by the SHA-256 of their secrets.

Each names its owner, whose account is read in the same round trip. The digest comes before the name, so no other reply
can pass for it.
"""

import hashlib
import secrets
from collections.abc import Callable
from typing import NamedTuple

from events.people.person import Person, Suspension, UnknownPersonError, random_letters, unpack_suspension
from events.runtime.connections import StoreClient, StorePipeline
from events.runtime.errors import LimitReachedError, StoreUnavailableError
from events.runtime.keys import InstallationKeys, PeopleKeys
from events.runtime.scripts import load_script
from events.runtime.transactions import transact
from events.store.converter import pack, unpack

DIGEST_DIGITS = 64
"""A key of a session, token or ticket ends with the SHA-256 of its secret in hexadecimal digits."""

FOREIGN_REPLY = "a reply of the event store does not belong to the question"


class ForeignReplyError(StoreUnavailableError):
    """A reply of the store does not belong to the question: nothing of it is used."""


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
                suspended = unpack_suspension(suspension) if suspension else None
                return Admission(person, used, resets_in, suspended, availability)
        raise ForeignReplyError(FOREIGN_REPLY)


def with_digest(key: str, content: str) -> str:
    """Return the stored form of the ``content`` of ``key``, for ``belonging_to``."""
    return key[-DIGEST_DIGITS:] + content


def belonging_to(key: str, stored: object) -> bytes:
    """Return the content ``stored`` under ``key`` without its digest; raises ForeignReplyError for another's."""
    digest = key[-DIGEST_DIGITS:].encode()
    if not (isinstance(stored, bytes) and stored.startswith(digest)):
        raise ForeignReplyError(FOREIGN_REPLY)
    return stored[DIGEST_DIGITS:]


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


MAX_LABEL_LENGTH = 60
MAX_TOKENS_PER_PERSON = 20


class Token(NamedTuple):
    """A token as its owner sees it; its secret is shown once, when it is created, and never stored."""

    id: str
    label: str
    created_at: int


class _StoredToken(NamedTuple):
    label: str
    created_at: int
    key: str


class Tokens:
    """The tokens of all people."""

    def __init__(self, client: StoreClient, prefix: str, now: Callable[[], int], credentials: Credentials) -> None:
        self._client = client
        self._keys = PeopleKeys(prefix)
        self._now = now
        self._credentials = credentials

    def create(self, person: Person, label: str) -> tuple[Token, str]:
        """Return a new token of ``person`` and its secret. Raises LimitReachedError and UnknownPersonError."""
        token = Token("t" + random_letters(10), label, self._now())
        secret = "rookery_" + secrets.token_urlsafe(32)
        key = self._credentials.key("token", secret)
        account, tokens = self._keys.account(person.id), self._keys.tokens(person.id)

        def change(pipeline: StorePipeline) -> None:
            if not pipeline.exists(account):
                raise UnknownPersonError(person.id)
            # After a reply that was lost the token is there already.
            if pipeline.hlen(tokens) >= MAX_TOKENS_PER_PERSON and not pipeline.hexists(tokens, token.id):
                raise LimitReachedError(f"a person can have {MAX_TOKENS_PER_PERSON} tokens at most: revoke one first")
            pipeline.multi()
            pipeline.set(key, with_digest(key, person.id))
            pipeline.hset(tokens, token.id, pack(_StoredToken(label, token.created_at, key)))

        transact(self._client, [account, tokens], change)
        return token, secret

    def of(self, person: Person) -> list[Token]:
        """Return the tokens of ``person``, oldest first."""
        stored = self._client.hgetall(self._keys.tokens(person.id))
        stored_tokens = ((id.decode(), unpack(_StoredToken, packed)) for id, packed in stored.items())
        tokens = [Token(id, token.label, token.created_at) for id, token in stored_tokens]
        return sorted(tokens, key=lambda token: (token.created_at, token.id))

    def revoke(self, person: Person, token: str) -> bool:
        """Revoke the token with this id; return False when ``person`` has no such token."""
        stored = self._client.hget(self._keys.tokens(person.id), token)
        if stored is None:
            return False
        with self._client.pipeline(transaction=True) as pipeline:
            pipeline.delete(key_of_token(stored))
            pipeline.hdel(self._keys.tokens(person.id), token)
            pipeline.execute()
        return True


def key_of_token(stored: bytes | str) -> str:
    """Return the key of a token, which is ``stored`` under the tokens of its owner."""
    return unpack(_StoredToken, stored).key


TICKET_S = 60


class Tickets:
    """The tickets of an installation, of which only hashes are stored."""

    def __init__(self, client: StoreClient, prefix: str) -> None:
        self._client = client
        self._keys = InstallationKeys(prefix)

    def issue(self, credential: str) -> str:
        """Return a ticket that can be redeemed for ``credential`` once, within TICKET_S seconds."""
        ticket = secrets.token_urlsafe(24)
        key = self._key(ticket)
        self._client.set(key, with_digest(key, credential), ex=TICKET_S)
        return ticket

    def redeem(self, ticket: str) -> str | None:
        """Invalidate ``ticket`` and return its credential; None for an invalid one."""
        # Crash-safe: a reply that is lost costs the client one more redirection.
        key = self._key(ticket)
        stored = self._client.getdel(key)
        return None if stored is None else belonging_to(key, stored).decode()

    def _key(self, ticket: str) -> str:
        return self._keys.ticket(hashlib.sha256(ticket.encode()).hexdigest())
