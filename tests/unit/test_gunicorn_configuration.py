"""What the web server does for its workers."""

import errno
import logging
import os
import runpy
from pathlib import Path
from types import SimpleNamespace

import pytest
from prometheus_client import CollectorRegistry, Counter, values

from deploy.local.programs import GUNICORN

WORKER = SimpleNamespace(log=logging.getLogger("worker"))


def test_the_room_for_the_counters_of_a_worker_is_reserved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROMETHEUS_MULTIPROC_DIR", str(tmp_path))
    runpy.run_path(str(GUNICORN))["post_fork"](None, WORKER)
    found = (tmp_path / f"counter_{os.getpid()}.db").stat()
    assert found.st_blocks * 512 >= found.st_size == 1024 * 1024


def test_a_worker_without_room_for_its_counters_works_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setenv("PROMETHEUS_MULTIPROC_DIR", str(tmp_path))
    monkeypatch.setattr(os, "posix_fallocate", full)
    monkeypatch.setattr(values, "ValueClass", values.MultiProcessValue())  # as in the process that was forked
    runpy.run_path(str(GUNICORN))["post_fork"](None, WORKER)
    assert "PROMETHEUS_MULTIPROC_DIR" not in os.environ
    Counter("requests", "Counted by this process alone", ["path"], registry=CollectorRegistry()).labels("/").inc()
    assert list(tmp_path.iterdir()) == []
