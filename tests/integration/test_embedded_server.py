"""The embedded server: which program, on which directory, and what is refused."""

import json
import os
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from deploy.local import embedded
from deploy.local.embedded import Binary, DataDirectory, EmbeddedError, find_binary, identify
from deploy.local.ports import PortTakenError, check_port_is_free
from tests.support.server import RealServer


@pytest.fixture
def binary() -> Binary:
    return find_binary()


def script(path: Path, says: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\necho '{says}'\n")
    path.chmod(0o755)
    return path


def test_the_wheel_carries_a_server_that_runs_here() -> None:
    path = embedded.wheel_binary()
    assert path is not None
    assert os.access(path, os.X_OK)
    found = identify(path)
    assert found is not None
    assert found.version >= embedded.MIN_VERSION


def test_without_the_wheel_a_server_on_the_path_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded, "wheel_binary", lambda: None)
    path = script(tmp_path / "redis-server", "Redis server v=7.0.15 sha=00000000:0 malloc=jemalloc bits=64")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_binary() == Binary(path, "redis", (7, 0, 15))


def test_a_server_that_is_too_old_is_refused_with_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded, "wheel_binary", lambda: None)
    monkeypatch.setenv("PATH", str(tmp_path))
    script(tmp_path / "redis-server", "Redis server v=6.0.16 sha=00000000:0 malloc=jemalloc bits=64")
    with pytest.raises(EmbeddedError, match=r"6\.2 or newer.*found: redis 6\.0\.16.*REDIS_URL"):
        find_binary()


def test_a_program_that_is_no_server_is_not_taken_for_one(tmp_path: Path) -> None:
    assert identify(script(tmp_path / "redis-server", "hello")) is None
    assert identify(tmp_path / "absent") is None


@pytest.fixture
def running(tmp_path: Path) -> Iterator[RealServer]:
    server = RealServer(tmp_path, fsync=embedded.ALWAYS)
    yield server
    server.close()


def test_the_server_listens_on_loopback_logs_writes_and_never_evicts(tmp_path: Path, running: RealServer) -> None:
    with running.client() as client:
        asked = {"appendonly": "yes", "appendfsync": "always", "save": "", "maxmemory-policy": "noeviction"}
        assert {name: client.config_get(name)[name] for name in asked} == asked
        assert int(client.config_get("maxmemory")["maxmemory"]) == embedded.max_memory_bytes()
        assert client.config_get("bind")["bind"] == "127.0.0.1"
        assert Path(client.config_get("dir")["dir"]) == tmp_path


def test_an_embedded_server_fills_half_of_its_memory_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    limit = tmp_path / "memory.max"
    monkeypatch.setattr(embedded, "CGROUP_MEMORY", limit)
    limit.write_text("max\n")
    whole = embedded.max_memory_bytes()
    limit.write_text(f"{whole}\n")
    assert embedded.max_memory_bytes() == whole // 2


def test_a_directory_is_stamped_and_opened_again_by_the_same_or_a_newer_server(tmp_path: Path) -> None:
    DataDirectory(tmp_path, Binary(Path("server"), "valkey", (8, 0, 1))).release()
    DataDirectory(tmp_path, Binary(Path("server"), "valkey", (9, 1, 2))).release()
    stamp = json.loads((tmp_path / embedded.STAMP_FILE).read_text())
    assert (stamp["family"], stamp["version"]) == ("valkey", [9, 1, 2])


@pytest.mark.parametrize("other", [("valkey", (8, 1, 8)), ("redis", (9, 1, 2)), ("redis", (6, 2, 14))])
def test_an_older_server_or_another_family_is_refused(tmp_path: Path, other: tuple[str, tuple[int, int, int]]) -> None:
    DataDirectory(tmp_path, Binary(Path("server"), "valkey", (9, 1, 2))).release()
    with pytest.raises(EmbeddedError, match=r"written by valkey 9\.1\.2 and cannot be opened by"):
        DataDirectory(tmp_path, Binary(Path("server"), *other))
    DataDirectory(tmp_path, Binary(Path("server"), "valkey", (9, 1, 2))).release()


@pytest.mark.parametrize("foreign", ["dump.rdb", "appendonly.aof", "appendonlydir"])
def test_the_database_of_another_server_is_left_alone(tmp_path: Path, binary: Binary, foreign: str) -> None:
    (tmp_path / foreign).mkdir()
    with pytest.raises(EmbeddedError, match="without Rookery's stamp"):
        DataDirectory(tmp_path, binary)
    assert not (tmp_path / embedded.STAMP_FILE).exists()


def test_a_stamp_that_cannot_be_read_is_refused(tmp_path: Path, binary: Binary) -> None:
    (tmp_path / embedded.STAMP_FILE).write_text('{"family": "valkey"}')
    with pytest.raises(EmbeddedError, match="no server version"):
        DataDirectory(tmp_path, binary)


def test_a_directory_in_use_is_refused_until_its_server_has_ended(tmp_path: Path, binary: Binary) -> None:
    directory = DataDirectory(tmp_path, binary)
    child = subprocess.Popen(["cat"], stdin=subprocess.PIPE, pass_fds=[directory.lock])
    directory.release()
    with pytest.raises(EmbeddedError, match="in use by a server that is still running"):
        DataDirectory(tmp_path, binary)
    child.communicate()
    DataDirectory(tmp_path, binary).release()


def test_a_directory_belongs_to_its_first_installation(tmp_path: Path, binary: Binary) -> None:
    directory = DataDirectory(tmp_path, binary)
    directory.bind_to(None)
    directory.bind_to("first")
    directory.release()
    again = DataDirectory(tmp_path, binary)
    again.bind_to("first")
    with pytest.raises(
        EmbeddedError, match="belongs to installation first, but its database holds installation second"
    ):
        again.bind_to("second")
    with pytest.raises(EmbeddedError, match="holds no installation at all"):
        again.bind_to(None)
    again.release()


def test_a_taken_port_is_refused_by_whom_it_is_taken(tmp_path: Path, binary: Binary) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        with pytest.raises(PortTakenError, match=rf"port {port} for the API is taken by .*choose another with --port"):
            check_port_is_free(port, "the API", "--port")


def test_a_port_taken_by_a_server_of_the_kind_says_that_it_could_be_used(running: RealServer) -> None:
    with pytest.raises(PortTakenError, match="a Valkey or Redis server"):
        check_port_is_free(running.port, "the embedded server", "--server-port")


def test_an_address_that_is_not_ours_is_refused() -> None:
    with pytest.raises(PortTakenError, match="cannot be used"):
        check_port_is_free(8000, "the API", "--port", "192.0.2.1")
