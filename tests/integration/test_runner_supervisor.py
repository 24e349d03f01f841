"""Supervised processes: kept running, stopped in order, never left behind."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from queue import Queue

import pytest

from deploy.supervisor import ChildFailed, Program, Supervisor
from tests.support.eventually import DEADLINE_S, eventually
from tests.support.processes import alive


def waiting(command: str = "") -> list[str]:
    """Return a program that writes its process id and then runs until it is ended."""
    return [sys.executable, "-c", f"import os, signal\nprint(os.getpid(), flush=True)\n{command}\nsignal.pause()"]


class Ear:
    """Hears what a supervisor says; lets a test wait for it."""

    def __init__(self) -> None:
        self._heard: Queue[str] = Queue()

    def __call__(self, words: str) -> None:
        self._heard.put(words)

    def next(self) -> str:
        return self._heard.get(timeout=DEADLINE_S)


@pytest.fixture
def ear() -> Ear:
    return Ear()


@pytest.fixture
def supervisor(tmp_path: Path, ear: Ear) -> Iterator[Supervisor]:
    supervisor = Supervisor(tmp_path, ear)
    yield supervisor
    supervisor.close()


def pids_in(log: Path) -> list[int]:
    return [int(line) for line in log.read_text().split()] if log.exists() else []


def test_a_killed_process_is_started_again(tmp_path, supervisor, ear):
    supervisor.start([Program("one", waiting())], os.environ)
    eventually(lambda: len(pids_in(tmp_path / "one.log")) == 1, "a start")
    assert supervisor.kill("one")
    assert ear.next().startswith("one was killed by SIGKILL; it starts again in")
    eventually(lambda: len(pids_in(tmp_path / "one.log")) == 2, "another start")
    first, second = pids_in(tmp_path / "one.log")
    assert first != second == supervisor.pid("one")
    assert supervisor.restarts("one") == 1


def test_a_process_that_keeps_dying_is_tried_ever_more_slowly_and_reported(tmp_path, supervisor, ear, monkeypatch):
    monkeypatch.setattr("deploy.supervisor.STEADY_AFTER", 3600.0)  # however slowly it comes to its end
    supervisor.start([Program("bad", [sys.executable, "-c", "print('no luck'); raise SystemExit(3)"])], os.environ)
    said = [ear.next() for _ in range(3)]
    assert all("bad ended with status 3" in words for words in said)
    waits = [float(words.split()[-2]) for words in said]
    assert waits == [0.1, 0.2, 0.4]
    with pytest.raises(ChildFailed, match=r"bad does not start(.|\n)*no luck"):
        supervisor.refuse_failing()


def test_what_a_dead_process_leaves_behind_is_ended_before_it_starts_again(tmp_path, supervisor, ear):
    fork = "if os.fork() == 0: print(os.getpid(), flush=True)"
    supervisor.start([Program("parent", waiting(fork))], os.environ)
    eventually(lambda: len(pids_in(tmp_path / "parent.log")) == 2, "a fork")
    leader = supervisor.pid("parent")
    (orphan,) = {*pids_in(tmp_path / "parent.log")} - {leader}
    os.kill(leader, signal.SIGKILL)
    assert "parent was killed" in ear.next()
    eventually(lambda: not alive(orphan), "the end of the orphan")


def test_stopping_asks_first_and_kills_what_overstays(tmp_path, supervisor):
    ready = "print(1, flush=True)"
    polite = waiting(f"signal.signal(signal.SIGTERM, lambda *_: (print(0, flush=True), os._exit(0))); {ready}")
    deaf = waiting(f"signal.signal(signal.SIGTERM, signal.SIG_IGN); {ready}")
    supervisor.start([Program("polite", polite), Program("deaf", deaf, grace=0.2)], os.environ)
    eventually(lambda: all(len(pids_in(tmp_path / f"{name}.log")) == 2 for name in ("polite", "deaf")), "both starts")
    pids = [supervisor.pid("polite"), supervisor.pid("deaf")]
    supervisor.stop(["polite", "deaf"])
    assert pids_in(tmp_path / "polite.log")[-1] == 0
    assert not any(alive(pid) for pid in pids)
    assert supervisor.names() == ()


def test_a_program_that_does_not_exist_fails_with_its_reason(tmp_path, supervisor, ear):
    supervisor.start([Program("ghost", [str(tmp_path / "ghost")])], os.environ)
    for _ in range(3):
        ear.next()
    with pytest.raises(ChildFailed, match="No such file"):
        supervisor.refuse_failing()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a process that its parent has died")
def test_nothing_outlives_a_supervisor_that_is_killed(tmp_path):
    program = (
        "import os, signal, sys\nfrom pathlib import Path\nfrom deploy.supervisor import Program, Supervisor\n"
        "supervisor = Supervisor(Path(sys.argv[1]), print)\n"
        "supervisor.start([Program('child', sys.argv[2:])], os.environ)\nsignal.pause()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path), *waiting()], cwd=Path(__file__).parents[2]
    ) as parent:
        eventually(lambda: len(pids_in(tmp_path / "child.log")) == 1, "a start")
        (child,) = pids_in(tmp_path / "child.log")
        assert alive(child)
        parent.kill()
    eventually(lambda: not alive(child), "the end of the child")
