"""A store with a replica, under the production settings: when it takes writes, and when these count as done."""

import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from deploy.local.child import bound_to_parent
from deploy.local.embedded import find_binary
from events.runtime.connections import StoreClient, connect
from events.runtime.errors import StoreFullError, StoreUnavailableError
from events.store.contract import EMPTY, Appended, Request
from events.store.copies import NotCopiedError
from events.store.envelope import Draft
from events.store.redis import RedisStore
from tests.support.callers import Answer, Caller, app_on, started
from tests.support.eventually import eventually
from tests.support.server import RealServer, free_ports

PRODUCTION = Path("deploy/production").resolve()


class Pair:
    """A primary with the settings of production and, at first without it, a replica."""

    def __init__(self, directory: Path) -> None:
        settings = (PRODUCTION / "redis-store.conf").read_text()
        file = directory / "redis-store.conf"
        file.write_text(settings.replace("/etc/rookery/", f"{PRODUCTION}/").replace("dir /data", f"dir {directory}"))
        (self._port,) = free_ports(1)
        command = [str(find_binary().path), str(file), "--port", str(self._port), "--bind", "127.0.0.1"]
        command += ["--repl-diskless-sync-delay", "0"]
        self._primary = subprocess.Popen(bound_to_parent(command), stdout=subprocess.DEVNULL)
        self._replica = RealServer(directory / "replica")
        self.url = f"redis://127.0.0.1:{self._port}/0"
        self.client: Any = connect(self.url)
        eventually(self._answers, "the start of the primary")

    def replicate(self) -> None:
        self._replica.client().execute_command("REPLICAOF", "127.0.0.1", self._port)
        eventually(lambda: self._copies() == 1, "the replica")

    def part(self) -> None:
        """Let the replica follow no longer, and wait until it is missed."""
        self._replica.client().execute_command("REPLICAOF", "NO", "ONE")
        eventually(lambda: self._copies() == 0, "the end of the replica")

    @contextmanager
    def lagging(self) -> Iterator[None]:
        """Stop the replica for the time of the block, in which it is not waited for long."""
        self._replica.send(signal.SIGSTOP)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("events.store.copies.MAX_WAIT_MS", 50)
            try:
                yield
            finally:
                self._replica.send(signal.SIGCONT)

    def close(self) -> None:
        self.client.close()
        self._replica.close()
        self._primary.terminate()
        self._primary.wait()

    def _answers(self) -> bool:
        try:
            return bool(self.client.ping())
        except StoreUnavailableError:
            return False

    def _copies(self) -> int:
        return int(self.client.info("replication").get("min_slaves_good_slaves", 0))


@pytest.fixture(scope="module")
def shared_pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    made = Pair(tmp_path_factory.mktemp("pair"))
    yield made
    made.close()


@pytest.fixture
def pair(shared_pair: Pair) -> Pair:
    """Return a primary that no replica follows yet."""
    shared_pair.part()
    return shared_pair


def append(client: StoreClient, key: str, wait_replicas: int = 0) -> Appended:
    store = RedisStore(client, wait_replicas=wait_replicas)
    return store.append(f"m-{key}", EMPTY, [Draft("noted", 1, 1, "alice", {})], Request(key, ""))


def test_a_primary_takes_writes_only_while_a_replica_follows_and_flushes_each(pair: Pair) -> None:
    assert pair.client.config_get("appendfsync") == {"appendfsync": "always"}
    with pytest.raises(StoreFullError, match="NOREPLICAS"):
        append(pair.client, "alone")
    pair.replicate()
    assert not append(pair.client, "alone").repeated


def test_an_append_counts_when_a_replica_has_it(pair: Pair) -> None:
    pair.replicate()
    assert not append(pair.client, "copied", wait_replicas=1).repeated
    with pair.lagging():
        for client in (pair.client, connect(pair.url)):  # on another connection the repetition has written nothing
            with pytest.raises(NotCopiedError, match="0 instead of 1 replicas"):
                append(client, "late", wait_replicas=1)
        assert RedisStore(pair.client).head("m-late").version == 1, "it is stored"
    assert append(pair.client, "late", wait_replicas=1).repeated


def test_a_player_is_told_that_a_move_is_stored_but_not_copied(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    pair.replicate()
    app = app_on(pair.url)
    anna, boris = Caller(app).sign_up("anna"), Caller(app).sign_up("boris")
    match_id = started(anna, boris)
    other, token = app_on(pair.url), anna.token()
    for each in (app, other):
        monkeypatch.setattr(each.extensions["rookery"].store.copies, "_wanted", 1)
    with pair.lagging():
        refused = anna.move(match_id, "c3-d4", Idempotency_Key="k")
        again = Caller(other).move(match_id, "c3-d4", Idempotency_Key="k", Authorization=token)
        assert (again.status_code, again.json["code"]) == (503, "not-copied"), "another process finds it in the store"
    assert (refused.status_code, refused.json["code"]) == (503, "not-copied")
    assert "not carried out twice" in refused.json["detail"]

    def repeated() -> Answer | None:
        answer = anna.move(match_id, "c3-d4", Idempotency_Key="k")
        return answer if answer.status_code == 201 else None

    assert eventually(repeated, "the acknowledgement").headers["Idempotency-Replayed"] == "true"
    assert anna.get(f"/matches/{match_id}").json["moves"] == ["c3-d4"]
