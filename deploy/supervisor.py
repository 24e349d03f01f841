"""Child processes that are kept running: started, started again when they die, stopped in order, never left behind.

Each child leads a process group of its own, so that a signal of the terminal reaches the supervisor alone and what a
dead child leaves behind can be ended before the next one takes its place. All children are started by one thread: the
kernel ties a child to the thread that started it.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from queue import Empty, Queue
from threading import Event, Thread
from types import MappingProxyType
from typing import NamedTuple

TETHER = Path(__file__).with_name("tether.py")
FIRST_DELAY = 0.1
LONGEST_DELAY = 10.0
STEADY_AFTER = 3.0
"""Seconds that a child must have run for its next death to be taken as the first."""

DEATHS_BEFORE_READY = 3
LOG_LIMIT = 16 * 1024 * 1024
"""Bytes of a log file beyond which a new one is begun at the next start; one old one is kept."""


class ChildFailed(Exception):
    """A child that does not stay up; the message ends with the last lines of its log."""


class Program(NamedTuple):
    """What a child runs, with additions to its environment.

    ``grace`` is how many seconds it is given to stop by itself; the descriptors ``pass_fds`` are inherited.
    """

    name: str
    command: Sequence[str]
    environment: Mapping[str, str] = MappingProxyType({})
    grace: float = 5.0
    pass_fds: tuple[int, ...] = ()


class Child:
    """One kept process. Used by the supervisor's thread; ``pid`` and ``restarts`` may be read by others."""

    def __init__(self, program: Program, environment: Mapping[str, str], log: Path) -> None:
        self.program = program
        self.log = log
        self.restarts = 0
        self.deaths = 0
        self.failures = 0
        self.due: float | None = None
        self._environment = {**environment, **program.environment}
        self._popen: subprocess.Popen[bytes] | None = None
        self._started = 0.0

    @property
    def pid(self) -> int | None:
        """The process id while the process has not been seen to end, else None."""
        return self._popen.pid if self._popen is not None else None

    def start(self) -> None:
        """Start the process; its output is appended to the log."""
        if self.log.exists() and self.log.stat().st_size > LOG_LIMIT:
            self.log.replace(self.log.with_suffix(".log.old"))
        with self.log.open("ab") as output:
            self._popen = subprocess.Popen(
                tethered(self.program.command),
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                pass_fds=self.program.pass_fds,
            )
        self._started = time.monotonic()
        self.due = None

    def ended(self) -> str | None:
        """Return how the process ended and when it starts again, in words, if it has ended since it was last asked.

        Its group is ended too.
        """
        if self._popen is None or self._popen.poll() is None:
            return None
        status = self._popen.returncode
        signal_group(self._popen.pid, signal.SIGKILL)
        self._popen = None
        self.deaths += 1
        steady = time.monotonic() - self._started >= STEADY_AFTER
        self.failures = 1 if steady else self.failures + 1
        delay = min(FIRST_DELAY * 2 ** (self.failures - 1), LONGEST_DELAY)
        self.due = time.monotonic() + delay
        how = f"was killed by {signal.Signals(-status).name}" if status < 0 else f"ended with status {status}"
        return f"{how}; it starts again in {delay:.1f} s"

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
        self._popen = None

    def last_words(self, lines: int = 12) -> str:
        """Return the last lines of the log."""
        try:
            return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])
        except OSError:
            return "(no log)"


class Supervisor:
    """Keeps programs running from ``start`` to ``stop``. Its methods may be called from any one thread at a time."""

    def __init__(self, logs: Path, say: Callable[[str], None]) -> None:
        self._logs = logs
        self._say = say
        self._children: dict[str, Child] = {}
        self._orders: Queue[Callable[[], None]] = Queue()
        self._closed = Event()
        self._thread = Thread(target=self._keep, name="supervisor", daemon=True)
        logs.mkdir(parents=True, exist_ok=True)
        self._thread.start()

    def start(self, programs: Sequence[Program], environment: Mapping[str, str]) -> None:
        """Start ``programs`` and keep them running from now on."""

        def order() -> None:
            for program in programs:
                child = Child(program, environment, self._logs / f"{program.name}.log")
                self._children[program.name] = child
                child.start()

        self._carry_out(order)

    def stop(self, names: Sequence[str]) -> None:
        """Stop children for good, all at the same time; those that overstay their grace are killed."""

        def order() -> None:
            leaving = [self._children.pop(name) for name in names if name in self._children]
            for child in leaving:
                child.terminate()
            start = time.monotonic()
            for child in leaving:
                child.wait(start + child.program.grace - time.monotonic())

        self._carry_out(order)

    def close(self) -> None:
        """Stop what still runs and end the supervision."""
        self.stop(tuple(self._children))
        self._closed.set()
        self._thread.join()

    def names(self) -> tuple[str, ...]:
        """Return the names of the children, in the order in which they were started."""
        return tuple(self._children)

    def pid(self, name: str) -> int | None:
        """Return the process id of a child, or None while it is down. Raises KeyError for an unknown name."""
        return self._children[name].pid

    def restarts(self, name: str) -> int:
        """Return how often a child has been started again."""
        return self._children[name].restarts

    def last_words(self, name: str) -> str:
        """Return the last lines of the log of a child; of one that was never started, that there is none."""
        return self._children[name].last_words() if name in self._children else "(no log)"

    def kill(self, name: str, number: int = signal.SIGKILL) -> bool:
        """Send a signal to a child and all of its group; return whether there was anything to send it to."""
        pid = self._children[name].pid
        return pid is not None and signal_group(pid, number)

    def refuse_failing(self) -> None:
        """Raise ChildFailed when a child has died several times; to be asked while everything starts."""
        for child in self._children.values():
            if child.deaths >= DEATHS_BEFORE_READY:
                raise ChildFailed(f"{child.program.name} does not start. The end of {child.log}:\n{child.last_words()}")

    def _carry_out(self, order: Callable[[], None]) -> None:
        done: Queue[BaseException | None] = Queue()

        def carried_out() -> None:
            try:
                order()
            except BaseException as error:
                done.put(error)
            else:
                done.put(None)

        self._orders.put(carried_out)
        error = done.get()
        if error is not None:
            raise error

    def _keep(self) -> None:
        while not self._closed.is_set():
            try:
                self._orders.get(timeout=0.05)()
            except Empty:
                self._look_after()

    def _look_after(self) -> None:
        for name, child in self._children.items():
            end = child.ended()
            if end is not None:
                self._say(f"{name} {end}")
            if child.due is not None and time.monotonic() >= child.due:
                self._start_again(child)

    def _start_again(self, child: Child) -> None:
        try:
            child.start()
        except OSError as error:  # no memory, no room for the log: the others must not go down with this one
            child.due = time.monotonic() + LONGEST_DELAY
            self._say(f"{child.program.name} cannot be started ({error}); it is tried again in {LONGEST_DELAY:.0f} s")
        else:
            child.restarts += 1


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
