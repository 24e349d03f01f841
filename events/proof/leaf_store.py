"""The leaves of the log and the tree over them, as they are stored.

The last leaves are a list in the store; full tiles that a checkpoint covers are files of the archive. The store has the
nodes over full tiles; those below are computed.
"""

import hashlib
from collections.abc import Sequence

from events.proof import merkle
from events.proof.leaves import hash_of_stored
from events.runtime.connections import StoreClient, StorePipeline
from events.runtime.keys import ProofKeys
from events.runtime.remembered import Measured, Remembered
from events.runtime.transactions import transact
from events.store.archive.framing import DamagedArchiveError, compress, decompress
from events.store.archive.storage import Storage

TILE_HEIGHT = 8
TILE_WIDTH = 1 << TILE_HEIGHT
"""As in tiles of C2SP (tlog-tiles)."""

NODES_PER_KEY = 1 << 15
"""Nodes of one level in one key: 1 MiB."""

NODE_BYTES = 32
KIND_OF_FILES = "leaves"
COMPRESSION_LEVEL = 1
"""Leaves are digests for the most part: higher levels take a hundred times as long and save one per cent."""

MAX_TILES_PER_MOVE = 64
MAX_REMEMBERED_BYTES = 8 * 2**20


class LeafStore:
    """The leaves of one log. Reading moved ones raises ArchiveUnavailableError and DamagedArchiveError."""

    def __init__(self, client: StoreClient, places: ProofKeys, storage: Storage) -> None:
        self._client = client
        self._places = places
        self._storage = storage
        self._remembered = Remembered(MAX_REMEMBERED_BYTES)

    def size(self) -> int:
        """Return the number of leaves."""
        return int(self._client.get(self._places.log_size) or 0)

    def read(self, start: int, count: int) -> list[bytes]:
        """Return up to ``count`` leaves from the one at index ``start`` on, as they are stored (``leaves``)."""
        if count <= 0:
            return []
        while True:
            moved = self.moved_tiles()
            first_live, end = moved * TILE_WIDTH, start + count
            archived = self._read_moved(start, min(end, first_live)) if start < first_live else []
            if end <= first_live:
                return archived
            begin = max(start, first_live) - first_live
            with self._client.pipeline(transaction=True) as pipeline:
                pipeline.lrange(self._places.leaves, begin, end - first_live - 1)
                pipeline.strlen(self._places.tile_files)
                live, length = pipeline.execute()
            if length == moved * NODE_BYTES:
                return [*archived, *live]
            # Tiles were moved meanwhile: the leaves that were just read began elsewhere.

    def tree(self) -> merkle.Nodes:
        """Return a reader of nodes for one operation; a tile is read and hashed once. A missing node is empty."""
        tiles: dict[int, dict[tuple[int, int], bytes]] = {}

        def node(level: int, index: int) -> bytes:
            if level >= TILE_HEIGHT:
                return self.nodes(level, index, 1)[0]
            tile = index >> (TILE_HEIGHT - level)
            if tile not in tiles:
                tiles[tile] = _nodes_over(tile, self.read(tile * TILE_WIDTH, TILE_WIDTH))
            return tiles[tile].get((level, index), b"")

        return node

    def nodes(self, level: int, first: int, count: int) -> list[bytes]:
        """Return ``count`` nodes of a ``level`` of at least TILE_HEIGHT from an index on; a missing one is b""."""
        read: list[bytes] = []
        while len(read) < count:
            key, offset = self.place_of_node(level, first + len(read))
            width = min(count - len(read), NODES_PER_KEY - (first + len(read)) % NODES_PER_KEY)
            stored = self._client.getrange(key, offset, offset + width * NODE_BYTES - 1)
            read += [stored[NODE_BYTES * place : NODE_BYTES * (place + 1)] for place in range(width)]
        return read

    def place_of_node(self, level: int, index: int) -> tuple[str, int]:
        """Return the key and the offset in bytes of a node of a level of at least TILE_HEIGHT."""
        return self._places.nodes_block(level, index // NODES_PER_KEY), index % NODES_PER_KEY * NODE_BYTES

    def queue_append(self, pipeline: StorePipeline, size: int, leaves: Sequence[bytes]) -> None:
        """Begin a transaction on ``pipeline`` and queue the addition of ``leaves``, as stored, to a log of ``size``."""
        nodes = merkle.appended_nodes(size, map(hash_of_stored, leaves), self.tree())
        pipeline.multi()
        pipeline.set(self._places.log_size, size + len(leaves))
        pipeline.rpush(self._places.leaves, *leaves)
        for (level, index), node in nodes.items():
            if level >= TILE_HEIGHT:
                key, offset = self.place_of_node(level, index)
                pipeline.setrange(key, offset, node)

    def moved_tiles(self) -> int:
        """Return how many tiles are in the storage of the archive: the first ones."""
        return self._client.strlen(self._places.tile_files) // NODE_BYTES

    def move_tiles(self, covered: int) -> int:
        """Move some full tiles of the first ``covered`` leaves, which were signed, to the storage; return how many.

        Raises DamagedArchiveError for a tile that is not of the tree; it stays. Crash-safe: a file is durable and read
        back before the store forgets its leaves in one step; it is named by its content.
        """
        if self._storage.url is None:
            return 0
        moved = self.moved_tiles()
        count = min(covered // TILE_WIDTH - moved, MAX_TILES_PER_MOVE)
        if count <= 0:
            return 0
        names = b"".join(self._write_tile(tile) for tile in range(moved, moved + count))

        def forget(pipeline: StorePipeline) -> int:
            if pipeline.strlen(self._places.tile_files) != moved * NODE_BYTES:
                return 0  # another process was faster
            pipeline.multi()
            pipeline.append(self._places.tile_files, names)
            pipeline.ltrim(self._places.leaves, count * TILE_WIDTH, -1)
            return count

        return transact(self._client, [self._places.tile_files], forget)

    def _write_tile(self, tile: int) -> bytes:
        leaves = self.read(tile * TILE_WIDTH, TILE_WIDTH)
        nodes = _nodes_over(tile, leaves)
        if nodes.get((TILE_HEIGHT, tile)) != self.nodes(TILE_HEIGHT, tile, 1)[0]:
            raise DamagedArchiveError(
                f"the leaves of tile {tile} are not those of the tree: rookery audit all says more"
            )
        name = self._storage.write(KIND_OF_FILES, compress(b"\n".join(leaves), level=COMPRESSION_LEVEL))
        return bytes.fromhex(name.rpartition("/")[2])

    def _read_moved(self, start: int, end: int) -> list[bytes]:
        first, last = start // TILE_WIDTH, (end - 1) // TILE_WIDTH
        digests = self._client.getrange(self._places.tile_files, first * NODE_BYTES, (last + 1) * NODE_BYTES - 1)
        names = [
            f"{KIND_OF_FILES}/{digests[offset : offset + NODE_BYTES].hex()}"
            for offset in range(0, (last + 1 - first) * NODE_BYTES, NODE_BYTES)
        ]
        leaves = [leaf for tile in self._remembered.get(names, self._load) for leaf in tile]
        return leaves[start - first * TILE_WIDTH : end - first * TILE_WIDTH]

    def _load(self, names: Sequence[str]) -> list[Measured]:
        blocks: list[Measured] = []
        for name in names:
            packed = self._storage.read(name)
            if hashlib.sha256(packed).hexdigest() != name.rpartition("/")[2]:
                raise DamagedArchiveError(f"the file {name} of the archive is not what was written")
            content = decompress(packed)
            blocks.append((content.split(b"\n"), 2 * len(content)))
        return blocks


def _nodes_over(tile: int, leaves: Sequence[bytes]) -> dict[tuple[int, int], bytes]:
    """Return the nodes over the leaves of a tile, by level and index, up to the one over a full tile."""
    made: dict[tuple[int, int], bytes] = {}
    row = [hash_of_stored(leaf) for leaf in leaves]
    for level in range(TILE_HEIGHT + 1):
        first = tile << (TILE_HEIGHT - level)
        made.update(((level, first + place), node) for place, node in enumerate(row))
        row = [merkle.node_hash(left, right) for left, right in zip(row[::2], row[1::2], strict=False)]
    return made
