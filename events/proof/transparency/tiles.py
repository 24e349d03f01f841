"""Tiles of the log, and bundles of its entries (https://c2sp.org/tlog-tiles): up to 256 hashes of a level."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from events.proof.checkpoint_log import CheckpointLog
from events.proof.leaf_store import TILE_HEIGHT, TILE_WIDTH
from events.proof.leaves import entry_of_stored, hash_of_stored
from events.proof.notes import parse_note
from events.proof.tree_heads import TreeHead, parse_tree_head

MAX_LEVEL = 63
MAX_ENTRY_BYTES = 65_535
LENGTH_BYTES = 2
ENTRIES = "entries"
_INDEX = re.compile(r"(?:x[0-9]{3}/){0,6}[0-9]{3}")
_WIDTH = re.compile(r"[1-9][0-9]{0,2}")
_LEVEL = re.compile(r"0|[1-9][0-9]?")


class NoTileError(LookupError):
    """There is no such tile, or not yet; the words say why."""


class TilePlace(NamedTuple):
    """Which tile of a level: its number from 0, and how many hashes or entries it has (256: it is full)."""

    number: int
    width: int = TILE_WIDTH

    @property
    def path(self) -> str:
        """The end of the path under which it is served: x001/x234/067, or 000.p/5."""
        digits = f"{self.number:03d}"
        digits = digits.zfill(-(-len(digits) // 3) * 3)
        parts = [digits[start : start + 3] for start in range(0, len(digits), 3)]
        index = "/".join([*(f"x{part}" for part in parts[:-1]), parts[-1]])
        return index if self.width == TILE_WIDTH else f"{index}.p/{self.width}"


def parse_place(path: str) -> TilePlace:
    """Return the place that the end of a path names; raises NoTileError unless it is the one form of its path."""
    index, partial, width = path.partition(".p/")
    if _INDEX.fullmatch(index) and (not partial or _WIDTH.fullmatch(width)):
        place = TilePlace(int(re.sub("[x/]", "", index)), int(width) if partial else TILE_WIDTH)
        if place.path == path:
            return place
    raise NoTileError("a path ends like 000, x001/x234/067 or 000.p/5")


def parse_level(text: str) -> int:
    """Return the level that a path names; raises NoTileError."""
    if _LEVEL.fullmatch(text) is None or int(text) > MAX_LEVEL:
        raise NoTileError(f"levels are numbers from 0 to {MAX_LEVEL}")
    return int(text)


def bundle_of_entries(entries: Sequence[bytes]) -> bytes:
    """Return ``entries`` one after the other, each after its length in two bytes."""
    return b"".join(len(entry).to_bytes(LENGTH_BYTES, "big") + entry for entry in entries)


class LogTiles:
    """The tiles of ``log`` up to the last signed tree. Methods that return tiles raise NoTileError."""

    def __init__(self, log: CheckpointLog) -> None:
        self._log = log

    def head(self) -> TreeHead | None:
        """Return the last tree that was signed, None before the first note."""
        note = self._log.note()
        return None if note is None else parse_tree_head(parse_note(note).text)

    def hashes(self, level: int, place: TilePlace) -> bytes:
        """Return the hashes of a tile, 32 bytes each."""
        self._check_published(level, place)
        first = place.number * TILE_WIDTH
        if level == 0:
            return b"".join(hash_of_stored(leaf) for leaf in self._log.leaves(first, place.width))
        return b"".join(self._log.leaf_store.nodes(TILE_HEIGHT * level, first, place.width))

    def entries(self, place: TilePlace) -> bytes:
        """Return a bundle of entries."""
        self._check_published(0, place)
        stored = self._log.leaves(place.number * TILE_WIDTH, place.width)
        return bundle_of_entries([entry_of_stored(leaf) for leaf in stored])

    def _check_published(self, level: int, place: TilePlace) -> None:
        head = self.head()
        hashes = 0 if head is None else head.size >> (TILE_HEIGHT * level)
        if place.number * TILE_WIDTH + place.width > hashes:
            raise NoTileError("the last checkpoint does not reach so far")
