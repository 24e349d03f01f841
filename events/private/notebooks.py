"""What players write down for themselves about their matches: notes, and trees of moves to think with.

Ordinary keys, one hash of a person for each kind, with a field for each match: they can be exported and erased with
the person, and no stream, feed or read model knows of them.
"""

from events.runtime.connections import StoreClient
from events.runtime.keys import PeopleKeys
from events.runtime.scripts import load_script

MAX_BYTES = 2_000_000
"""Of notes, trees and conditional lines of one person, in all matches together."""

MAX_GUEST_BYTES = 200_000
"""The same for a guest."""


class QuotaExceededError(Exception):
    """The person keeps ``kept`` of at most ``most`` bytes already, and this would be more."""

    def __init__(self, kept: int, most: int) -> None:
        super().__init__(f"{kept} of {most} bytes are used")
        self.kept = kept
        self.most = most


class Notebooks:
    """The notebooks of an installation. Safe to share between threads; every method raises redis-py's errors."""

    def __init__(self, client: StoreClient, prefix: str) -> None:
        self._client = client
        self._keys = PeopleKeys(prefix)
        self._keep = load_script(client, __package__, "write_note")

    def notes(self, person: str, match: str) -> str:
        """Return what ``person`` has noted about ``match``; an empty text when that is nothing."""
        return self._read("notes", person, match)

    def write_notes(self, person: str, match: str, text: str, most: int = MAX_BYTES) -> None:
        """Put ``text`` in the place of what ``person`` has noted about ``match``; raises QuotaExceededError."""
        self._write("notes", person, match, text, len(text.encode()), most)

    def exploration(self, person: str, match: str) -> str:
        """Return the tree, as text, that ``person`` keeps for ``match``; an empty text when there is none."""
        return self._read("explorations", person, match)

    def keep_exploration(self, person: str, match: str, text: str, most: int = MAX_BYTES) -> None:
        """Replace the tree that ``person`` keeps for ``match`` by ``text``; raises QuotaExceededError."""
        self._write("explorations", person, match, text, len(text.encode()), most)

    def count_lines(self, person: str, match: str, size: int, most: int = MAX_BYTES) -> None:
        """Count ``size`` bytes of conditional lines, which are kept elsewhere; raises QuotaExceededError."""
        self._write("lines", person, match, str(size), size, most)

    def erase(self, person: str) -> None:
        """Throw away all that ``person`` has written down."""
        self._client.delete(*self._keys_of(person))

    def _read(self, kind: str, person: str, match: str) -> str:
        found = self._client.hget(self._keys_of(person)[_KINDS.index(kind)], match)
        return found.decode() if found else ""

    def _write(self, kind: str, person: str, match: str, text: str, size: int, most: int) -> None:
        kept = self._keep(keys=self._keys_of(person), args=[_KINDS.index(kind) + 1, match, text, size, most])
        if kept >= 0:
            raise QuotaExceededError(kept, most)

    def _keys_of(self, person: str) -> list[str]:
        keys = self._keys
        return [keys.bytes_kept(person), keys.notes(person), keys.explorations(person), keys.conditional_moves(person)]


_KINDS = ("bytes", "notes", "explorations", "lines")
"""The keys of a person, in the order in which the script takes them."""
