"""A store of a cluster of three primaries on loopback."""

from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple

from redis.exceptions import RedisError

from deploy.local.embedded import EVERYSEC
from tests.support.eventually import eventually
from tests.support.server import free_ports
from tests.support.topologies import HOST, PATIENCE_S, REPLICATION, Servers

SLOTS = 16384
NODE_TIMEOUT_MS = 1000
"""After this silence the other servers of a cluster hold one to have failed."""


class Migration(NamedTuple):
    """An atomic migration of slots as its source reports it."""

    state: str
    message: str


class ThreeMasters(Servers):
    """A cluster of three primaries, 0 to 2, each with a third of the slots, and ``replicas`` of each.

    Server ``3 + n`` is the first replica of primary ``n``, ``6 + n`` the second.
    """

    def __init__(
        self, directory: Path, replicas: int = 0, fsync: str = EVERYSEC, replica_migration: bool = False
    ) -> None:
        """Start the servers below ``directory`` and wait until all of them hold the cluster to be complete.

        With ``replica_migration``, the default of servers, replicas may come to follow another primary.
        """
        super().__init__()
        self.replicas = replicas
        for number, bus in enumerate(free_ports(3 * (1 + replicas))):
            self._add(
                directory / f"node-{number}", *("--cluster-enabled", "yes", "--cluster-port", str(bus)),
                *("--cluster-node-timeout", str(NODE_TIMEOUT_MS), "--cluster-require-full-coverage", "no"),
                *("--cluster-allow-replica-migration", "yes" if replica_migration else "no", *REPLICATION), fsync=fsync,
            )  # fmt: skip
        self.ids: list[str] = [self.ask(number, "CLUSTER", "MYID") for number in range(len(self.servers))]
        self._join()

    @property
    def url(self) -> str:
        """The URL of the store, which names the first three servers."""
        return f"redis+cluster://{','.join(f'{HOST}:{server.port}' for server in self.servers[:3])}"

    def empty(self) -> None:
        """Revive the servers, wait for the cluster, and delete all keys and scripts."""
        self.revive()
        self.wait_until_complete()
        for number in self.primaries():
            self.ask(number, "FLUSHALL")
            self.ask(number, "SCRIPT", "FLUSH")
        if not self.replicas:
            self._share_slots_evenly()

    def primaries(self) -> list[int]:
        """Return the numbers of the servers that are primaries with slots now, as a running one sees it."""
        return sorted(set(self.owners().values()))

    def owners(self) -> dict[tuple[int, int], int]:
        """Return which server has which range of slots, as a running one sees it."""
        ports = {server.port: number for number, server in enumerate(self.servers)}
        ranges = self.ask(self._running(), "CLUSTER", "SLOTS")
        return {(first, last): ports[primary[1]] for first, last, primary, *_ in ranges}

    def owner_of(self, slot: int) -> int:
        """Return the number of the server that has ``slot``."""
        return next(number for (first, last), number in self.owners().items() if first <= slot <= last)

    def begin_migration(self, first: int, last: int, target: int) -> None:
        """Begin to move the slots ``first`` to ``last``, which one server has, to another, atomically (Valkey 9)."""
        source = self.owner_of(first)
        self.ask(source, "CLUSTER", "MIGRATESLOTS", "SLOTSRANGE", first, last, "NODE", self.ids[target])

    def migrate_slots(self, first: int, last: int, target: int) -> None:
        """Move the slots ``first`` to ``last``, which one server has, to another, and wait until all know it."""
        self.begin_migration(first, last, target)
        self.wait_for_owner(first, last, target)

    def wait_for_owner(self, first: int, last: int, target: int) -> None:
        """Wait until all running servers know that ``target`` has the slots ``first`` to ``last``."""
        port = self.servers[target].port

        def known() -> bool:
            return all(
                any(low <= first and last <= high and primary[1] == port for low, high, primary, *_ in ranges)
                for ranges in (self.ask(number, "CLUSTER", "SLOTS") for number in self._all_running())
            )

        eventually(known, "that all servers know the new owner", PATIENCE_S)

    def migrations(self, source: int) -> list[Migration]:
        """Return the reports of ``source`` about the migrations that it took part in, the latest first."""
        found = []
        for reply in self.ask(source, "CLUSTER", "GETSLOTMIGRATIONS"):
            fields = reply if isinstance(reply, dict) else dict(zip(reply[::2], reply[1::2], strict=True))
            found.append(Migration(str(fields["state"]), str(fields.get("message", ""))))
        return found

    def fail_over(self, number: int) -> None:
        """Make a replica the primary in the place of its own, in an orderly way, and wait for it."""
        first, last = next(slots for slots, owner in self.owners().items() if owner % 3 == number % 3)
        self.ask(number, "CLUSTER", "FAILOVER")
        self.wait_for_owner(first, last, number)

    def wait_until_complete(self) -> None:
        """Wait until all running servers hold the cluster to be able to work, and replicas follow their primaries."""
        eventually(lambda: all(map(self._is_complete, self._all_running())), "that the cluster is complete", PATIENCE_S)

    def _is_complete(self, number: int) -> bool:
        try:
            state = self.ask(number, "CLUSTER INFO")
            role = self.ask(number, "ROLE")
            nodes = self.ask(number, "CLUSTER NODES")
        except RedisError:
            return False
        links = all(node["connected"] and "fail" not in node["flags"] for node in nodes.values())
        linked = role[0] == "master" or role[3] == "connected"
        return (
            state["cluster_state"] == "ok"
            and int(state["cluster_slots_ok"]) == SLOTS
            and int(state["cluster_known_nodes"]) == len(self.servers)
            and links
            and bool(linked)
        )

    def _join(self) -> None:
        for number in range(3):
            first, last = number * SLOTS // 3, (number + 1) * SLOTS // 3 - 1
            self.ask(number, "CLUSTER", "ADDSLOTSRANGE", first, last)
            self.ask(number, "CLUSTER", "SET-CONFIG-EPOCH", number + 1)
        ports = [(server.port, self.ask(n, "CONFIG", "GET", "cluster-port")) for n, server in enumerate(self.servers)]
        for number in range(len(self.servers)):
            for port, setting in ports[number + 1 :]:
                bus = setting["cluster-port"] if isinstance(setting, dict) else setting[1]
                self.ask(number, "CLUSTER", "MEET", HOST, port, bus)
        for number in range(3, len(self.servers)):
            eventually(partial(self._follows, number, number % 3), "that a replica knows its primary", PATIENCE_S)
        self.wait_until_complete()

    def _share_slots_evenly(self) -> None:
        """Give each primary its third again, after tests that moved slots."""
        for (first, last), owner in self.owners().items():
            for number in range(3):
                low, high = max(first, number * SLOTS // 3), min(last, (number + 1) * SLOTS // 3 - 1)
                if low <= high and owner != number:
                    self.migrate_slots(low, high, number)

    def _follows(self, number: int, primary: int) -> bool:
        with suppress(RedisError):
            self.ask(number, "CLUSTER", "REPLICATE", self.ids[primary])
            return True
        return False

    def _running(self) -> int:
        return self._all_running()[0]

    def _all_running(self) -> list[int]:
        return [number for number in range(len(self.servers)) if number not in self._killed | self._paused]
