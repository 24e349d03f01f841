"""Child processes that are kept running: started, restarted when they exit or hang, stopped in order, never orphaned.

Each child leads a process group of its own, so that a signal from the terminal reaches only the supervisor, and the
descendants of a dead child can be killed before it is restarted. One thread starts all children: the kernel binds a
child to the thread that started it.
"""

import signal
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from queue import Empty, Queue
from threading import Event, Thread

from deploy.local.child import BACKOFF_S, Child, Program, signal_group
from deploy.local.forks import NURSERY, Forks, can_watch

MAX_EXITS_AT_START = 3
MAX_SILENCE_S = 15.0
"""A loop of a child (``events.runtime.beats``) that has made no progress for this long hangs."""

MAX_LOG_BYTES = 16 * 1024 * 1024
CHECK_INTERVAL_S = 0.4
LOG_CHECK_INTERVAL_S = 1.0


class ChildError(Exception):
    """A child that does not stay up; the message ends with the last lines of its log."""


class SupervisionError(Exception):
    """The supervising thread has failed, and with it all children; the message says why."""


class Supervisor:
    """Keeps programs running from ``start`` to ``stop``. Its methods may be called from one thread at a time."""

    def __init__(
        self,
        logs: Path,
        on_message: Callable[[str], None],
        on_impaired: Callable[[Mapping[str, str]], None] = lambda _: None,
    ) -> None:
        """Start supervising, without children; their logs are written below ``logs``.

        ``on_impaired`` receives the reasons by name whenever they change. Exceptions of both functions are ignored.
        """
        self._logs = logs
        self._on_message = on_message
        self._on_impaired = on_impaired
        self._children: dict[str, Child] = {}
        self._forks: Forks | None = None
        self._calls: Queue[Callable[[], None]] = Queue()
        self._closed = Event()
        self._over = Event()
        self._failure: BaseException | None = None
        self._impaired: dict[str, str] = {}
        self._logs_checked_at = 0.0
        self._thread = Thread(target=self._run, name="supervisor", daemon=True)
        logs.mkdir(parents=True, exist_ok=True)
        self._thread.start()

    def start_nursery(self, environment: Mapping[str, str], pass_fds: tuple[int, ...] = ()) -> None:
        """Start the nursery, which forks the programs that are modules of Python and are started from now on.

        Only Linux, since 5.3, tells when the child of another process ends; elsewhere each has its own interpreter.
        Raises OSError, SupervisionError.
        """
        if can_watch():
            forks = Forks(environment)
            self.start(
                [Program(NURSERY, forks.command, pass_fds=(forks.descriptor, *pass_fds), beats=True)], environment
            )
            self._forks = forks

    def start(self, programs: Sequence[Program], environment: Mapping[str, str]) -> None:
        """Start ``programs``, some when they are needed, and keep them running. Raises OSError, SupervisionError."""

        def start_all() -> None:
            for program in programs:
                log = self._logs / f"{program.name}.log"
                child = Child(program, environment, log, MAX_LOG_BYTES, self._forks)
                self._children[program.name] = child
                if not program.on_demand:
                    child.start()

        self._call(start_all)

    def stop(self, names: Sequence[str]) -> None:
        """Stop children for good, all at the same time; those that exceed their grace period are killed.

        The nursery is the last: with it the rest would end without a grace period.
        """

        def stop_all() -> None:
            leaving = [self._children.pop(name) for name in names if name in self._children]
            nursery = [child for child in leaving if child.program.name == NURSERY]
            for together in ([child for child in leaving if child not in nursery], nursery):
                for child in together:
                    child.terminate()
                start = time.monotonic()
                for child in together:
                    child.wait_or_kill(start + child.program.grace_s - time.monotonic())

        try:
            self._call(stop_all)
        except SupervisionError:
            stop_all()  # the kernel has signalled the children already: only wait for them

    def close(self) -> None:
        """Stop the remaining children and the supervision."""
        self.stop(tuple(self._children))
        self._closed.set()
        self._thread.join()
        if self._forks is not None:
            self._forks.close()

    def wait(self) -> None:
        """Block until the supervisor is closed; raises SupervisionError when it fails."""
        self._over.wait()
        self._raise_failure()

    def names(self) -> tuple[str, ...]:
        """Return the names of the children, in the order in which they were started."""
        return tuple(self._children)

    def pid(self, name: str) -> int | None:
        """Return the process id of a child, or None while it is down. Raises KeyError for an unknown name."""
        return self._children[name].pid

    def restarts(self, name: str) -> int:
        """Return how often a child has been restarted."""
        return max(0, self._children[name].starts - 1)

    def log_tail(self, name: str) -> str:
        """Return the last lines of a child's log; a child that was never started has none."""
        return self._children[name].log_tail() if name in self._children else "(no log)"

    def kill(self, name: str, number: int = signal.SIGKILL) -> bool:
        """Send a signal to a child and its process group; return whether it still existed."""
        pid = self._children[name].pid
        return pid is not None and signal_group(pid, number)

    def demand(self, name: str) -> None:
        """Have a program that is started on demand started, as if another one had said that it is needed."""
        self._call(self._children[name].demand)

    def raise_if_failing(self) -> None:
        """Raise ChildError when a child has exited several times; to be called while everything starts."""
        for child in self._children.values():
            if child.exits >= MAX_EXITS_AT_START:
                raise ChildError(f"{child.program.name} does not start. The end of {child.log}:\n{child.log_tail()}")

    def _call(self, function: Callable[[], None]) -> None:
        """Call ``function`` in the supervising thread; raises its errors, and SupervisionError."""
        done: Queue[BaseException | None] = Queue()

        def call() -> None:
            try:
                function()
            except BaseException as error:
                done.put(error)
            else:
                done.put(None)

        self._calls.put(call)
        while True:
            self._raise_failure()
            try:
                error = done.get(timeout=0.1)
            except Empty:
                continue
            break
        if error is not None:
            raise error

    def _raise_failure(self) -> None:
        if self._over.is_set() and self._failure is not None:
            raise SupervisionError(f"the supervision failed: {self._failure!r}") from self._failure

    def _run(self) -> None:
        try:
            while not self._closed.is_set():
                try:
                    self._calls.get(timeout=CHECK_INTERVAL_S)()
                except Empty:
                    self._check_children()
        except BaseException as error:
            # The waiting thread is notified. The children, bound to this thread, end with it: the whole supervision is
            # to be restarted.
            self._failure = error
        finally:
            self._over.set()

    def _check_children(self) -> None:
        for name, child in self._children.items():
            for needed in child.read_beats():
                if needed in self._children:
                    self._children[needed].demand()
            exited = child.reap()
            if exited is not None:
                self._message(f"{name} {exited}")
            killed = child.kill_silent(MAX_SILENCE_S)
            if killed is not None:
                self._message(f"{name}: {killed}")
            if child.restart_at is not None and time.monotonic() >= child.restart_at:
                self._restart(child)
        self._report_impaired()
        if time.monotonic() >= self._logs_checked_at + LOG_CHECK_INTERVAL_S:
            self._rotate_logs()
            self._logs_checked_at = time.monotonic()

    def _restart(self, child: Child) -> None:
        try:
            child.start()
        except OSError as error:  # no memory, no room for the log: the other children must stay up
            child.restart_at = time.monotonic() + BACKOFF_S.longest
            self._message(f"{child.program.name} cannot be started ({error}); retrying in {BACKOFF_S.longest:.0f} s")

    def _rotate_logs(self) -> None:
        for child in self._children.values():
            try:
                child.rotate_log()
            except OSError as error:
                self._message(f"{child.log} cannot be limited in size: {error}")

    def _report_impaired(self) -> None:
        impaired = {
            name: child.impairment.reason for name, child in self._children.items() if child.impairment is not None
        }
        if impaired != self._impaired:
            self._impaired = impaired
            with suppress(Exception):
                self._on_impaired(impaired)

    def _message(self, text: str) -> None:
        # The output may be gone (a closed terminal, a full disk): the children go on regardless.
        with suppress(Exception):
            self._on_message(text)
