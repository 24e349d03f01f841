"""API tokens: what a program acts with in the name of a person."""

import secrets
from collections.abc import Callable
from typing import NamedTuple

from events.people.credentials import Credentials
from events.people.person import Person, UnknownPersonError, pack_person, random_letters
from events.runtime.connections import StoreClient
from events.runtime.keys import PeopleKeys
from events.runtime.scripts import load_script
from events.store.converter import pack, unpack

MAX_LABEL_LENGTH = 60
MAX_TOKENS_PER_PERSON = 20


class Token(NamedTuple):
    """A token as its owner sees it; its secret is shown once, when it is created, and never stored."""

    id: str
    label: str
    created_at: int


class TooManyTokensError(ValueError):
    """The person has MAX_TOKENS_PER_PERSON tokens and must revoke one first."""


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
        self._issue = load_script(client, __package__, "issue_token")

    def create(self, person: Person, label: str) -> tuple[Token, str]:
        """Return a new token of ``person`` and its secret. Raises TooManyTokensError and UnknownPersonError."""
        token = Token("t" + random_letters(10), label, self._now())
        secret = "rookery_" + secrets.token_urlsafe(32)
        key = self._credentials.key("token", secret)
        stored = pack(_StoredToken(label, token.created_at, key))
        outcome = self._issue(
            keys=[self._keys.account(person.id), key, self._keys.tokens(person.id)],
            args=[pack_person(person), token.id, stored, MAX_TOKENS_PER_PERSON],
        )
        if outcome == b"nobody":
            raise UnknownPersonError(person.id)
        if outcome == b"too many":
            raise TooManyTokensError(f"a person can have {MAX_TOKENS_PER_PERSON} tokens at most: revoke one first")
        return token, secret

    def of(self, person: Person) -> list[Token]:
        """Return the tokens of ``person``, oldest first."""
        stored = self._client.hgetall(self._keys.tokens(person.id))
        found = ((id.decode(), unpack(_StoredToken, packed)) for id, packed in stored.items())
        tokens = [Token(id, token.label, token.created_at) for id, token in found]
        return sorted(tokens, key=lambda token: (token.created_at, token.id))

    def revoke(self, person: Person, token: str) -> bool:
        """Revoke the token with this id; return False when ``person`` has no such token."""
        stored = self._client.hget(self._keys.tokens(person.id), token)
        if stored is None:
            return False
        with self._client.pipeline(transaction=True) as pipeline:
            pipeline.delete(unpack(_StoredToken, stored).key)
            pipeline.hdel(self._keys.tokens(person.id), token)
            pipeline.execute()
        return True
