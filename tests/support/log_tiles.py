"""Tiles of the log, as a reader finds and opens them."""

from events.proof.leaf_store import TILE_HEIGHT, TILE_WIDTH
from events.proof.transparency.tiles import LENGTH_BYTES, TilePlace


def places_of(size: int, level: int, known: int = 0) -> list[TilePlace]:
    """Return the tiles of a level in a log of ``size`` leaves that one of ``known`` leaves does not have."""
    hashes, before = size >> (TILE_HEIGHT * level), known >> (TILE_HEIGHT * level)
    full, width = divmod(hashes, TILE_WIDTH)
    places = [TilePlace(index) for index in range(before // TILE_WIDTH, full)]
    return [*places, TilePlace(full, width)] if width and hashes > before else places


def entries_of_bundle(packed: bytes) -> list[bytes]:
    """Return the entries in a bundle of them; raises ValueError when it ends within one."""
    entries, offset = list[bytes](), 0
    while offset < len(packed):
        end = offset + LENGTH_BYTES + int.from_bytes(packed[offset : offset + LENGTH_BYTES], "big")
        if end > len(packed):
            raise ValueError(f"the bundle ends within entry {len(entries)}")
        entries.append(packed[offset + LENGTH_BYTES : end])
        offset = end
    return entries
