"""What players write down for themselves about their matches: notes, and trees of moves to think with.

Ordinary keys, one hash of a person for each kind, with a field for each match: they can be exported and erased with
the person, and no stream, feed or read model knows of them.
"""

from typing import Any

from redis import Redis


class Notebooks:
    """The notebooks of an installation. Safe to share between threads; every method raises redis-py's errors."""

    def __init__(self, client: Redis, prefix: str) -> None:
        self._client: Any = client
        self._keys = f"{prefix}{{people}}:"

    def notes(self, person: str, match: str) -> str:
        """Return what ``person`` has noted about ``match``; an empty text when that is nothing."""
        return self._read("notes", person, match)

    def write_notes(self, person: str, match: str, text: str) -> None:
        """Put ``text`` in the place of what ``person`` has noted about ``match``."""
        self._write("notes", person, match, text)

    def exploration(self, person: str, match: str) -> str:
        """Return the tree, as text, that ``person`` keeps for ``match``; an empty text when there is none."""
        return self._read("explorations", person, match)

    def keep_exploration(self, person: str, match: str, text: str) -> None:
        """Put the tree ``text`` in the place of the one that ``person`` keeps for ``match``."""
        self._write("explorations", person, match, text)

    def erase(self, person: str) -> None:
        """Throw away all that ``person`` has written down."""
        self._client.delete(*(f"{self._keys}{kind}:{person}" for kind in ("notes", "explorations")))

    def _read(self, kind: str, person: str, match: str) -> str:
        found = self._client.hget(f"{self._keys}{kind}:{person}", match)
        return found.decode() if found else ""

    def _write(self, kind: str, person: str, match: str, text: str) -> None:
        key = f"{self._keys}{kind}:{person}"
        if text:
            self._client.hset(key, match, text)
        else:
            self._client.hdel(key, match)
