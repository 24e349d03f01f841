"""The stores of a campaign, under the settings of production: one server, a primary under sentinels, a cluster."""

import random
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

from redis.crc import key_slot
from redis.exceptions import RedisError

from deploy.local.embedded import ALWAYS
from tests.support.eventually import eventually
from tests.support.three_masters import ThreeMasters
from tests.support.topologies import Servers
from tests.support.watched_servers import Watched

SINGLE, SENTINEL, CLUSTER = "single", "sentinel", "cluster"
MOVE_INTERVAL_S = 1.0
MAX_MOVE_S = 5.0
SHARD_TAGS = [f"s{shard:02d}" for shard in range(16)]
OTHER_TAGS = ["people", "ratings", "incidents", "time", "fleet"]


class OneServer(Servers):
    def __init__(self, directory: Path) -> None:
        super().__init__()
        self._add(directory / "node-0", fsync=ALWAYS)

    @property
    def url(self) -> str:
        return self.servers[0].url

    def wait_until_complete(self) -> None:
        """Return: it is complete when it has started."""


Store = OneServer | Watched | ThreeMasters


def open_store(kind: str, directory: Path) -> Store:
    """Start a store of a ``kind`` below ``directory``."""
    if kind == SINGLE:
        return OneServer(directory)
    store: Watched | ThreeMasters
    if kind == SENTINEL:
        store = Watched(directory, fsync=ALWAYS)
    else:
        # Without migration of replicas a primary that was replaced while slots moved comes back as one without any.
        store = ThreeMasters(directory, replicas=2, fsync=ALWAYS, replica_migration=True)
    # As in deploy/production/redis-store.conf.
    for number in range(len(store.servers)):
        store.ask(number, "CONFIG SET", "min-replicas-to-write", "1", "min-replicas-max-lag", "5")
        store.ask(number, "CONFIG REWRITE")
    return store


def find_primary(store: Store, chance: random.Random) -> tuple[int, list[int]]:
    """Return a primary and its replicas; raises RedisError, StopIteration, IndexError while that is being decided."""
    if isinstance(store, OneServer):
        return 0, []
    if isinstance(store, Watched):
        primary = store.primary()
        return primary, [number for number in range(3) if number != primary]
    primary = chance.choice(store.primaries())
    port = store.servers[primary].port
    roles = {number: store.ask(number, "ROLE") for number in range(len(store.servers)) if number != primary}
    return primary, [number for number, role in roles.items() if role[0] == "slave" and int(role[2]) == port]


class SlotMover:
    """Moves slots of a cluster with keys of the installation from server to server, one after the other.

    ``moving`` is held while one moves. A slot that has moved to a primary whose replica is behind is lost as a whole
    when that replica takes over, not only its end: so a test that cuts a tail pauses that replica meanwhile.
    """

    def __init__(self, store: ThreeMasters, seed: int, on_move: Callable[[int, int], None]) -> None:
        """``on_move`` is called with each slot that has moved and its new server."""
        self.moved = 0
        self.moving = threading.Lock()
        self._store = store
        self._chance = random.Random(f"slots/{seed}")
        self._on_move = on_move
        self._slots = [key_slot(tag.encode()) for tag in (*SHARD_TAGS, *OTHER_TAGS)]

    @contextmanager
    def running(self) -> Iterator[None]:
        """Move slots until the block ends."""
        stop = threading.Event()
        thread = threading.Thread(target=self._run, args=[stop], name="slot-mover")
        thread.start()
        try:
            yield
        finally:
            stop.set()
            thread.join()

    def _run(self, stop: threading.Event) -> None:
        while not stop.wait(MOVE_INTERVAL_S):
            # Servers are being killed meanwhile: a move that cannot begin or end is left to the servers.
            with (
                suppress(RedisError, OSError, StopIteration, KeyError, ValueError, IndexError, AssertionError),
                self.moving,
            ):
                slot = self._chance.choice(self._slots)
                target = self._chance.choice([n for n in self._store.primaries() if n != self._store.owner_of(slot)])
                self._store.begin_migration(slot, slot, target)
                has_moved = partial(self._has, slot, target)
                eventually(has_moved, "the move of a slot", MAX_MOVE_S)
                self.moved += 1
                self._on_move(slot, target)

    def _has(self, slot: int, target: int) -> bool:
        return self._store.owner_of(slot) == target
