"""Child processes that are kept running: started, started again when they die or hang, stopped in order, never left.

Each child leads a process group of its own, so that a signal of the terminal reaches the supervisor alone and what a
dead child leaves behind can be ended before the next one takes its place. All children are started by one thread: the
kernel ties a child to the thread that started it.
"""

import signal
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from queue import Empty, Queue
from threading import Event, Thread

from deploy.local.child import LONGEST_DELAY, Child, Program, signal_group, tethered

__all__ = ["ChildFailed", "Program", "SupervisionFailed", "Supervisor", "tethered"]

DEATHS_BEFORE_READY = 3
MAX_SILENCE_S = 15.0
"""A line of a child (``events.runtime.beats``) that has made no progress for this long hangs."""

MAX_LOG_BYTES = 16 * 1024 * 1024
LOGS_EVERY_S = 1.0


class ChildFailed(Exception):
    """A child that does not stay up; the message ends with the last lines of its log."""


class SupervisionFailed(Exception):
    """The thread that keeps the children has ended, and all children with it; the message says why."""


class Supervisor:
    """Keeps programs running from ``start`` to ``stop``. Its methods may be called from any one thread at a time."""

    def __init__(
        self,
        logs: Path,
        say: Callable[[str], None],
        report: Callable[[Mapping[str, str]], None] = lambda _: None,
        max_silence_s: float = MAX_SILENCE_S,
        max_log_bytes: int = MAX_LOG_BYTES,
    ) -> None:
        """Begin, without children; their logs are below ``logs``.

        ``say`` hears what happens to the children. ``report`` hears, whenever it changes, which children do not work
        as they should, and why. Both are called by the supervisor's thread, and what they raise is of no consequence.
        """
        self.max_silence_s = max_silence_s
        self._max_log_bytes = max_log_bytes
        self._logs = logs
        self._tell = say
        self._report = report
        self._children: dict[str, Child] = {}
        self._orders: Queue[Callable[[], None]] = Queue()
        self._closed = Event()
        self._over = Event()
        self._failure: BaseException | None = None
        self._impaired: dict[str, str] = {}
        self._logs_seen = 0.0
        self._thread = Thread(target=self._keep, name="supervisor", daemon=True)
        logs.mkdir(parents=True, exist_ok=True)
        self._thread.start()

    def start(self, programs: Sequence[Program], environment: Mapping[str, str]) -> None:
        """Start ``programs`` and keep them running from now on. Raises OSError, SupervisionFailed."""

        def order() -> None:
            for program in programs:
                log = self._logs / f"{program.name}.log"
                child = Child(program, environment, log, self._max_log_bytes)
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

        try:
            self._carry_out(order)
        except SupervisionFailed:
            order()  # the kernel has asked the children to stop already; what is left is to wait for them

    def close(self) -> None:
        """Stop what still runs and end the supervision."""
        self.stop(tuple(self._children))
        self._closed.set()
        self._thread.join()

    def wait(self) -> None:
        """Return when the supervision has been closed; raises SupervisionFailed when it has ended in another way."""
        self._over.wait()
        self._refuse_failed()

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
        while True:
            self._refuse_failed()
            try:
                error = done.get(timeout=0.1)
            except Empty:
                continue
            break
        if error is not None:
            raise error

    def _refuse_failed(self) -> None:
        if self._over.is_set() and self._failure is not None:
            raise SupervisionFailed(f"the supervision failed: {self._failure!r}") from self._failure

    def _keep(self) -> None:
        try:
            while not self._closed.is_set():
                try:
                    self._orders.get(timeout=0.05)()
                except Empty:
                    self._look_after()
        except BaseException as error:
            # The waiting thread is notified. With this thread end all children, which are tied to it: the supervision
            # as a whole is to be started again.
            self._failure = error
        finally:
            self._over.set()

    def _look_after(self) -> None:
        for name, child in self._children.items():
            child.listen()
            end = child.ended()
            if end is not None:
                self._say(f"{name} {end}")
            silent = child.end_silent(self.max_silence_s)
            if silent is not None:
                self._say(f"{name}: {silent}")
            if child.due is not None and time.monotonic() >= child.due:
                self._start_again(child)
        self._report_impaired()
        if time.monotonic() >= self._logs_seen + LOGS_EVERY_S:
            self._limit_logs()
            self._logs_seen = time.monotonic()

    def _start_again(self, child: Child) -> None:
        try:
            child.start()
        except OSError as error:  # no memory, no room for the log: the others must not go down with this one
            child.due = time.monotonic() + LONGEST_DELAY
            self._say(f"{child.program.name} cannot be started ({error}); it is tried again in {LONGEST_DELAY:.0f} s")
        else:
            child.restarts += 1

    def _limit_logs(self) -> None:
        for child in self._children.values():
            try:
                child.limit_log()
            except OSError as error:
                self._say(f"{child.log} cannot be held to its size: {error}")

    def _report_impaired(self) -> None:
        impaired = {name: child.trouble.words for name, child in self._children.items() if child.trouble is not None}
        if impaired != self._impaired:
            self._impaired = impaired
            with suppress(Exception):
                self._report(impaired)

    def _say(self, words: str) -> None:
        # The output may be gone (a closed terminal, a full disk): that must not end the children.
        with suppress(Exception):
            self._tell(words)
