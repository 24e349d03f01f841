"""Stores of several real servers on loopback: a cluster of three primaries; a primary with replicas and sentinels.

They run the server that the product carries, with short time limits, so that a failure is noticed within a second or
two. All of them end with the process of the tests at the latest.
"""

import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as RedisConnectionError, RedisError
from redis.retry import Retry

from deploy.local.child import bound_to_parent
from deploy.local.embedded import EVERYSEC, find_binary
from tests.support.eventually import eventually
from tests.support.server import RealServer, free_ports

HOST = "127.0.0.1"
SERVICE = "rookery"
"""How the sentinels call the store."""

SLOTS = 16384
NODE_TIMEOUT_MS = 1000
"""After this silence the other servers of a cluster hold one to have failed."""

DOWN_AFTER_MS = 500
"""After this silence a sentinel holds a server to be down."""

FAILOVER_TIMEOUT_MS = 3000
QUICK_PERIODS = ("INFO-PERIOD", "PING-PERIOD", "ASK-PERIOD", "PUBLISH-PERIOD")
"""How often sentinels look; the usual periods are up to ten seconds, a setting only of the command DEBUG."""

REPLICATION = ("--repl-diskless-sync-delay", "0", "--repl-ping-replica-period", "1")
PATIENCE_S = 60


class Migration(NamedTuple):
    """An atomic migration of slots as its source reports it."""

    state: str
    message: str


class Servers:
    """Several servers, each addressed by its number, that can be killed, paused and started again."""

    def __init__(self) -> None:
        self.servers: list[RealServer] = []
        self._paused: set[int] = set()
        self._killed: set[int] = set()
        self._connections: dict[int, Redis] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def connection(self, number: int) -> "Redis":
        """Return a plain client of one server, for the orders of an operator; it is not to be closed."""
        return self._at(self.servers[number].port)

    def ask(self, number: int, *command: Any) -> Any:
        return self.connection(number).execute_command(*command)

    def kill(self, number: int) -> None:
        self.resume(number)
        self.servers[number].kill()
        self._killed.add(number)

    def start(self, number: int) -> None:
        """Start a server that was killed, with its files and its port."""
        self.servers[number].start()
        self._killed.discard(number)

    def pause(self, number: int) -> None:
        """Stop a server with SIGSTOP: it keeps its connections and answers nothing."""
        self.servers[number].send(signal.SIGSTOP)
        self._paused.add(number)

    def resume(self, number: int) -> None:
        if number in self._paused:
            self.servers[number].send(signal.SIGCONT)
            self._paused.discard(number)

    def resume_all(self) -> None:
        for number in sorted(self._paused):
            self.resume(number)

    def revive(self) -> None:
        """Start what does not run and let go on what was paused.

        Beside what was killed, that is what a thread had started that has ended: a server ends with its parent thread.
        """
        self.resume_all()
        for number, server in enumerate(self.servers):
            if not server.is_running:
                self.start(number)

    def close(self) -> None:
        for connection in self._connections.values():
            connection.close()
        for number in sorted(self._paused):
            self.resume(number)
        for server in self.servers:
            server.close()

    def _at(self, port: int) -> "Redis":
        if port not in self._connections:
            retry = Retry(NoBackoff(), 1)  # a connection that was idle while its server was started again
            self._connections[port] = Redis(port=port, socket_timeout=5, decode_responses=True, retry=retry)
        return self._connections[port]

    def _add(self, directory: Path, *options: str, fsync: str) -> None:
        self.servers.append(RealServer(directory, *options, fsync=fsync))


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
        """Return what ``source`` reports about the migrations that it took part in, the latest first."""
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


class Watched(Servers):
    """A primary with replicas, servers from 0 on, watched by three sentinels that replace it when it is silent."""

    def __init__(self, directory: Path, fsync: str = EVERYSEC, replicas: int = 2) -> None:
        """Start all of them below ``directory`` and wait until replicas and sentinels know each other."""
        super().__init__()
        self._add(directory / "node-0", *REPLICATION, fsync=fsync)
        for number in range(1, 1 + replicas):
            self._add(directory / f"node-{number}", *REPLICATION, fsync=fsync)
            self.ask(number, "REPLICAOF", HOST, self.servers[0].port)
            self.ask(number, "CONFIG REWRITE")
        self.sentinels = free_ports(3)
        self._watchers = [self._start_sentinel(directory / f"sentinel-{port}", port) for port in self.sentinels]
        self.wait_until_complete()

    @property
    def url(self) -> str:
        """The URL of the store, which names the sentinels and what they watch."""
        return f"redis+sentinel://{','.join(f'{HOST}:{port}' for port in self.sentinels)}/{SERVICE}/0"

    def empty(self) -> None:
        """Revive the servers, wait for the replicas, and delete all keys and scripts."""
        self.revive()
        self.wait_until_complete()
        self.ask(self.primary(), "FLUSHALL")
        self.ask(self.primary(), "SCRIPT", "FLUSH")

    def primary(self) -> int:
        """Return the number of the server that the sentinels hold to be the primary."""
        _, port = self._ask_sentinel(self.sentinels[0], "SENTINEL", "GET-MASTER-ADDR-BY-NAME", SERVICE)
        return next(number for number, server in enumerate(self.servers) if server.port == int(port))

    def replicas(self) -> list[int]:
        return sorted(set(range(len(self.servers))) - {self.primary()})

    def cut_off_replicas(self) -> None:
        """Pause the replicas and close their connections: they get nothing of what the primary writes from now on."""
        for number in self.replicas():
            self.pause(number)
        self.ask(self.primary(), "CLIENT", "KILL", "TYPE", "REPLICA")

    def pause_sentinels(self) -> None:
        """Stop the sentinels: they change no server until they go on."""
        for watcher in self._watchers:
            watcher.send_signal(signal.SIGSTOP)

    def resume_sentinels(self) -> None:
        for watcher in self._watchers:
            watcher.send_signal(signal.SIGCONT)

    @contextmanager
    def patient_sentinels(self) -> Iterator[None]:
        """Let the sentinels replace no server that is silent for less than a minute, during the block."""
        self._set_down_after(60_000)
        try:
            yield
        finally:
            self._set_down_after(DOWN_AFTER_MS)

    @contextmanager
    def hidden_from_sentinels(self, number: int) -> Iterator[None]:
        """Let the sentinels take a server for dead during the block, which works for everybody else."""
        self.ask(number, "ACL", "SETUSER", "default", "-ping")
        try:
            yield
        finally:
            self.ask(number, "ACL", "SETUSER", "default", "+ping")

    def is_down(self) -> bool:
        states = [self._ask_sentinel(port, "SENTINEL", "MASTER", SERVICE) for port in self.sentinels]
        return all(state["is_sdown"] or state["is_odown"] for state in states)

    def revive(self) -> None:
        """Let sentinels and servers go on, and start those that were killed."""
        self.resume_sentinels()
        super().revive()

    def fail_over(self) -> int:
        """Order the sentinels to replace the primary, wait for it, and return the number of the new one."""
        before = self.primary()

        def ordered() -> bool:
            if self.primary() == before:
                with suppress(RedisError):  # under way already, or the sentinel has not looked at the replicas yet
                    self._ask_sentinel(self.sentinels[0], "SENTINEL", "FAILOVER", SERVICE)
            return self.primary() != before

        eventually(ordered, "the failover", PATIENCE_S)
        self.wait_for_another_primary(before)
        return self.primary()

    def wait_for_another_primary(self, before: int) -> None:
        """Wait until all sentinels hold another server than ``before`` to be the primary, and it takes writes."""
        port = self.servers[before].port

        def replaced() -> bool:
            addresses = [self._address_at(sentinel) for sentinel in self.sentinels]
            return len(set(addresses)) == 1 and addresses[0] != port and self._is_primary(self.primary())

        eventually(replaced, "that another primary takes over", PATIENCE_S)

    def wait_until_complete(self) -> None:
        """Wait until the sentinels agree, and all replicas follow the primary and have what it has."""
        eventually(self._is_complete, "that all replicas follow the primary", PATIENCE_S)

    def close(self) -> None:
        for watcher in self._watchers:
            watcher.kill()
            watcher.wait()
        super().close()

    def _is_complete(self) -> bool:
        try:
            primary = self.primary()
            role = self.ask(primary, "ROLE")
            replicas = len(self.servers) - 1
            if role[0] != "master" or len(role[2]) != replicas:
                return False
            for number in set(range(len(self.servers))) - {primary}:
                _, _, port, state, offset = self.ask(number, "ROLE")
                if (int(port), state) != (self.servers[primary].port, "connected") or int(offset) < int(role[1]):
                    return False
            states = [self._ask_sentinel(port, "SENTINEL", "MASTER", SERVICE) for port in self.sentinels]
            followers = [
                replica
                for port in self.sentinels
                for replica in self._ask_sentinel(port, "SENTINEL", "REPLICAS", SERVICE)
            ]
        except (RedisError, ValueError, StopIteration):
            return False
        return all(follower["flags"] == "slave" for follower in followers) and all(
            state["port"] == self.servers[primary].port
            and state["num-other-sentinels"] == 2
            and state["num-slaves"] == replicas
            and state["is_master"]
            and not (state["is_odown"] or state["is_sdown"])
            for state in states
        )

    def _is_primary(self, number: int) -> bool:
        try:
            return bool(self.ask(number, "ROLE")[0] == "master")
        except RedisError:
            return False

    def _address_at(self, sentinel: int) -> int:
        return int(self._ask_sentinel(sentinel, "SENTINEL", "GET-MASTER-ADDR-BY-NAME", SERVICE)[1])

    def _ask_sentinel(self, port: int, *command: str) -> Any:
        return self._at(port).execute_command(" ".join(command[:2]), *command[2:])

    def _set_down_after(self, down_after_ms: int) -> None:
        for port in self.sentinels:
            self._ask_sentinel(port, "SENTINEL", "SET", SERVICE, "down-after-milliseconds", str(down_after_ms))

    def _start_sentinel(self, directory: Path, port: int) -> subprocess.Popen[bytes]:
        directory.mkdir(parents=True)
        file = directory / "sentinel.conf"
        file.write_text(
            f"port {port}\nbind {HOST}\ndir {directory}\nlogfile {directory}/log\n"
            f"sentinel monitor {SERVICE} {HOST} {self.servers[0].port} 2\n"
            f"sentinel down-after-milliseconds {SERVICE} {DOWN_AFTER_MS}\n"
            f"sentinel failover-timeout {SERVICE} {FAILOVER_TIMEOUT_MS}\n"
            f"sentinel parallel-syncs {SERVICE} 2\n"
        )
        command: Sequence[str] = [str(find_binary().path), str(file), "--sentinel"]
        started = subprocess.Popen(bound_to_parent([*command]), stdout=subprocess.DEVNULL)
        eventually(lambda: _answers(port), "the start of a sentinel", PATIENCE_S)
        for period in QUICK_PERIODS:
            self._ask_sentinel(port, "SENTINEL", "DEBUG", period, "300")
        return started


def _answers(port: int) -> bool:
    try:
        with Redis(port=port, socket_timeout=5) as client:
            return bool(client.ping())
    except RedisConnectionError:
        return False
