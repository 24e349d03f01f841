"""A whole installation: ready when it says so, kept running, refused where it would do harm, stopped without trace."""

import http.client
import json
import os
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from deploy.api_client import ApiClient
from deploy.embedded import DataDirectory, find_binary
from deploy.runner import Installation, InstallationError, Ports
from deploy.supervisor import tethered
from tests.support.eventually import eventually
from tests.support.processes import alive, processes_below

ROOT = Path(__file__).parents[2]
PARTS = ("server", "relay", "worker", "opponents-quick", "opponents", "api", "stream")


def answer_of(url: str) -> tuple[int, bytes]:
    with urllib.request.urlopen(url, timeout=10) as answer:  # noqa: S310 - our own address
        return answer.status, answer.read()


def test_inside_the_with_block_everything_answers(house):
    assert house.names() == PARTS
    assert json.loads(answer_of(f"{house.url}/readyz")[1])["status"] == "ready"
    assert answer_of(f"{house.stream_url}/healthz")[0] == 200
    assert b"Rookery" in answer_of(house.url)[1]


def test_the_requests_of_both_processes_are_counted_together(house):
    with ApiClient(house.url) as client:
        for _ in range(5):
            client.get("/games")
    text = answer_of(f"{house.url}/metrics")[1].decode()
    (counted,) = (
        line for line in text.splitlines() if line.startswith("rookery_requests_total") and "list_games" in line
    )
    assert float(counted.split()[-1]) >= 5


def test_headers_cannot_say_which_address_was_asked_for(house):
    connection = http.client.HTTPConnection("127.0.0.1", house.ports.api, timeout=10)
    connection.request("GET", "/healthz", headers={"SCRIPT_NAME": "/heal", "PATH_INFO": "/metrics"})
    assert json.loads(connection.getresponse().read()) == {"status": "up"}
    connection.close()


def test_a_second_start_on_the_same_directory_is_refused_by_whom_it_is_held(house):
    with pytest.raises(InstallationError, match=rf"Rookery runs there already \(process {os.getpid()}, {house.url}\)"):
        Installation(house.var).start()


def test_a_taken_port_is_refused_and_nothing_is_left_running(house, tmp_path):
    ports = Ports.free()._replace(api=house.ports.api)
    with pytest.raises(InstallationError, match=rf"port {house.ports.api} for the API is taken by another program"):
        Installation(tmp_path, ports).start()
    with pytest.raises(InstallationError, match="a Valkey or Redis server"):
        Installation(tmp_path, Ports.free()._replace(server=house.ports.server)).start()


@pytest.mark.parametrize("part", PARTS)
def test_a_part_that_is_killed_comes_back(house, part):
    before, restarts = house.pid(part), house.restarts(part)
    assert house.kill(part)
    eventually(lambda: house.restarts(part) > restarts and house.pid(part) not in (None, before), f"a new {part}")
    eventually(lambda: ready(house), "an answer")


def ready(house: Installation) -> bool:
    try:
        return answer_of(f"{house.url}/readyz")[0] == 200 and answer_of(f"{house.stream_url}/readyz")[0] == 200
    except OSError:
        return False


def test_a_lost_database_is_not_taken_for_a_new_one(tmp_path):
    directory = DataDirectory(tmp_path / "redis", find_binary())
    directory.settle("the installation of before")
    directory.release()
    with pytest.raises(InstallationError, match="its database holds no installation at all"):
        Installation(tmp_path).start()


def test_a_server_elsewhere_is_used_and_none_is_started(house, tmp_path, monkeypatch):
    monkeypatch.setenv("REDIS_URL", f"redis://127.0.0.1:{house.ports.server}/0")
    with Installation(tmp_path) as guest:
        assert guest.names() == PARTS[1:]
        ours, theirs = (json.loads(answer_of(f"{each.url}/readyz")[1]) for each in (guest, house))
        assert ours["installation"] == theirs["installation"]
    assert not (tmp_path / "redis").exists()


def test_up_stops_everything_on_a_signal_and_what_was_acknowledged_is_there_at_the_next_start(tmp_path):
    with up(tmp_path) as (url, stop), ApiClient(url) as client:
        player = client.sign_up("Ada", "correct horse battery")
        stop(signal.SIGINT)
    with up(tmp_path) as (url, stop), ApiClient(url) as client:
        assert client.get("/players/Ada")["id"] == player
        stop(signal.SIGTERM)


@contextmanager
def up(var: Path) -> Iterator[tuple[str, Callable[[int], None]]]:
    """Run ``rookery up``; return its address and how to end it, which fails when anything is left running."""
    ports = Ports.free()
    options = ["--port", ports.api, "--stream-port", ports.stream, "--server-port", ports.server, "--var", var]
    command = tethered([sys.executable, "-m", "deploy.cli", "up", *map(str, options)])
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as up:
        said = [up.stdout.readline() for _ in range(3)] if up.stdout else []
        url = f"http://127.0.0.1:{ports.api}"
        assert url in said[2]
        running = processes_below(up.pid)
        assert len(running) >= len(PARTS)

        def stop(number: int) -> None:
            up.send_signal(number)
            assert up.stdout is not None
            assert up.stdout.read().endswith("Stopped; everything is kept.\n")
            assert up.wait() == 0
            assert not [pid for pid in running if alive(pid)]

        try:
            yield url, stop
        finally:
            up.kill()
