"""Copies of the files, made while everything runs as docs/operators.md describes, can be restored as it says."""

import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from deploy.local.store_watch import StoreWatch
from events.proof.keys import KeyRing
from events.store.contract import Request
from events.store.mark import MARK
from events.store.redis import RedisStore
from tests.bench.store import CREATED, MOVED
from tests.support.chains import verify_all
from tests.support.eventually import eventually
from tests.support.server import RealServer

OPERATORS = Path(__file__).parents[3] / "docs" / "operators.md"
COPIES = 3
NOW = 1_790_000_000_000


def steps() -> tuple[str, str]:
    section = OPERATORS.read_text().partition("### Copies of the files")[2].partition("\n## ")[0]
    backup, restore = re.findall(r"```sh\n(.*?)```", section, re.S)
    return backup, restore


def run(commands: str, where: Path) -> None:
    subprocess.run(["/bin/sh", "-ec", commands], cwd=where, check=True, capture_output=True, timeout=60)


class Load:
    """Appends to one match and has the files rewritten over and over."""

    def __init__(self, server: RealServer) -> None:
        self.version = 0
        self._store = RedisStore(server.client())
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=each) for each in (self._append, self._rewrite)]
        for thread in self._threads:
            thread.start()

    def has_reached(self, version: int) -> bool:
        return self.version > version

    def stop(self) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _append(self) -> None:
        head = self._store.head("a")
        while not self._stop.is_set():
            draft = MOVED if head.version else CREATED
            head = self._store.append("a", head, [draft], Request(f"{head.version}", "")).head
            self.version = head.version

    def _rewrite(self) -> None:
        while not self._stop.wait(0.05):
            if not self._store.client.info("persistence")["aof_rewrite_in_progress"]:
                self._store.client.bgrewriteaof()


@pytest.fixture
def load(tmp_path: Path) -> Iterator[tuple[RealServer, Load]]:
    server = RealServer(tmp_path / "var" / "redis")
    KeyRing(server.client(), "rk:", lambda: NOW, tmp_path / "var" / "keys" / "at-rest.key").signing()
    load = Load(server)
    yield server, load
    load.stop()
    server.close()


def test_copies_made_during_rewrites_hold_what_was_acknowledged(tmp_path: Path, load: tuple[RealServer, Load]) -> None:
    server, writing = load
    backup, restore = steps()
    for number in range(COPIES):
        eventually(partial(writing.has_reached, writing.version + 10), "more events")
        acknowledged = writing.version
        run(backup, tmp_path)
        machine = tmp_path / f"machine-{number}"
        machine.mkdir()
        for name in ("backup", "key-of-the-backup"):
            shutil.move(tmp_path / name, machine / name)
        run(restore, machine)
        restored = RealServer(machine / "var" / "redis")
        try:
            store = RedisStore(restored.client())
            assert store.head("a").version >= acknowledged
            assert verify_all(store) == []
            assert store.installation() == RedisStore(server.client()).installation()
            key = KeyRing(restored.client(), "rk:", lambda: NOW, machine / "var" / "keys" / "at-rest.key").signing()
            assert key.id == KeyRing(server.client(), "rk:", lambda: NOW, machine / "key-of-the-backup").signing().id
        finally:
            restored.close()


def test_a_backup_restored_where_more_had_happened_says_what_is_missing(tmp_path: Path) -> None:
    var = tmp_path / "var"
    (var / "keys").mkdir(parents=True)
    (var / "keys" / "at-rest.key").write_text("ab" * 32)
    server = RealServer(var / "redis")
    store = RedisStore(server.client())
    watch = StoreWatch(store, var / MARK, print, var / "redis")
    watch.start()
    head = store.append("a", store.head("a"), [CREATED, MOVED], Request("1", "")).head
    backup, restore = steps()
    run(backup, tmp_path)
    store.append("a", head, [MOVED], Request("2", ""))
    watch.stop()
    server.close()
    run(restore, tmp_path)
    restored = RealServer(var / "redis")
    missing = StoreWatch(RedisStore(restored.client()), var / MARK, print, var / "redis").find_missing()
    restored.close()
    assert missing is not None
    assert missing.lines() == ["a: version 3"]
    assert (var / "redis-before" / "appendonlydir").is_dir()
