"""One kept process: started, heard, its log held to a size, ended with all of its group."""

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

from deploy.local.pulse import Pulse, Silence
from events.runtime.beats import DESCRIPTOR

TETHER = Path(__file__).with_name("tether.py")
FIRST_DELAY = 0.1
LONGEST_DELAY = 10.0
STEADY_AFTER = 3.0
"""Seconds that a child must have run for its next death to be taken as the first."""


class Program(NamedTuple):
    """What a child runs, with additions to its environment.

    ``grace`` is how many seconds it is given to stop by itself; the descriptors ``pass_fds`` are inherited. One that
    ``beats`` (``events.runtime.beats``) is ended when it falls silent.
    """

    name: str
    command: Sequence[str]
    environment: Mapping[str, str] = MappingProxyType({})
    grace: float = 5.0
    pass_fds: tuple[int, ...] = ()
    beats: bool = False


class Trouble(NamedTuple):
    """Why a child does not work as it should: the process ``pid`` was lost.

    ``older`` is the processes that had beaten until then: a beat of any other one shows that it has been replaced,
    whatever its line, for a line may begin only when there is work for it.
    """

    words: str
    pid: int
    older: frozenset[int]


class Child:
    """One kept process. Used by the supervisor's thread; ``pid`` and ``restarts`` may be read by others."""

    def __init__(self, program: Program, environment: Mapping[str, str], log: Path, max_log_bytes: int) -> None:
        self.program = program
        self.log = log
        self.restarts = 0
        self.deaths = 0
        self.failures = 0
        self.due: float | None = None
        self.trouble: Trouble | None = None
        self._environment = {**environment, **program.environment}
        self._max_log_bytes = max_log_bytes
        self._popen: subprocess.Popen[bytes] | None = None
        self._pulse: Pulse | None = None
        self._started = 0.0

    @property
    def pid(self) -> int | None:
        """The process id while the process has not been seen to end, else None."""
        return self._popen.pid if self._popen is not None else None

    def start(self) -> None:
        """Start the process; its output is appended to the log. Raises OSError."""
        pulse = Pulse() if self.program.beats else None
        try:
            self._popen = self._run(pulse)
        except BaseException:
            if pulse is not None:
                pulse.close()
            raise
        if pulse is not None:
            pulse.begin(self._popen.pid)
        else:
            self.trouble = None
        self._pulse = pulse
        self._started = time.monotonic()
        self.due = None

    def ended(self) -> str | None:
        """Return how the process ended and when it starts again, in words, if it has ended since it was last asked.

        Its group is ended too.
        """
        if self._popen is None or self._popen.poll() is None:
            return None
        status = self._popen.returncode
        how = f"was killed by {signal.Signals(-status).name}" if status < 0 else f"ended with status {status}"
        words = self.trouble.words if self.trouble is not None and self.trouble.pid == self._popen.pid else how
        self.trouble = Trouble(words, self._popen.pid, frozenset((self._popen.pid,)))
        signal_group(self._popen.pid, signal.SIGKILL)
        self._forget()
        self.deaths += 1
        steady = time.monotonic() - self._started >= STEADY_AFTER
        self.failures = 1 if steady else self.failures + 1
        delay = min(FIRST_DELAY * 2 ** (self.failures - 1), LONGEST_DELAY)
        self.due = time.monotonic() + delay
        return f"{how}; it starts again in {delay:.1f} s"

    def listen(self) -> None:
        """Take in the beats that have come; a lost process that has been replaced is no trouble any more."""
        for line in self._pulse.listen() if self._pulse is not None else ():
            if self.trouble is not None and line.pid not in self.trouble.older:
                self.trouble = None

    def end_silent(self, max_silence_s: float) -> str | None:
        """Kill the process of a line that has been silent for too long; return in words which one, None if none was.

        A process below the child is started again by the child itself.
        """
        if self._pulse is None or self._popen is None:
            return None
        silence = self._pulse.silence(max_silence_s)
        if silence is None:
            return None
        pid = silence.line.pid
        self.trouble = Trouble(_in_words(silence), pid, self._pulse.heard_from() | {pid})
        if pid == self._popen.pid:
            signal_group(pid, signal.SIGKILL)
        else:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return f"{self.trouble.words}: process {pid} is killed"

    def limit_log(self) -> None:
        """Begin a new log file when it is too large; one old one is kept.

        The process goes on writing to the same file (it appends), so the file is copied and emptied. When there is no
        room for the copy the old lines are dropped, which makes room.
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

    def wait(self, seconds: float) -> None:
        """Wait for the process to stop, at most ``seconds``; then end it and all of its group."""
        if self._popen is None:
            return
        with suppress(subprocess.TimeoutExpired):
            self._popen.wait(max(seconds, 0.0))
        signal_group(self._popen.pid, signal.SIGKILL)
        self._popen.wait()
        self._forget()

    def last_words(self, lines: int = 12) -> str:
        """Return the last lines of the log."""
        try:
            return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])
        except OSError:
            return "(no log)"

    def _run(self, pulse: Pulse | None) -> "subprocess.Popen[bytes]":
        environment, inherited = self._environment, self.program.pass_fds
        if pulse is not None:
            environment = {**environment, DESCRIPTOR: str(pulse.writer)}
            inherited = (*inherited, pulse.writer)
        with self.log.open("ab") as output:
            return subprocess.Popen(
                tethered(self.program.command),
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                pass_fds=inherited,
            )

    def _forget(self) -> None:
        self._popen = None
        if self._pulse is not None:
            self._pulse.close()
            self._pulse = None


def tethered(command: Sequence[str]) -> list[str]:
    """Return what runs ``command`` so that it ends when the thread of this process that started it ends."""
    return [sys.executable, "-I", "-S", str(TETHER), str(os.getpid()), *command]


def signal_group(leader: int, number: int) -> bool:
    """Send a signal to the process group of ``leader``; return whether anybody was there to get it."""
    try:
        os.killpg(leader, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def _in_words(silence: Silence) -> str:
    return f"its {silence.line.name} has made no progress for {silence.seconds:.0f} s"
