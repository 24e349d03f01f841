"""Where the last leaf of each match is: noted beside the log, and in the catalogue once the match is archived.

Crash-safe: a note is deleted after the catalogue has it, and put back before its match is live again. In the worst race
a match gets a second leaf with the same head.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from events.archive.catalogue import Archived
from events.archive.store import ArchivingStore
from events.runtime import beats
from events.runtime.keys import ProofKeys
from events.store.logged_leaves import LoggedLeaf, pack_logged, unpack_logged

NOTES_PER_SCAN = 1000


class LeafNotes:
    """The notes of the last leaves of the matches of ``store``."""

    def __init__(self, store: ArchivingStore) -> None:
        self._store = store
        self._client = store.client
        self._place = ProofKeys(store.prefix).logged

    def packed(self, match_ids: Sequence[str]) -> list[bytes | None]:
        """Return what is noted of matches, as ``pack_logged`` writes it; None for those that have no leaf."""
        found = self.beside_log(match_ids)
        absent = [place for place, note in enumerate(found) if note is None]
        if absent:
            names = [match_ids[place] for place in absent]
            archived = self._archived(names)
            # Those that were brought back between the two looks are noted now.
            again = self.beside_log(names)
            for place, name, note in zip(absent, names, again, strict=True):
                found[place] = archived.get(name) or note
        return found

    def beside_log(self, match_ids: Sequence[str]) -> list[bytes | None]:
        """Return what is noted of matches beside the log alone."""
        return self._client.hmget(self._place, match_ids) if match_ids else []

    def all(self) -> Iterator[tuple[str, LoggedLeaf | None]]:
        """Yield every match with its last leaf, once, in no order; None for a note that cannot be read."""
        met = set[str]()
        for match, note in self._client.hscan_iter(self._place, count=NOTES_PER_SCAN):
            name = match.decode(errors="backslashreplace")
            met.add(name)
            yield name, _read(note)
        for shard in range(self._store.shards):
            names = (name for name in self._store.archived_streams(shard) if name not in met)
            while batch := list(islice(names, NOTES_PER_SCAN)):
                for name, note in self._archived(batch).items():
                    yield name, _read(note)

    def move(self, match_ids: Iterable[str], covered: int) -> int:
        """Move the notes of archived matches below ``covered`` leaves to the catalogue; return how many went.

        ``covered`` is a signed tree: on a cluster a failover may lose the end of the log, and not the catalogue.
        """
        left, moved = iter(match_ids), 0
        while names := list(islice(left, NOTES_PER_SCAN)):
            moved += self._move(names, covered)
        return moved

    def move_all(self, covered: int) -> int:
        """Move the notes of all archived matches."""
        names = self._client.hscan_iter(self._place, count=NOTES_PER_SCAN)
        return self.move((match.decode(errors="surrogateescape") for match, _ in names), covered)

    def _move(self, names: Sequence[str], covered: int) -> int:
        beats.beat()
        catalogue = self._store.archive.catalogue
        notes, archived = self.beside_log(names), catalogue.find(names)
        leaves: dict[str, tuple[Archived, int]] = {}
        for name, note, found in zip(names, notes, archived, strict=True):
            leaf = None if note is None else _read(note)
            if leaf is None or found is None:
                continue
            if leaf.place < covered and leaf.tag == found.head.tag:
                leaves[name] = (found, leaf.place)
        noted = catalogue.note_leaves(leaves) if leaves else []
        moved = [name for name, is_noted in zip(leaves, noted, strict=True) if is_noted]
        if not moved:
            return 0
        self._client.hdel(self._place, *moved)
        packed = dict(zip(names, notes, strict=True))
        for name, found in zip(moved, catalogue.find(moved), strict=True):
            if found is None:  # it was brought back meanwhile
                self._client.hsetnx(self._place, name, packed[name])  # type: ignore[arg-type]
        return len(moved)

    def _archived(self, match_ids: Sequence[str]) -> dict[str, bytes]:
        found: dict[str, Any] = dict(zip(match_ids, self._store.find_archived(match_ids), strict=True))
        return {
            name: pack_logged(LoggedLeaf(archived.leaf, archived.head.tag))
            for name, archived in found.items()
            if archived is not None and archived.leaf is not None
        }


def _read(note: bytes) -> LoggedLeaf | None:
    try:
        return unpack_logged(note)
    except ValueError:
        return None
