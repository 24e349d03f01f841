"""One supervised process: started, monitored by its beats, its log limited in size, killed with its process group."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from deploy.local import die_with_parent
from deploy.local.beat_pipe import BeatPipe
from deploy.local.forks import Forked, Forks
from events.runtime.backoff import Backoff
from events.runtime.beats import DESCRIPTOR

BACKOFF_S = Backoff(0.1, 10.0)
STABLE_AFTER_S = 3.0
"""A child that has run for this long starts with the first delay again when it exits."""


class Program(NamedTuple):
    """The program of a child; it may take ``grace_s`` to stop before it is killed.

    A program that ``beats`` (``events.runtime.beats``) is killed when it falls silent. One that is started
    ``on_demand`` waits for another one to say that it is needed.
    """

    name: str
    command: Sequence[str]
    environment: Mapping[str, str] = MappingProxyType({})
    grace_s: float = 5.0
    pass_fds: tuple[int, ...] = ()
    beats: bool = False
    on_demand: bool = False


class Impairment(NamedTuple):
    """Why a child is impaired: its process ``pid`` was lost.

    ``known_pids`` had beaten before. A beat from any other process, in whichever loop, means that the lost one has
    been replaced: a loop may start only when there is work for it.
    """

    reason: str
    pid: int | None
    known_pids: frozenset[int | None]


class Child:
    """One supervised process. Used by the supervisor's thread; other threads may read ``pid`` and ``restarts``."""

    def __init__(
        self,
        program: Program,
        environment: Mapping[str, str],
        log: Path,
        max_log_bytes: int,
        forks: Forks | None = None,
    ) -> None:
        """Describe the process of ``program``; where there are ``forks``, a module of Python is run by one of them."""
        self.program = program
        self.log = log
        self.starts = 0
        self.exits = 0
        self.restart_at: float | None = None
        self.impairment: Impairment | None = None
        self._failures = 0
        self._environment = {**environment, **program.environment}
        self._max_log_bytes = max_log_bytes
        self._forks = forks
        self._popen: subprocess.Popen[bytes] | Forked | None = None
        self._beats: BeatPipe | None = None
        self._started_at = 0.0

    @property
    def pid(self) -> int | None:
        """The process id, or None before there is a process and once it has been reaped."""
        return self._popen.pid if self._popen is not None else None

    def start(self) -> None:
        """Start the process; its output is appended to the log. Raises OSError."""
        beats = BeatPipe() if self.program.beats else None
        try:
            self._popen = self._spawn(beats)
        except BaseException:
            if beats is not None:
                beats.close()
            raise
        if beats is not None:
            beats.expect_start()
        else:
            self.impairment = None
        self._beats = beats
        self.starts += 1
        self._started_at = time.monotonic()
        self.restart_at = None

    def reap(self) -> str | None:
        """Return how the process exited and when it restarts, once, and kill its group; None while it runs."""
        status = None if self._popen is None else self._popen.poll()
        if self._popen is None or status is None:
            return None
        pid = self._popen.pid
        how = f"was killed by {signal.Signals(-status).name}" if status < 0 else f"exited with status {status}"
        impairment = self.impairment
        reason = impairment.reason if impairment is not None and impairment.pid == pid else how
        self.impairment = Impairment(reason, pid, frozenset((pid,)))
        signal_group(pid, signal.SIGKILL)
        self._forget_process()
        self.exits += 1
        stable = time.monotonic() - self._started_at >= STABLE_AFTER_S
        self._failures = 1 if stable else self._failures + 1
        delay_s = BACKOFF_S.after(self._failures)
        self.restart_at = time.monotonic() + delay_s
        return f"{how}; restarting in {delay_s:.1f} s"

    def read_beats(self) -> Sequence[str]:
        """Read the beats that have arrived; return which programs the child says are needed."""
        if self._beats is None:
            return ()
        for loop in self._beats.read():
            if self.impairment is not None and loop.pid not in self.impairment.known_pids:
                self.impairment = None
        return self._beats.take_needed()

    def demand(self) -> None:
        """Have a program that is started on demand started."""
        if not self.starts and self.restart_at is None:
            self.restart_at = time.monotonic()

    def kill_silent(self, max_silence_s: float) -> str | None:
        """Kill a process of which a loop has been silent for too long; return a message about it, None if none was."""
        if self._beats is None or self._popen is None:
            return None
        silence = self._beats.find_silence(max_silence_s)
        if silence is None:
            return None
        name, pid = silence.loop.name, silence.loop.pid or self._popen.pid
        if pid is None:  # nothing was forked yet, and the nursery has beats of its own
            return None
        reason = f"its {name} has made no progress for {silence.seconds:.0f} s"
        self.impairment = Impairment(reason, pid, self._beats.pids() | {pid})
        if pid == self._popen.pid:
            signal_group(pid, signal.SIGKILL)
        else:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return f"{reason}: killing process {pid}"

    def rotate_log(self) -> None:
        """Start a new log file when it is too large; one old file is kept.

        The process keeps appending to the same file: that is copied, if there is room, and truncated.
        """
        if not self.log.exists() or self.log.stat().st_size <= self._max_log_bytes:
            return
        old = self.log.with_suffix(".log.old")
        try:
            shutil.copyfile(self.log, old)
        except OSError:
            old.unlink(missing_ok=True)
        os.truncate(self.log, 0)

    def terminate(self) -> None:
        """Ask the process to stop."""
        if self._popen is not None:
            self._popen.terminate()

    def wait_or_kill(self, seconds: float) -> None:
        """Wait at most ``seconds`` for the process to stop, then kill it and the rest of its process group."""
        if self._popen is None:
            return
        with suppress(subprocess.TimeoutExpired):
            self._popen.wait(max(seconds, 0.0))
        signal_group(self._popen.pid, signal.SIGKILL)
        self._popen.wait()
        self._forget_process()

    def log_tail(self) -> str:
        """Return the last lines of the log."""
        try:
            return "\n".join(self.log.read_text(errors="replace").splitlines()[-12:])
        except OSError:
            return "(no log)"

    def _spawn(self, beats: BeatPipe | None) -> "subprocess.Popen[bytes] | Forked":
        environment, inherited, command = self._environment, self.program.pass_fds, self.program.command
        with self.log.open("ab") as output:
            if self._forks is not None and command[:2] == [sys.executable, "-m"]:
                writer = None if beats is None else beats.writer
                return self._forks.fork(self.program.name, command[2:], environment, output.fileno(), writer)
            if beats is not None:
                environment = {**environment, DESCRIPTOR: str(beats.writer)}
                inherited = (*inherited, beats.writer)
            return subprocess.Popen(
                bound_to_parent(command),
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                pass_fds=inherited,
            )

    def _forget_process(self) -> None:
        self._popen = None
        if self._beats is not None:
            self._beats.close()
            self._beats = None


def bound_to_parent(command: Sequence[str]) -> list[str]:
    """Return a command that runs ``command`` and stops it when the thread of this process that started it ends."""
    return [sys.executable, "-I", "-S", die_with_parent.__file__, str(os.getpid()), *command]


def signal_group(leader: int | None, number: int) -> bool:
    """Send a signal to the process group of ``leader``; return whether it still existed, False for None."""
    if leader is None:
        return False
    try:
        os.killpg(leader, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True
