"""The watch over the embedded server, with limits that no other installation of the process may have meanwhile."""

import os
import signal
import time
from pathlib import Path

import pytest

from deploy.local.store_watch import StoreWatch
from events.runtime.errors import StoreError, StoreTimeoutError
from events.store.redis import RedisStore
from tests.support.eventually import eventually
from tests.support.server import RealServer


def test_a_server_that_hangs_is_told_from_one_that_is_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("events.runtime.connections.ANSWER_TIMEOUT_S", 0.3)
    monkeypatch.setattr("deploy.local.store_watch.MAX_SILENCE_S", 0.0)
    server = RealServer(tmp_path / "redis")
    hung: list[float] = []
    store = RedisStore(server.client())
    watch = StoreWatch(
        store, tmp_path / "mark", print, tmp_path / "redis", on_hang=lambda: hung.append(time.monotonic()),
    )  # fmt: skip
    failures: list[StoreError] = []
    step = watch.step

    def noting_failures() -> None:
        try:
            step()
        except StoreError as error:
            failures.append(error)
            raise

    monkeypatch.setattr(watch, "step", noting_failures)
    watch.start()
    server.kill()
    eventually(lambda: failures, "a look at the server that is away")
    server.start()
    assert not isinstance(failures[0], StoreTimeoutError)
    assert hung == []
    os.kill(server.pid, signal.SIGSTOP)
    eventually(lambda: hung, "the word that it hangs")
    os.kill(server.pid, signal.SIGCONT)
    watch.stop()
    server.close()
