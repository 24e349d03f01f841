"""The nursery: it forks the parts of an installation, which live and die as if each had its own interpreter."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from queue import Queue
from typing import Any

import pytest

from deploy.local.child import Program
from deploy.local.supervisor import Supervisor
from tests.support.eventually import DEADLINE_S, eventually
from tests.support.processes import alive, processes_below

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has what a nursery needs")

ROOT = Path(__file__).parents[3]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}


def part(name: str, command: str = "wait", **options: Any) -> Program:
    run = [sys.executable, "-m", "tests.support.forked_part", command]
    return Program(name, run, {"PART": name}, beats=True, **options)


def pid_of(name: str, supervisor: Supervisor) -> int:
    """Return the process of a part, once the supervisor has heard of it."""
    return eventually(lambda: supervisor.pid(name), f"the process of {name}") or 0


def lives(log: Path) -> list[dict[str, Any]]:
    """Return what each process of a part has said of itself."""
    return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []


@pytest.fixture(scope="module")
def messages() -> Queue[str]:
    return Queue()


@pytest.fixture(scope="module")
def supervisor(tmp_path_factory: pytest.TempPathFactory, messages: Queue[str]) -> Iterator[Supervisor]:
    supervisor = Supervisor(tmp_path_factory.mktemp("log"), messages.put)
    supervisor.start_nursery(ENVIRONMENT)
    yield supervisor
    supervisor.close()


@pytest.fixture
def log(supervisor: Supervisor) -> Path:
    return supervisor._logs


def test_a_part_has_what_was_imported_and_nothing_else_of_the_nursery(supervisor: Supervisor, log: Path) -> None:
    supervisor.start([part("one"), part("two")], ENVIRONMENT)
    eventually(lambda: lives(log / "one.log") and lives(log / "two.log"), "both parts")
    (one,), (two,) = lives(log / "one.log"), lives(log / "two.log")
    for each, name in ((one, "one"), (two, "two")):
        assert each == {**each, "set": name, "sockets": [], "imported": True}
        assert each["pid"] == each["group"] == each["session"] == pid_of(name, supervisor)
        assert Path(f"/proc/{each['pid']}/comm").read_text() == f"{name}\n"
    assert {one["pid"], two["pid"]} <= {*processes_below(supervisor.pid("nursery") or 0)}


def test_the_nursery_has_one_thread_and_no_connection(supervisor: Supervisor, log: Path) -> None:
    supervisor.start([part("first")], ENVIRONMENT)
    eventually(lambda: lives(log / "first.log"), "a fork, after the imports")
    nursery = Path(f"/proc/{supervisor.pid('nursery')}")
    assert len(list((nursery / "task").iterdir())) == 1
    sockets = {link.readlink().name for link in (nursery / "fd").iterdir() if "socket" in str(link.readlink())}
    for kind in ("tcp", "tcp6", "udp", "udp6"):
        assert not [name for name in sockets if name[8:-1] in (nursery / "net" / kind).read_text().split()]


def test_it_is_told_how_a_part_has_ended(supervisor: Supervisor, messages: Queue[str]) -> None:
    supervisor.start([part("failing", "3")], ENVIRONMENT)
    while not (said := messages.get(timeout=DEADLINE_S)).startswith("failing"):
        pass
    assert said.startswith("failing exited with status 3; restarting in")
    supervisor.stop(["failing"])


def test_a_part_that_is_killed_is_forked_again(supervisor: Supervisor, log: Path, messages: Queue[str]) -> None:
    supervisor.start([part("killed")], ENVIRONMENT)
    (first,) = eventually(lambda: lives(log / "killed.log"), "a start")
    eventually(lambda: supervisor.kill("killed"), "its end")
    while not (said := messages.get(timeout=DEADLINE_S)).startswith("killed"):
        pass
    assert said.startswith("killed was killed by SIGKILL; restarting in")
    second = eventually(lambda: lives(log / "killed.log")[1:], "another start")[0]
    assert first["pid"] != second["pid"]
    supervisor.stop(["killed"])
    assert not alive(second["pid"])


def test_a_part_that_is_stopped_before_it_is_forked_never_runs(supervisor: Supervisor, log: Path) -> None:
    nursery = pid_of("nursery", supervisor)
    others = {*processes_below(nursery)}
    os.kill(nursery, signal.SIGSTOP)
    supervisor.start([part("early"), part("later")], ENVIRONMENT)
    supervisor.stop(["early"])
    os.kill(nursery, signal.SIGCONT)
    later = pid_of("later", supervisor)
    eventually(lambda: {*processes_below(nursery)} == {*others, later}, "the end of the one that is not wanted")
    assert lives(log / "early.log") == []
    supervisor.stop(["later"])


def test_a_part_on_demand_begins_when_another_one_says_that_it_is_needed(supervisor: Supervisor, log: Path) -> None:
    supervisor.start([part("rare", on_demand=True)], ENVIRONMENT)
    assert supervisor.pid("rare") is None
    supervisor.start([part("needing", "rare")], ENVIRONMENT)
    eventually(lambda: lives(log / "rare.log"), "the part that is needed")
    assert supervisor.restarts("rare") == 0
    supervisor.stop(["rare", "needing"])


def test_all_parts_end_with_a_nursery_that_is_killed_and_the_next_one_forks_them(
    supervisor: Supervisor, log: Path
) -> None:
    supervisor.start([part("left"), part("right")], ENVIRONMENT)
    logs = [log / "left.log", log / "right.log"]
    eventually(lambda: all(map(lives, logs)), "both parts")
    before = [lives(path)[0]["pid"] for path in logs]
    supervisor.kill("nursery")
    eventually(lambda: not any(map(alive, before)), "the end of both")
    eventually(lambda: all(len(lives(path)) == 2 for path in logs), "both again")
    assert [pid_of(name, supervisor) for name in ("left", "right")] == [lives(path)[1]["pid"] for path in logs]
    supervisor.stop(["left", "right"])


PROGRAM = """
import os, signal, sys
from pathlib import Path
from deploy.local.supervisor import Program, Supervisor
supervisor = Supervisor(Path(sys.argv[1]), print)
supervisor.start_nursery(dict(os.environ))
supervisor.start([Program("part", sys.argv[2:])], dict(os.environ))
signal.pause()
"""


def test_nothing_outlives_a_supervisor_that_is_killed(tmp_path: Path) -> None:
    command = [sys.executable, "-c", PROGRAM, str(tmp_path), *part("part").command]
    with subprocess.Popen(command, cwd=ROOT, env=ENVIRONMENT) as parent:
        eventually(lambda: lives(tmp_path / "part.log"), "a start")
        below = processes_below(parent.pid)
        assert len(below) == 2
        os.kill(below[0], 0)
        parent.send_signal(signal.SIGKILL)
    eventually(lambda: not any(map(alive, below)), "the end of nursery and part")
