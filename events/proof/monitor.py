"""Monitoring a log: everything new is read, the root is computed from it, and must extend the last tree.

Tiles (c2sp.org/tlog-tiles) are compared with the entries. A key that signs must be one trusted at the beginning or in
an entry, and not revoked by one. The last tree is kept, so that another past is noticed.
"""

import base64
import hashlib
import json
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import reduce
from pathlib import Path
from typing import NamedTuple

import fsspec

from events.proof import merkle
from events.proof.documents import DocumentError
from events.proof.notes import MAX_NOTE_BYTES, NoteKey, SignedNote, parse_note
from events.proof.public_keys import thumbprint
from events.proof.transparency.tiles import TilePlace
from events.proof.tree_heads import TreeHead, note_key, parse_tree_head
from events.runtime.durable_files import write_durably
from events.store.converter import pack, unpack

TILE_LEVEL = 8
TILE_WIDTH = 1 << TILE_LEVEL
"""Leaves of a full tile (c2sp.org/tlog-tiles)."""


class GrowingTree:
    """The tree over the first ``size`` leaves (RFC 6962), as the roots of its perfect subtrees, the largest first."""

    def __init__(self, size: int = 0, subtrees: Sequence[bytes] = ()) -> None:
        self.size = size
        self.subtrees = list(subtrees)

    def add(self, leaves: Sequence[bytes]) -> None:
        """Append ``leaves``, given by their hashes."""
        if len(leaves) == TILE_WIDTH and self.size % TILE_WIDTH == 0:
            level = list(leaves)
            while len(level) > 1:
                level = [merkle.node_hash(*level[place : place + 2]) for place in range(0, len(level), 2)]
            self._add(level[0], TILE_WIDTH)
        else:
            for leaf in leaves:
                self._add(leaf, 1)

    def root(self) -> bytes:
        """Return the root of the tree."""
        if not self.subtrees:
            return merkle.EMPTY_ROOT
        return reduce(lambda right, left: merkle.node_hash(left, right), reversed(self.subtrees))

    def ranges(self) -> list[tuple[int, int]]:
        """Return level and index of each of ``subtrees``: it covers 2**level leaves from index * 2**level on."""
        ranges_of_nodes, start = [], 0
        for level in range(self.size.bit_length() - 1, -1, -1):
            if self.size >> level & 1:
                ranges_of_nodes.append((level, start >> level))
                start += 1 << level
        return ranges_of_nodes

    def _add(self, subtree: bytes, width: int) -> None:
        carried = self.size
        self.size += width
        while carried & width:
            subtree = merkle.node_hash(self.subtrees.pop(), subtree)
            width <<= 1
        self.subtrees.append(subtree)


HASH_BYTES = 32
MAX_ENTRY_BYTES = 65_535
MAX_ENTRIES_BYTES = TILE_WIDTH * (2 + MAX_ENTRY_BYTES)
TILES_AT_ONCE = 64
"""The progress is saved after this number of tiles: a run that is interrupted goes on there."""

READERS = 8
STATE_FILE = "seen.json"

Fetch = Callable[[str, int], bytes | None]
"""Takes a path and a limit of bytes to read; returns the content, None if there is none there; raises FetchError."""


class FetchError(Exception):
    """The log does not answer, or not as it should; which says nothing about its content."""


class ContradictionError(Exception):
    """The log contradicts itself, or its own earlier tree; the message describes the contradiction."""


class Seen(NamedTuple):
    """The memory of a monitor: the origin, the last note ("": none), and the tree under it.

    ``keys`` (hexadecimal) may sign, ``revoked`` are ids. ``size`` and ``subtrees`` are under ``note``; names with
    ``read`` are of the leaves read beyond it, under no note yet.
    """

    origin: str
    keys: tuple[str, ...]
    note: str = ""
    size: int = 0
    subtrees: tuple[str, ...] = ()
    read: int = 0
    read_subtrees: tuple[str, ...] = ()
    read_keys: tuple[str, ...] = ()
    revoked: tuple[str, ...] = ()
    read_revoked: tuple[str, ...] = ()


class RunFinding(NamedTuple):
    """The tree head of a run, its note and key, the entries read by kind, and the leaves since it was seen last."""

    head: TreeHead
    note: SignedNote
    key: NoteKey
    is_new_key: bool
    grown_by: int
    entries: Counter[str]


def was_seen(directory: Path) -> bool:
    """Return whether ``directory`` holds the state of a log that was read before."""
    return (directory / STATE_FILE).exists()


class Monitor:
    """Follows the log behind ``fetch``, called ``origin`` (None: any), and keeps its memory in ``directory``.

    ``keys``, 32 bytes each, may sign from the first time on. Raises FetchError for a directory that cannot be read.
    """

    def __init__(self, fetch: Fetch, directory: Path, keys: Sequence[bytes], origin: str | None = None) -> None:
        self._fetch = fetch
        self._directory = directory
        self._seen = self._load()
        seen_keys = () if self._seen is None else self._seen.keys
        self._trusted = tuple(dict.fromkeys((*seen_keys, *(raw.hex() for raw in keys))))
        self._keys_read: tuple[str, ...] = ()
        self._revoked: tuple[str, ...] = ()
        self._origin = origin if self._seen is None else self._seen.origin
        self._entries: Counter[str] = Counter()

    def run(self) -> RunFinding:
        """Read the new part of the log and return the findings; raises FetchError and ContradictionError.

        Crash-safe: the tree read is kept every TILES_AT_ONCE tiles as a whole file, and the next run goes on there. A
        note replaces the last one only when the root of its tree was computed.
        """
        packed = self._read("checkpoint", MAX_NOTE_BYTES)
        try:
            note = parse_note(packed)
            head = parse_tree_head(note.text)
        except DocumentError as fault:
            raise FetchError(f"what the log shows at /checkpoint is no checkpoint: {fault}") from None
        if self._origin not in (None, head.origin):
            raise ContradictionError(f"the log calls itself {head.origin}, and is known as {self._origin}")
        seen = self._seen or Seen(head.origin, ())
        self._compare(seen, head, note)
        tree = None
        if seen.size < seen.read <= head.size:
            tree = self._grown(head, seen.read, seen.read_subtrees, seen.read_keys, seen.read_revoked)
        if tree is None or tree.root() != head.root:
            # Leaves that were read in advance may have been wrong: they are no evidence.
            tree = self._grown(head, seen.size, seen.subtrees, (), seen.revoked)
        if tree.root() != head.root:
            raise ContradictionError(self._explain(head, note, tree, seen))
        key = self._signer(head, note)
        subtrees = tuple(node.hex() for node in tree.subtrees)
        is_new = key.raw.hex() not in self._trusted
        keys = tuple(dict.fromkeys((*self._trusted, *self._keys_read)))
        self._keep(Seen(head.origin, keys, str(note), head.size, subtrees, revoked=self._revoked))
        return RunFinding(head, note, key, is_new, head.size - seen.size, self._entries)

    def _compare(self, seen: Seen, head: TreeHead, note: SignedNote) -> None:
        if not seen.note:
            return
        before = parse_tree_head(parse_note(seen.note).text)
        if head.size < before.size or (head.size == before.size and head.root != before.root):
            difference = "fewer leaves" if head.size < before.size else "as many leaves and another root"
            raise ContradictionError(
                f"the log shows a checkpoint with {difference}: now {_in_words(head)}, before {_in_words(before)}. "
                f"Both notes are in {self._keep_evidence(seen.note, str(note))}"
            )

    def _grown(
        self, head: TreeHead, size: int, subtrees: Sequence[str], keys: Sequence[str] = (), revoked: Sequence[str] = ()
    ) -> GrowingTree:
        """Return the tree of all leaves up to ``head``, of which ``size`` are read; extends ``keys``, ``revoked``."""
        self._keys_read, self._revoked = tuple(keys), tuple(revoked)
        self._entries.clear()
        tree = GrowingTree(size, [bytes.fromhex(node) for node in subtrees])
        tiles = -(-head.size // TILE_WIDTH)
        with ThreadPoolExecutor(READERS) as readers:
            while tree.size < head.size:
                first = tree.size // TILE_WIDTH
                numbers = range(first, min(first + TILES_AT_ONCE, tiles))
                for number, (hashes, packed) in zip(
                    numbers, readers.map(lambda number: self._tile(number, head.size), numbers), strict=True
                ):
                    skipped = tree.size - number * TILE_WIDTH
                    self._read_entries(number, hashes, packed, skipped)
                    tree.add(hashes[skipped:])
                if tree.size < head.size:
                    seen = self._seen or Seen(head.origin, self._trusted)
                    read = tuple(node.hex() for node in tree.subtrees)
                    self._keep(
                        seen._replace(
                            read=tree.size, read_subtrees=read, read_keys=self._keys_read, read_revoked=self._revoked
                        )
                    )
        return tree

    def _tile(self, number: int, size: int) -> tuple[list[bytes], bytes]:
        """Return the hashes of the tile ``number`` of level 0 in the tree of ``size``, and its bundle of entries."""
        width = min(TILE_WIDTH, size - number * TILE_WIDTH)
        hashes = self._hashes(0, number, width)
        entries = self._partial(f"tile/entries/{TilePlace(number).path}", width, MAX_ENTRIES_BYTES)
        if entries is None:
            raise FetchError(f"the log does not show the {width} entries of the tile {number}")
        return hashes, entries

    def _hashes(self, level: int, number: int, width: int) -> list[bytes]:
        packed = self._partial(f"tile/{level}/{TilePlace(number).path}", width, TILE_WIDTH * HASH_BYTES)
        if packed is None or len(packed) < width * HASH_BYTES:
            raise FetchError(f"the log does not show the tile {level}/{number} with {width} hashes")
        return [packed[place * HASH_BYTES : (place + 1) * HASH_BYTES] for place in range(width)]

    def _partial(self, path: str, width: int, max_bytes: int) -> bytes | None:
        """Return a tile of ``width``, or the full one where the log shows only that; None if it shows none."""
        if width < TILE_WIDTH and (tile := self._fetch(f"{path}.p/{width}", max_bytes)) is not None:
            return tile
        return self._fetch(path, max_bytes)

    def _read(self, path: str, max_bytes: int) -> bytes:
        content = self._fetch(path, max_bytes)
        if content is None:
            raise FetchError(f"there is nothing at /{path}")
        return content

    def _read_entries(self, number: int, hashes: Sequence[bytes], packed: bytes, skipped: int) -> None:
        """Compare the entries of a tile with its ``hashes`` and note their content, beyond those ``skipped``."""
        place = 0
        for index, expected in enumerate(hashes):
            end = place + 2 + int.from_bytes(packed[place : place + 2], "big")
            entry = packed[place + 2 : end]
            if end > len(packed) or merkle.leaf_hash(entry) != expected:
                raise ContradictionError(
                    f"entry {number * TILE_WIDTH + index} of the log is not the one that its tile has the hash of"
                )
            if index >= skipped:
                self._note_entry(entry)
            place = end

    def _note_entry(self, entry: bytes) -> None:
        try:
            fields = json.loads(entry)
            kind = str(fields["kind"])
            if kind == "key":
                raw = base64.b64decode(fields["public"] + "=", b"-_")
                self._keys_read = (*self._keys_read, raw.hex())
            elif kind == "revocation":
                self._revoked = (*self._revoked, str(fields["key"]))
        except (ValueError, KeyError, TypeError, RecursionError):
            kind = "of no known kind"
        self._entries[kind] += 1

    def _signer(self, head: TreeHead, note: SignedNote) -> NoteKey:
        """Return the key that has signed ``note``; raises ContradictionError if it is none that may."""
        for key in (note_key(head.origin, bytes.fromhex(raw)) for raw in (*self._trusted, *self._keys_read)):
            if any(signature.is_of(key) for signature in note.signatures):
                try:
                    note.check(key)
                except DocumentError as fault:
                    raise ContradictionError(f"the checkpoint of {head.origin}: {fault.reason}") from None
                if thumbprint(key.raw) not in self._revoked:
                    return key
        raise ContradictionError(
            f"the checkpoint of {head.origin} is signed by no key that is trusted, nor by one that is in the log, or "
            "only by one that is revoked there"
        )

    def _explain(self, head: TreeHead, note: SignedNote, tree: GrowingTree, seen: Seen) -> str:
        """Return the leaves that contradict the root of ``head``: those seen before, or the new ones."""
        words = f"the leaves of the log have the root {tree.root().hex()}, and its checkpoint is {_in_words(head)}"
        before = GrowingTree(seen.size, [bytes.fromhex(node) for node in seen.subtrees])
        for (level, index), node in zip(before.ranges(), before.subtrees, strict=True):
            if self._node(level, index, head.size) != node:
                first, last = index << level, ((index + 1) << level) - 1
                return (
                    f"the log was rewritten: leaves {first} to {last} are not those that were seen under its "
                    f"checkpoint of {seen.size} leaves. Both notes are in {self._keep_evidence(seen.note, str(note))}"
                )
        return f"{words}. The {seen.size} leaves that were seen before are as they were" if seen.size else words

    def _node(self, level: int, index: int, size: int) -> bytes:
        tile_level, inner = divmod(level, TILE_LEVEL)
        first = index << inner
        number, offset = divmod(first, TILE_WIDTH)
        width = min(TILE_WIDTH, (size >> tile_level * TILE_LEVEL) - number * TILE_WIDTH)
        nodes = self._hashes(tile_level, number, width)[offset : offset + (1 << inner)]
        while len(nodes) > 1:
            nodes = [merkle.node_hash(*nodes[place : place + 2]) for place in range(0, len(nodes), 2)]
        return nodes[0]

    def _load(self) -> Seen | None:
        path = self._directory / STATE_FILE
        try:
            return unpack(Seen, path.read_bytes()) if path.exists() else None
        except (OSError, ValueError) as error:
            raise FetchError(f"{path} cannot be read: {error}") from None

    def _keep(self, seen: Seen) -> None:
        self._write(STATE_FILE, pack(seen))
        self._seen = seen

    def _keep_evidence(self, before: str, now: str) -> Path:
        content = f"{before}\n{now}".encode()
        return self._write(f"contradiction-{hashlib.sha256(content).hexdigest()[:16]}.txt", content)

    def _write(self, name: str, content: bytes) -> Path:
        path = self._directory / name
        write_durably(fsspec.filesystem("file"), str(path), content)
        return path


def _in_words(head: TreeHead) -> str:
    return f"{head.size} leaves with the root {head.root.hex()}"
