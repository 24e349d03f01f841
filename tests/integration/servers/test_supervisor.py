"""Supervised processes: kept running, stopped in order, never left behind."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from queue import Queue

import pytest

from deploy.local.child import Child, Program
from deploy.local.supervisor import ChildError, SupervisionError, Supervisor
from tests.support.eventually import DEADLINE_S, eventually
from tests.support.processes import alive

ROOT = Path(__file__).parents[3]


def waiting(command: str = "") -> list[str]:
    """Return a program that writes its process id and then runs until it is ended."""
    return [sys.executable, "-c", f"import os, signal\nprint(os.getpid(), flush=True)\n{command}\nsignal.pause()"]


class Messages:
    """Receives the messages of a supervisor; lets a test wait for them."""

    def __init__(self) -> None:
        self._queue: Queue[str] = Queue()

    def __call__(self, text: str) -> None:
        self._queue.put(text)

    def next(self) -> str:
        return self._queue.get(timeout=DEADLINE_S)


@pytest.fixture
def messages() -> Messages:
    return Messages()


@pytest.fixture
def supervisor(tmp_path: Path, messages: Messages) -> Iterator[Supervisor]:
    supervisor = Supervisor(tmp_path, messages)
    yield supervisor
    supervisor.close()


def pids_in(log: Path) -> list[int]:
    return [int(line) for line in log.read_text().split()] if log.exists() else []


def test_a_killed_process_is_started_again(tmp_path: Path, supervisor: Supervisor, messages: Messages) -> None:
    supervisor.start([Program("one", waiting())], os.environ)
    eventually(lambda: len(pids_in(tmp_path / "one.log")) == 1, "a start")
    eventually(lambda: supervisor.kill("one"), "a kill")
    assert messages.next().startswith("one was killed by SIGKILL; restarting in")
    eventually(lambda: len(pids_in(tmp_path / "one.log")) == 2, "another start")
    first, second = pids_in(tmp_path / "one.log")
    assert first != second == supervisor.pid("one")
    assert supervisor.restarts("one") == 1


def test_a_process_that_keeps_dying_is_tried_ever_more_slowly_and_reported(
    tmp_path: Path, supervisor: Supervisor, messages: Messages, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("deploy.local.child.STABLE_AFTER_S", 3600.0)  # however slowly it comes to its end
    supervisor.start([Program("bad", [sys.executable, "-c", "print('no luck'); raise SystemExit(3)"])], os.environ)
    said = [messages.next() for _ in range(3)]
    assert all("bad exited with status 3" in words for words in said)
    waits = [float(words.split()[-2]) for words in said]
    assert waits == [0.1, 0.2, 0.4]
    with pytest.raises(ChildError, match=r"bad does not start(.|\n)*no luck"):
        supervisor.raise_if_failing()


def test_what_a_dead_process_leaves_is_ended_first(tmp_path: Path, supervisor: Supervisor, messages: Messages) -> None:
    fork = "if os.fork() == 0: print(os.getpid(), flush=True)"
    supervisor.start([Program("parent", waiting(fork))], os.environ)
    eventually(lambda: len(pids_in(tmp_path / "parent.log")) == 2, "a fork")
    leader = supervisor.pid("parent")
    (orphan,) = {*pids_in(tmp_path / "parent.log")} - {leader}
    os.kill(leader, signal.SIGKILL)
    assert "parent was killed" in messages.next()
    eventually(lambda: not alive(orphan), "the end of the orphan")


def test_stopping_asks_first_and_kills_what_overstays(tmp_path: Path, supervisor: Supervisor) -> None:
    ready = "print(1, flush=True)"
    polite = waiting(f"signal.signal(signal.SIGTERM, lambda *_: (print(0, flush=True), os._exit(0))); {ready}")
    deaf = waiting(f"signal.signal(signal.SIGTERM, signal.SIG_IGN); {ready}")
    supervisor.start([Program("polite", polite), Program("deaf", deaf, grace_s=0.2)], os.environ)
    eventually(lambda: all(len(pids_in(tmp_path / f"{name}.log")) == 2 for name in ("polite", "deaf")), "both starts")
    pids = [supervisor.pid("polite"), supervisor.pid("deaf")]
    supervisor.stop(["polite", "deaf"])
    assert pids_in(tmp_path / "polite.log")[-1] == 0
    assert not any(alive(pid) for pid in pids)
    assert supervisor.names() == ()


def test_a_missing_program_fails_with_its_reason(tmp_path: Path, supervisor: Supervisor, messages: Messages) -> None:
    supervisor.start([Program("ghost", [str(tmp_path / "ghost")])], os.environ)
    for _ in range(3):
        messages.next()
    with pytest.raises(ChildError, match="No such file"):
        supervisor.raise_if_failing()


HANGS_ONCE = """
import os, signal, sys, time
from events.runtime import beats
beats.INTERVAL_S = 0.01
print(os.getpid(), flush=True)
beats.beat("work")
if not os.path.exists(sys.argv[1]):
    open(sys.argv[1], "w").close()
    signal.pause()
while True:
    beats.beat("work")
    time.sleep(0.02)
"""

REPLACES_BELOW = """
import os, signal, time
from events.runtime import beats
beats.INTERVAL_S = 0.01
if below := os.fork():
    os.waitpid(below, 0)
    os.fork()
    while True:
        beats.beat("main")
        time.sleep(0.02)
beats.beat("feed")
signal.pause()
"""


def test_a_process_that_hangs_is_killed_named_and_started_again(
    tmp_path: Path, messages: Messages, monkeypatch: pytest.MonkeyPatch
) -> None:
    reports: list[dict[str, str]] = []
    monkeypatch.setattr("deploy.local.supervisor.MAX_SILENCE_S", 1.0)
    supervisor = Supervisor(tmp_path, messages, lambda impaired: reports.append(dict(impaired)))
    command = [sys.executable, "-c", HANGS_ONCE, str(tmp_path / "hung")]
    supervisor.start([Program("one", command, beats=True)], {**os.environ, "PYTHONPATH": str(ROOT)})
    assert "one: its work has made no progress for 1 s: killing process" in messages.next()
    assert messages.next().startswith("one was killed by SIGKILL")
    eventually(lambda: len(reports) >= 2, "a report that all is well again")
    supervisor.close()
    assert list(reports[0]) == ["one"]
    assert "its work has made no progress" in reports[0]["one"]
    assert reports[1] == {}


def test_a_process_below_is_replaced_when_another_beats_before_its_line(
    tmp_path: Path, messages: Messages, monkeypatch: pytest.MonkeyPatch
) -> None:
    reports: list[dict[str, str]] = []
    monkeypatch.setattr("deploy.local.supervisor.MAX_SILENCE_S", 1.0)
    supervisor = Supervisor(tmp_path, messages, lambda impaired: reports.append(dict(impaired)))
    command = [sys.executable, "-c", REPLACES_BELOW]
    supervisor.start([Program("one", command, beats=True)], {**os.environ, "PYTHONPATH": str(ROOT)})
    assert "one: its feed has made no progress for 1 s: killing process" in messages.next()
    eventually(lambda: len(reports) >= 2, "a report that all is well again")
    assert supervisor.restarts("one") == 0
    supervisor.close()
    assert list(reports[0]) == ["one"]
    assert reports[1] == {}


def test_a_line_that_has_ended_is_not_waited_for(
    tmp_path: Path, messages: Messages, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = (
        "import signal\nfrom events.runtime import beats\nwith beats.line('work'): pass\n"
        "print(1, flush=True)\nsignal.pause()"
    )
    monkeypatch.setattr("deploy.local.supervisor.MAX_SILENCE_S", 0.0)
    supervisor = Supervisor(tmp_path, messages)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    supervisor.start([Program("one", [sys.executable, "-c", script], beats=True)], environment)
    eventually(lambda: pids_in(tmp_path / "one.log"), "the end of the line")
    supervisor.start([Program("two", [sys.executable, "-c", "raise SystemExit(5)"])], environment)
    assert messages.next().startswith("two exited with status 5")  # the supervisor has looked at both
    assert supervisor.restarts("one") == 0
    supervisor.close()


def test_a_supervisor_whose_output_is_gone_keeps_its_processes_running(tmp_path: Path) -> None:
    def unheard(_: object) -> None:
        raise BrokenPipeError("nobody reads this")

    supervisor = Supervisor(tmp_path, unheard, unheard)
    supervisor.start([Program("one", waiting())], os.environ)
    eventually(lambda: len(pids_in(tmp_path / "one.log")) == 1, "a start")
    # Its process may write before the supervisor has noted it.
    eventually(lambda: supervisor.kill("one"), "a kill")
    eventually(lambda: len(pids_in(tmp_path / "one.log")) == 2, "another start")
    supervisor.close()


def test_a_failing_supervisor_ends_all(tmp_path: Path, messages: Messages, monkeypatch: pytest.MonkeyPatch) -> None:
    supervisor = Supervisor(tmp_path, messages)
    supervisor.start([Program("one", waiting())], os.environ)
    child = supervisor.pid("one")

    def failing(_: Child) -> None:
        raise MemoryError("none left")

    monkeypatch.setattr(Child, "reap", failing)
    with pytest.raises(SupervisionError, match="none left"):
        supervisor.wait()
    with pytest.raises(SupervisionError, match="none left"):
        supervisor.start([Program("two", waiting())], os.environ)
    supervisor.close()
    assert not alive(child)


def test_logs_are_held_to_their_size(tmp_path: Path, messages: Messages, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("deploy.local.supervisor.LOG_CHECK_INTERVAL_S", 0.05)
    monkeypatch.setattr("deploy.local.supervisor.MAX_LOG_BYTES", 20_000)
    supervisor = Supervisor(tmp_path, messages)
    chatter = "while True: print('x' * 99, flush=True); import time; time.sleep(0.001)"
    supervisor.start([Program("one", [sys.executable, "-c", chatter])], os.environ)
    log, old = tmp_path / "one.log", tmp_path / "one.log.old"
    eventually(old.exists, "an old log")
    first = old.stat().st_mtime_ns
    eventually(lambda: old.stat().st_mtime_ns != first, "another old log, of the same process")
    supervisor.close()
    assert supervisor.names() == ()
    assert set(log.read_text().splitlines()) <= {"x" * 99}, "no gap of zeros where the old lines stood"


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a process that its parent has died")
def test_nothing_outlives_a_supervisor_that_is_killed(tmp_path: Path) -> None:
    program = (
        "import os, signal, sys\nfrom pathlib import Path\nfrom deploy.local.supervisor import Program, Supervisor\n"
        "supervisor = Supervisor(Path(sys.argv[1]), print)\n"
        "supervisor.start([Program('child', sys.argv[2:])], os.environ)\nsignal.pause()\n"
    )
    with subprocess.Popen([sys.executable, "-c", program, str(tmp_path), *waiting()], cwd=ROOT) as parent:
        eventually(lambda: len(pids_in(tmp_path / "child.log")) == 1, "a start")
        (child,) = pids_in(tmp_path / "child.log")
        assert alive(child)
        parent.kill()
    eventually(lambda: not alive(child), "the end of the child")
