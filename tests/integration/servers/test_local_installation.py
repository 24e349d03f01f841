"""A whole installation: ready when it says so, kept running, refused where it would do harm, stopped without trace."""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlsplit

import pytest
from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import AuthenticationError
from redis.retry import Retry

from api.access.headers import served_hosts
from deploy.local.child import bound_to_parent
from deploy.local.embedded import DataDirectory, find_binary
from deploy.local.installation import InstallationError, LocalInstallation
from deploy.local.ports import Ports
from tests.support.api_client import ApiClient
from tests.support.eventually import eventually
from tests.support.processes import alive, processes_below

ROOT = Path(__file__).parents[3]
PARTS = ("nursery", "server", "relay", "worker", "opponents", "opponents-long", "fleet", "api", "stream")
ON_DEMAND = ("opponents", "opponents-long", "fleet")


def answer_of(url: str) -> tuple[int, bytes]:
    with urllib.request.urlopen(url, timeout=10) as answer:  # noqa: S310 - our own address
        return answer.status, answer.read()


def test_inside_the_with_block_everything_answers(installation: LocalInstallation) -> None:
    assert installation.supervisor.names() == PARTS
    assert json.loads(answer_of(f"{installation.url}/readyz")[1])["status"] == "ready"
    assert answer_of(f"{installation.stream_url}/healthz")[0] == 200
    assert b"Rookery" in answer_of(installation.url)[1]


def test_the_requests_of_both_processes_are_counted_together(installation: LocalInstallation) -> None:
    with ApiClient(installation.url) as client:
        for _ in range(5):
            client.get("/games")
    text = answer_of(f"{installation.url}/metrics")[1].decode()
    (counted,) = (
        line for line in text.splitlines() if line.startswith("rookery_requests_total") and "list_games" in line
    )
    assert float(counted.split()[-1]) >= 5


def test_no_part_has_complained_since_it_was_started(installation: LocalInstallation) -> None:
    logs = {log.name: log.read_text() for log in (installation.var / "log").glob("*.log")}
    assert logs.keys() >= {f"{part}.log" for part in PARTS if part not in ON_DEMAND}
    assert {name: text for name, text in logs.items() if "Traceback" in text} == {}


def test_headers_cannot_say_which_address_was_asked_for(installation: LocalInstallation) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", installation.ports.api, timeout=10)
    connection.request("GET", "/healthz", headers={"SCRIPT_NAME": "/heal", "PATH_INFO": "/metrics"})
    assert json.loads(connection.getresponse().read()) == {"status": "up"}
    connection.close()


def test_a_second_start_on_the_same_directory_is_refused_by_whom_it_is_held(installation: LocalInstallation) -> None:
    with pytest.raises(
        InstallationError, match=rf"Rookery is already running there \(process {os.getpid()}, {installation.url}\)"
    ):
        LocalInstallation(installation.var).start()


def test_an_installation_on_all_addresses_names_the_one_that_others_reach(tmp_path: Path) -> None:
    installation = LocalInstallation(tmp_path, bind="0.0.0.0")  # noqa: S104
    address = urlsplit(installation.url).hostname
    assert address not in (None, "0.0.0.0")  # noqa: S104
    with socket.create_server((str(address), 0)):
        assert served_hosts(installation.url, installation.stream_url) == {address, "127.0.0.1", "localhost", "[::1]"}


def test_a_taken_port_is_refused_and_nothing_is_left_running(installation: LocalInstallation, tmp_path: Path) -> None:
    ports = Ports.free()._replace(api=installation.ports.api)
    with pytest.raises(
        InstallationError, match=rf"port {installation.ports.api} for the API is taken by another program"
    ):
        LocalInstallation(tmp_path, ports).start()
    with pytest.raises(InstallationError, match="a Valkey or Redis server"):
        LocalInstallation(tmp_path, Ports.free()._replace(server=installation.ports.server)).start()


def test_a_lost_database_is_not_taken_for_a_new_one(tmp_path: Path) -> None:
    directory = DataDirectory(tmp_path / "redis", find_binary())
    directory.bind_to("the installation of before")
    directory.release()
    with pytest.raises(InstallationError, match="its database holds no installation at all"):
        LocalInstallation(tmp_path).start()


def test_parts_that_hang_are_started_again(installation: LocalInstallation, monkeypatch: pytest.MonkeyPatch) -> None:
    installation.supervisor.demand("opponents")
    master = installation.supervisor._children["opponents"]
    eventually(lambda: master._beats and len(master._beats.pids()) == 2, "the beats of the opponents and their process")
    (thinking,) = processes_below(master.pid)
    before = {name: installation.supervisor.pid(name) for name in ("relay", "opponents")}
    words: dict[str, str] = {}
    tell = installation.supervisor._on_impaired

    def note(found: Mapping[str, str]) -> None:
        words.update(found)  # a part works again before anybody can ask for it
        tell(found)

    monkeypatch.setattr(installation.supervisor, "_on_impaired", note)
    with impatient(installation, monkeypatch):
        os.kill(thinking, signal.SIGSTOP)
        os.kill(installation.supervisor.pid("relay"), signal.SIGSTOP)
        eventually(lambda: before.keys() <= words.keys(), "both named")  # a busy machine may silence others too
    assert all("has made no progress for" in words[name] for name in before)
    eventually(
        lambda: not alive(thinking) and installation.supervisor.pid("relay") not in (None, before["relay"]),
        "both replaced",
    )
    assert installation.supervisor.pid("opponents") == before["opponents"], "the others go on thinking"
    eventually(lambda: impaired(installation) == {}, "all well")
    words.clear()
    with impatient(installation, monkeypatch):
        os.kill(before["opponents"], signal.SIGSTOP)
        eventually(lambda: "opponents" in words, "the master named")
    eventually(lambda: impaired(installation) == {}, "all well again")
    assert installation.supervisor.pid("opponents") != before["opponents"]


@contextmanager
def impatient(installation: LocalInstallation, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Have the supervisor wait for a silent part no longer than is needed here."""
    with monkeypatch.context() as patched:
        patched.setattr("deploy.local.supervisor.MAX_SILENCE_S", 6.0)
        yield


def impaired(installation: LocalInstallation) -> dict[str, str]:
    words: dict[str, str] = json.loads(answer_of(f"{installation.url}/readyz")[1])["impaired"]
    return words


def test_health_is_told_while_the_store_hangs_and_all_threads_wait_for_it(installation: LocalInstallation) -> None:
    with ThreadPoolExecutor(40) as pool:
        os.kill(installation.supervisor.pid("server"), signal.SIGSTOP)
        try:
            waiting = [pool.submit(status_of, f"{installation.url}/api/v1/matches") for _ in range(40)]
            assert [answer_of(f"{installation.url}/healthz")[0] for _ in range(5)] == [200] * 5
            assert not any(future.done() for future in waiting), "they were answered before"
        finally:
            os.kill(installation.supervisor.pid("server"), signal.SIGCONT)
        assert {future.result() for future in waiting} <= {200, 503}


def status_of(url: str) -> int:
    try:
        return answer_of(url)[0]
    except HTTPError as error:
        return error.code


SOME_PARTS = """
import sys
from deploy.cli import main
from deploy.local import installation
every = installation.programs
installation.programs = lambda *arguments, **options: [
    program for program in every(*arguments, **options) if program.name in ("worker", "api", "stream")
]
main(sys.argv[1:], prog_name="rookery")
"""
"""Runs ``rookery`` with fewer parts, which start sooner."""

FAULTY = """
import os, sys
from api.access.headers import served_hosts
from deploy.local.child import Child
from deploy.cli import main
reap = Child.reap
def faulty(child):
    if os.path.exists(sys.argv[1]):
        raise MemoryError("none left")
    return reap(child)
Child.reap = faulty
main(sys.argv[2:], prog_name="rookery")
"""
"""Runs ``rookery`` with a supervisor that fails when there is a file of a name."""


def test_up_starts_again_at_once_after_a_crash_and_stops_on_a_signal(tmp_path: Path) -> None:
    ports, command = Ports.free(), [sys.executable, "-c", SOME_PARTS]
    with up(tmp_path, ports, command) as (url, _, crashed), ApiClient(url) as client:
        player = client.sign_up("Ada", "correct horse battery")
        stuck = leader("api", crashed.pid)
        os.kill(stuck, signal.SIGSTOP)  # it ends later than the others
        crashed.kill()
    awaited: list[str] = []
    said: list[str] = []

    def go_on(line: str) -> None:
        said.append(line)
        if "Waiting for the processes of the previous run" in line:
            awaited.append(line)
            os.kill(stuck, signal.SIGCONT)

    with up(tmp_path, ports, command, go_on) as (url, stop, _), ApiClient(url) as client:
        assert awaited
        assert client.get("/players/Ada")["id"] == player
        steps = ("Starting Rookery on ", "Starting the embedded server (", "Starting the API, ", "╭")
        assert [step for line in said for step in steps if line.startswith(step)] == list(steps)
        stop(signal.SIGTERM)


def test_up_uses_a_server_elsewhere_and_ends_when_it_cannot_keep_its_parts(
    installation: LocalInstallation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REDIS_URL", installation.settings.redis_url)
    monkeypatch.delenv("BROKER_URL", raising=False)
    fault = tmp_path / "fault"
    with up(tmp_path, Ports.free(), [sys.executable, "-c", FAULTY, str(fault)]) as (url, _, unread):
        running = processes_below(unread.pid)
        assert [name_of(pid) for pid in children(unread.pid)] == ["nursery"]
        assert {name_of(pid) for pid in running} == {*PARTS} - {*ON_DEMAND, "server"}
        assert not (tmp_path / "var" / "redis").exists()
        ours, theirs = (json.loads(answer_of(f"{each}/readyz")[1]) for each in (url, installation.url))
        assert ours["installation"] == theirs["installation"]
        unread.stdout.close()
        worker = leader("worker", unread.pid)
        os.kill(worker, signal.SIGKILL)
        eventually(lambda: leader("worker", unread.pid) not in (None, worker), "a worker")
        assert answer_of(f"{url}/readyz")[0] == 200
        fault.touch()
        assert unread.wait() == 1
        assert not [pid for pid in running if alive(pid)]


def name_of(pid: int) -> str:
    """Return the name of a part, which its processes have from the supervisor."""
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


def leader(part: str, up: int) -> int | None:
    return next((pid for pid in processes_below(up) if name_of(pid) == part and os.getpgid(pid) == pid), None)


def children(parent: int) -> list[int]:
    return [
        pid
        for pid in processes_below(parent)
        if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1] == str(parent)
    ]


@contextmanager
def up(
    var: Path,
    ports: Ports,
    command: Sequence[str] = (sys.executable, "-m", "deploy.cli"),
    hear: Callable[[str], None] = lambda _: None,
) -> Iterator[tuple[str, Callable[[int], None], "subprocess.Popen[str]"]]:
    """Run ``rookery up``; return its address, how to end it, which fails when anything is left running, and itself."""
    options = ["--port", ports.api, "--stream-port", ports.stream, "--server-port", ports.server, "--var", var / "var"]
    whole = bound_to_parent([*command, "up", *map(str, options)])
    with subprocess.Popen(whole, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as up:
        url = f"http://127.0.0.1:{ports.api}"
        said = ""
        while url not in said:
            line = up.stdout.readline()
            assert line, said
            hear(line)
            said += line
        running = processes_below(up.pid)
        assert len(running) > 5

        def stop(number: int) -> None:
            up.send_signal(number)
            assert up.stdout.read().endswith("Stopped; all matches are stored.\n")
            assert up.wait() == 0
            assert not [pid for pid in running if alive(pid)]

        try:
            yield url, stop, up
        finally:
            up.kill()


def test_nothing_of_an_installation_is_readable_by_other_users(installation: LocalInstallation) -> None:
    below = [installation.var, *installation.var.rglob("*")]
    assert len(below) > 20
    assert [path for path in below if path.stat().st_mode & 0o077] == []


def test_the_embedded_server_requires_a_password_and_no_command_line_shows_it(installation: LocalInstallation) -> None:
    with pytest.raises(AuthenticationError):
        Redis(port=installation.ports.server, retry=Retry(NoBackoff(), 0)).ping()
    password = urlsplit(installation.settings.redis_url).password
    assert password
    assert not [line for line in Path("/proc").glob("[0-9]*/cmdline") if password in text_of(line)]


def test_a_file_tells_a_shell_how_commands_reach_the_store_and_its_key(installation: LocalInstallation) -> None:
    rookery = f"{sys.executable} -m deploy.cli"
    var = installation.var
    script = f". {var}/environment && {rookery} audit checkpoint >/dev/null && {rookery} verify --var {var}"
    ran = subprocess.run(["/bin/sh", "-c", script], cwd=ROOT, capture_output=True, text=True)
    assert (ran.returncode, "damaged" in ran.stdout) == (0, False), ran.stderr
    assert (installation.var / "keys" / "at-rest.key").is_file()
    stored: Any = Redis.from_url(installation.settings.redis_url).get("rk:{proof}:private-key")
    assert stored.startswith(b"AES-256-GCM:")


def text_of(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except OSError:  # it has ended meanwhile
        return ""
