"""What is said in cases: private texts, known to the events by a digest only, so that they can be erased.

The digest is that of a random salt and the text. With the salt anybody can check that it is this text; without it, when
both are erased, nobody can find out by guessing what was said.
"""

import hashlib
import secrets
from typing import Any, NamedTuple

from redis import Redis

LONGEST = 10_000
"""Characters."""


SALT = 32
"""Hexadecimal digits."""


class Statement(NamedTuple):
    """What was said. Its digest is the SHA-256 of the UTF-8 bytes of ``salt`` (hexadecimal) and ``text``."""

    salt: str
    text: str

    @property
    def digest(self) -> str:
        """What stands for the statement in an event, in hexadecimal."""
        return hashlib.sha256((self.salt + self.text).encode()).hexdigest()


def salted(text: str) -> Statement:
    """Return ``text`` with a new salt."""
    return Statement(secrets.token_hex(SALT // 2), text)


class Statements:
    """The statements of one installation. Methods raise redis-py's errors."""

    def __init__(self, client: Redis, prefix: str) -> None:
        self._client: Any = client
        self._prefix = f"{prefix}{{cases}}:"

    def keep(self, match: str, author: str, text: str) -> Statement:
        """Keep what ``author`` says in a case of ``match``; who says the same again gets the same statement.

        It is kept before the event that names it is appended: killed in between, a text remains that nothing names and
        nobody is shown; the other way round an acknowledged statement could be lost.
        """
        own = (said for (who, _), said in self.of_match(match).items() if who == author and said.text == text)
        statement = next(own, None) or salted(text)
        with self._client.pipeline(transaction=True) as pipeline:
            pipeline.hset(self._texts(match), f"{author}:{statement.digest}", statement.salt + statement.text)
            pipeline.sadd(self._cases_of(author), match)
            pipeline.execute()
        return statement

    def of_match(self, match: str) -> dict[tuple[str, str], Statement]:
        """Return the statements of a match by author and digest; those that were erased are not among them."""
        stored = self._client.hgetall(self._texts(match))
        return {_author_and_digest(field): _statement(kept.decode()) for field, kept in stored.items()}

    def of_author(self, author: str) -> dict[str, list[str]]:
        """Return what ``author`` said, by match: also where the author has no part but is the arbiter."""
        matches = sorted(match.decode() for match in self._client.smembers(self._cases_of(author)))
        return {
            match: [said.text for (who, _), said in self.of_match(match).items() if who == author] for match in matches
        }

    def erase(self, author: str) -> None:
        """Erase what ``author`` said in all cases; the events go on naming the digests.

        Killed midway, doing it again does the rest: which matches they are is forgotten last.
        """
        for match in self._client.smembers(self._cases_of(author)):
            texts = self._texts(match.decode())
            for field in self._client.hkeys(texts):
                if _author_and_digest(field)[0] == author:
                    self._client.hdel(texts, field)
        self._client.delete(self._cases_of(author))

    def _texts(self, match: str) -> str:
        return f"{self._prefix}{match}"

    def _cases_of(self, author: str) -> str:
        return f"{self._prefix}by:{author}"


def _author_and_digest(field: bytes) -> tuple[str, str]:
    author, _, digest = field.decode().rpartition(":")
    return author, digest


def _statement(kept: str) -> Statement:
    return Statement(kept[:SALT], kept[SALT:])
