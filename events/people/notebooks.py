"""Private notes of players about their matches: one hash of each kind for each person."""

from typing import NamedTuple

from events.runtime.connections import StoreClient
from events.runtime.keys import PeopleKeys
from events.runtime.scripts import load_script

MAX_BYTES = 2_000_000
"""Of notes, trees and conditional moves of one person, in all matches together."""

MAX_GUEST_BYTES = 200_000
"""The same for a guest."""


class QuotaExceededError(Exception):
    """The person has used ``used`` of ``limit`` bytes, and this would be more."""

    def __init__(self, used: int, limit: int) -> None:
        super().__init__(f"{used} of {limit} bytes are used")
        self.used = used
        self.limit = limit


class Notebook(NamedTuple):
    """The notes and the analysis trees of a person, as texts by match; matches without any are missing."""

    notes: dict[str, str]
    explorations: dict[str, str]


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

    def count_conditional_moves(self, person: str, match_id: str, size: int, max_bytes: int = MAX_BYTES) -> None:
        """Count ``size`` bytes of conditional moves, which are stored elsewhere; raises QuotaExceededError."""
        self._write(3, person, match_id, str(size), size, max_bytes)

    def erase(self, person: str) -> None:
        """Erase everything that ``person`` has written down."""
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
        return [keys.bytes_kept(person), keys.notes(person), keys.explorations(person), keys.conditional_moves(person)]
