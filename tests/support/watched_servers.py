"""A store of a primary with replicas on loopback, watched by sentinels."""

import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from redis import Redis
from redis.exceptions import ConnectionError as RedisConnectionError, RedisError

from deploy.local.child import bound_to_parent
from deploy.local.embedded import EVERYSEC, find_binary
from tests.support.eventually import eventually
from tests.support.server import free_ports
from tests.support.topologies import HOST, PATIENCE_S, REPLICATION, Servers

SERVICE = "rookery"
"""How the sentinels call the store."""

DOWN_AFTER_MS = 500
"""After this silence a sentinel holds a server to be down."""

FAILOVER_TIMEOUT_MS = 3000
QUICK_PERIODS = ("INFO-PERIOD", "PING-PERIOD", "ASK-PERIOD", "PUBLISH-PERIOD")
"""How often sentinels look; the usual periods are up to ten seconds, a setting only of the command DEBUG."""


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
        """The URL of the store, which names the sentinels and the primary that they watch."""
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
        """Pause the replicas and close their connections: they get no later writes of the primary."""
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
        """Wait until the sentinels agree, and all replicas follow the primary and have all its writes."""
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
