"""What is said in cases: private texts, known to the events by their SHA-256 only, so that they can be erased."""

import hashlib
from typing import Any

from redis import Redis

LONGEST = 10_000
"""Characters."""


def digest_of(text: str) -> str:
    """Return what stands for ``text`` in an event: the SHA-256 of its UTF-8 bytes in hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()


class Statements:
    """The statements of one installation. Methods raise redis-py's errors."""

    def __init__(self, client: Redis, prefix: str) -> None:
        self._client: Any = client
        self._prefix = f"{prefix}{{cases}}:"

    def keep(self, match: str, author: str, text: str) -> None:
        """Keep what ``author`` says in a case of ``match``.

        It is kept before the event that names it is appended: killed in between, a text remains that nothing names and
        nobody is shown; the other way round an acknowledged statement could be lost.
        """
        with self._client.pipeline(transaction=True) as pipeline:
            pipeline.hset(self._texts(match), f"{author}:{digest_of(text)}", text)
            pipeline.sadd(self._cases_of(author), match)
            pipeline.execute()

    def of_match(self, match: str) -> dict[tuple[str, str], str]:
        """Return the texts of a match by author and digest; those that were erased are not among them.

        Two who say the same have said it each: when the words of one are erased, those of the other stay.
        """
        stored = self._client.hgetall(self._texts(match))
        return {_author_and_digest(field): text.decode() for field, text in stored.items()}

    def of_author(self, author: str) -> dict[str, list[str]]:
        """Return what ``author`` said, by match: also where the author has no part but is the arbiter."""
        matches = sorted(match.decode() for match in self._client.smembers(self._cases_of(author)))
        return {match: [text for (who, _), text in self.of_match(match).items() if who == author] for match in matches}

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
