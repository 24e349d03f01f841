"""What the web server does for its workers."""

import errno
import logging
import os
import runpy
from pathlib import Path
from types import SimpleNamespace

import pytest
from prometheus_client import CollectorRegistry, Counter, values
from prometheus_client.mmap_dict import MmapedDict

from api.counter_files import ENDED
from deploy.local.programs import GUNICORN

WORKER = SimpleNamespace(log=logging.getLogger("worker"))


def test_the_room_for_the_counters_of_a_worker_is_reserved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROMETHEUS_MULTIPROC_DIR", str(tmp_path))
    runpy.run_path(str(GUNICORN))["post_fork"](None, WORKER)
    found = (tmp_path / f"counter_{os.getpid()}.db").stat()
    assert found.st_blocks * 512 >= found.st_size == 1024 * 1024


def test_a_worker_without_room_for_counters_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setenv("PROMETHEUS_MULTIPROC_DIR", str(tmp_path))
    monkeypatch.setattr(os, "posix_fallocate", full)
    monkeypatch.setattr(values, "ValueClass", values.MultiProcessValue())  # as in the process that was forked
    runpy.run_path(str(GUNICORN))["post_fork"](None, WORKER)
    assert "PROMETHEUS_MULTIPROC_DIR" not in os.environ
    Counter("requests", "Counted by this process alone", ["path"], registry=CollectorRegistry()).labels("/").inc()
    assert list(tmp_path.iterdir()) == []


def test_the_next_worker_keeps_the_counters_and_removes_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROMETHEUS_MULTIPROC_DIR", str(tmp_path))
    hooks, ended = runpy.run_path(str(GUNICORN)), os.getpid()
    hooks["post_fork"](None, WORKER)
    counters = MmapedDict(str(tmp_path / f"counter_{ended}.db"))
    counters.write_value("requests", 3.0, 0.0)
    counters.close()
    hooks["child_exit"](None, SimpleNamespace(pid=ended))
    hooks["post_worker_init"](SimpleNamespace(notify=lambda: None))
    assert [path.name for path in tmp_path.glob("*.db")] == [ENDED]
    kept = MmapedDict.read_all_values_from_file(str(tmp_path / ENDED))
    assert [(key.strip(), value) for key, value, *_ in kept] == [("requests", 3.0)]
