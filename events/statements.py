"""What is said in cases: private texts, known to the events by their SHA-256 only, so that they can be erased."""

import hashlib
import json
from typing import Any, NamedTuple

from redis import Redis

LONGEST = 10_000
"""Characters."""


class Statement(NamedTuple):
    """A text and the id of who said it."""

    author: str
    text: str


def digest_of(text: str) -> str:
    """Return what stands for ``text`` in an event: the SHA-256 of its UTF-8 bytes in hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()


class Statements:
    """The statements of one installation. Methods raise redis-py's errors."""

    def __init__(self, client: Redis, prefix: str) -> None:
        self._client: Any = client
        self._prefix = f"{prefix}{{cases}}:"

    def keep(self, match: str, author: str, text: str) -> str:
        """Keep ``text`` and return its digest.

        It is kept before the event that names it is appended: killed in between, a text remains that nothing names and
        nobody is shown; the other way round an acknowledged statement could be lost.
        """
        digest = digest_of(text)
        self._client.hset(self._key(match), digest, json.dumps([author, text]))
        return digest

    def of_match(self, match: str) -> dict[str, Statement]:
        """Return all statements of a match by their digests; those that were erased are not among them."""
        stored = self._client.hgetall(self._key(match))
        return {digest.decode(): Statement(*json.loads(packed)) for digest, packed in stored.items()}

    def erase(self, match: str, author: str) -> None:
        """Erase what ``author`` said in the cases of a match; the events go on naming its digest."""
        for digest, statement in self.of_match(match).items():
            if statement.author == author:
                self._client.hdel(self._key(match), digest)

    def _key(self, match: str) -> str:
        return f"{self._prefix}{match}"
