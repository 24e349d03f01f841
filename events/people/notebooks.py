"""Private notes of players about their matches: one hash of each kind for each person."""

from typing import NamedTuple

from events.people.person import GUEST, Person
from events.runtime.connections import StoreClient
from events.runtime.keys import PeopleKeys
from events.runtime.scripts import load_script

MAX_BYTES = 2_000_000
"""Of notes, trees and conditional moves of one person, in all matches together."""

MAX_GUEST_BYTES = 200_000
"""The same for a guest."""


def max_bytes(person: Person) -> int:
    """Return how many bytes the notes, trees and conditional moves of ``person`` may take together."""
    return MAX_GUEST_BYTES if person.kind == GUEST else MAX_BYTES


class QuotaExceededError(Exception):
    """The person has used ``used`` of ``limit`` bytes, and this would be more."""

    def __init__(self, used: int, limit: int) -> None:
        super().__init__(f"{used} of {limit} bytes are used")
        self.used = used
        self.limit = limit


class Notebook(NamedTuple):
    """The notes, the analysis trees and those published, as texts by match; matches without any are missing."""

    notes: dict[str, str]
    explorations: dict[str, str]
    publications: dict[str, str]


class Notebooks:
    """The notebooks of an installation."""

    def __init__(self, client: StoreClient, prefix: str) -> None:
        self._client = client
        self._keys = PeopleKeys(prefix)
        self._write_note = load_script(client, __package__, "write_note")

    def read(self, person: str) -> Notebook:
        """Return all notes and trees of ``person``, which MAX_BYTES bounds, in one round trip."""
        with self._client.pipeline(transaction=False) as pipeline:
            pipeline.hgetall(self._keys.notes(person))
            pipeline.hgetall(self._keys.explorations(person))
            pipeline.hgetall(self._keys.publications(person))
            texts = pipeline.execute()
        return Notebook(*({name.decode(): text.decode() for name, text in by_match.items()} for by_match in texts))

    def notes(self, person: str, match_id: str) -> str:
        """Return the notes of ``person`` about a match, empty when there are none."""
        return self._read(self._keys.notes(person), match_id)

    def write_notes(self, person: str, match_id: str, text: str, max_bytes: int = MAX_BYTES) -> None:
        """Replace the notes of ``person`` about a match; raises QuotaExceededError."""
        self._write(1, person, match_id, text, len(text.encode()), max_bytes)

    def exploration(self, person: str, match_id: str) -> str:
        """Return the analysis tree of ``person`` for a match as text, empty when there is none."""
        return self._read(self._keys.explorations(person), match_id)

    def save_exploration(self, person: str, match_id: str, text: str, max_bytes: int = MAX_BYTES) -> None:
        """Replace the analysis tree of ``person`` for a match; raises QuotaExceededError."""
        self._write(2, person, match_id, text, len(text.encode()), max_bytes)

    def publish(self, person: str, match_id: str, text: str, max_bytes: int = MAX_BYTES) -> None:
        """Let others read ``text``, the exploration of ``person`` for a match; raises QuotaExceededError."""
        # Crash-safe: the index comes last; a text that is not in it is read by nobody, and an erasure deletes it.
        self._write(4, person, match_id, text, len(text.encode()), max_bytes)
        self._client.sadd(self._keys.publishers(match_id), person)

    def unpublish(self, person: str, match_id: str) -> None:
        """Let nobody read the exploration of ``person`` for a match any more."""
        # Crash-safe: a text that is not in the index is read by nobody, and an erasure deletes it.
        self._client.srem(self._keys.publishers(match_id), person)
        self._write(4, person, match_id, "", 0, MAX_BYTES)

    def publications(self, match_id: str) -> dict[str, str]:
        """Return the published explorations of a match by author."""
        authors = sorted(author.decode() for author in self._client.smembers(self._keys.publishers(match_id)))
        texts = {author: self._read(self._keys.publications(author), match_id) for author in authors}
        return {author: text for author, text in texts.items() if text}

    def count_conditional_moves(self, person: str, match_id: str, size: int, max_bytes: int = MAX_BYTES) -> None:
        """Count ``size`` bytes of conditional moves, which are stored elsewhere; raises QuotaExceededError."""
        self._write(3, person, match_id, str(size), size, max_bytes)

    def erase(self, person: str) -> None:
        """Erase everything that ``person`` has written down."""
        for match_id in self._client.hkeys(self._keys.publications(person)):
            self.unpublish(person, match_id.decode())
        self._client.delete(*self._keys_of(person))

    def _read(self, key: str, match_id: str) -> str:
        text = self._client.hget(key, match_id)
        return text.decode() if text else ""

    def _write(self, place: int, person: str, match_id: str, text: str, size: int, max_bytes: int) -> None:
        used = self._write_note(keys=self._keys_of(person), args=[place + 1, match_id, text, size, max_bytes])
        if used >= 0:
            raise QuotaExceededError(used, max_bytes)

    def _keys_of(self, person: str) -> list[str]:
        keys = self._keys
        texts = (keys.notes, keys.explorations, keys.conditional_moves, keys.publications)
        return [keys.bytes_kept(person), *(of(person) for of in texts)]
