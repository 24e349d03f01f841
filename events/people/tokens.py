"""API tokens: what a program acts with in the name of a person."""

import secrets
from collections.abc import Callable
from typing import NamedTuple

from events.people.credentials import Credentials, with_digest
from events.people.person import Person, UnknownPersonError, random_letters
from events.runtime.connections import StoreClient, StorePipeline
from events.runtime.keys import PeopleKeys
from events.runtime.transactions import transact
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

    def create(self, person: Person, label: str) -> tuple[Token, str]:
        """Return a new token of ``person`` and its secret. Raises TooManyTokensError and UnknownPersonError."""
        token = Token("t" + random_letters(10), label, self._now())
        secret = "rookery_" + secrets.token_urlsafe(32)
        key = self._credentials.key("token", secret)
        account, tokens = self._keys.account(person.id), self._keys.tokens(person.id)

        def change(pipeline: StorePipeline) -> None:
            if not pipeline.exists(account):
                raise UnknownPersonError(person.id)
            # After a reply that was lost the token is there already.
            if pipeline.hlen(tokens) >= MAX_TOKENS_PER_PERSON and not pipeline.hexists(tokens, token.id):
                raise TooManyTokensError(f"a person can have {MAX_TOKENS_PER_PERSON} tokens at most: revoke one first")
            pipeline.multi()
            pipeline.set(key, with_digest(key, person.id))
            pipeline.hset(tokens, token.id, pack(_StoredToken(label, token.created_at, key)))

        transact(self._client, [account, tokens], change)
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
            pipeline.delete(key_of_token(stored))
            pipeline.hdel(self._keys.tokens(person.id), token)
            pipeline.execute()
        return True


def key_of_token(stored: bytes | str) -> str:
    """Return the key of a token, which is ``stored`` under the tokens of its owner."""
    return unpack(_StoredToken, stored).key
