"""Commands that are fleet jobs: started or joined, followed until they end, their results shown as they come."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from types import TracebackType
from typing import IO, Any, Self

import click
from kombu.exceptions import OperationalError
from redis.exceptions import ReadOnlyError

from deploy.cli.output import CliError, escape_unprintable, progress_bar
from deploy.cli.target import open_installation, target_options
from deploy.local.child import bound_to_parent, signal_group
from deploy.local.environment import ROOT, child_environment
from events.installation import Installation
from events.matches.fleet_jobs import FleetJob, JobState, Parameters
from events.runtime.errors import StoreError, StoreFullError, StorePermissionError
from events.runtime.queues import Queue
from events.runtime.wall_clock import rfc3339
from workers.composition import make_task_queue
from workers.fleet.kinds import make_work
from workers.fleet.presence import worker_name
from workers.fleet.work import FleetJobFailedError, SliceWorker, check_finished, do_unrecorded, read_results

processes_option = click.option(
    "--processes",
    type=click.IntRange(1),
    default=os.cpu_count() or 1,
    show_default="one for each processor",
    help="Where no worker of the fleet runs: the number of workers that this command starts.",
)


MAX_RESTARTS = 10
LOG_BYTES = 2000


class OwnWorkers:
    """Celery workers for the queue ``fleet`` as child processes: ``wanted`` of them, once they are started.

    They end with the ``with`` block, and with this process. Crash-safe: their work is taken over by others.
    """

    def __init__(self, installation: Installation, wanted: int) -> None:
        self.wanted = wanted
        self._jobs = installation.fleet_jobs
        self._environment = child_environment(installation.settings)
        self._children: list[subprocess.Popen[bytes]] = []
        self._restarts = 0
        self._log: IO[bytes] | None = None

    @property
    def are_started(self) -> bool:
        """Whether they have been started."""
        return bool(self._children)

    @property
    def count(self) -> int:
        """How many have been started and run."""
        return len(self._children)

    def start(self) -> None:
        """Start them."""
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - it is open as long as the children run
        self._children = [self._spawn(self._log) for _ in range(self.wanted)]

    def restart_ended(self) -> None:
        """Start those again that have ended; raises CliError when that was done too often."""
        for place, child in enumerate(self._children):
            if child.poll() is None or self._log is None:
                continue
            self._jobs.forget_worker(worker_name(child.pid))
            self._restarts += 1
            if self._restarts > MAX_RESTARTS:
                raise CliError(f"the workers of this command end again and again:\n{self._log_tail(self._log)}")
            self._children[place] = self._spawn(self._log)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for child in self._children:
            signal_group(child.pid, signal.SIGKILL)
            child.wait()
            self._jobs.forget_worker(worker_name(child.pid))
        self._children = []
        if self._log is not None:
            self._log.close()

    def _spawn(self, log: IO[bytes]) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(
            bound_to_parent([sys.executable, "-m", "deploy.cli", "work", Queue.FLEET]),
            env=self._environment,
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )

    def _log_tail(self, log: IO[bytes]) -> str:
        end = log.seek(0, os.SEEK_END)
        log.seek(max(0, end - LOG_BYTES))
        return log.read().decode(errors="replace")


POLL_S = 0.2
ALONE_S = 2.0
"""A job that this process can do in less time is not worth starting workers for."""

REQUEST_AGAIN_S = 5.0
"""A job that has made no progress for so long is requested again: the broker may have lost the task."""

Show = Callable[[Any], None]


def follow_job(kind: str, parameters: Parameters, processes: int, label: str, show: Show) -> None:
    """Have a job done, and call ``show`` with the result of each slice, in order.

    A job of this kind with the same parameters that runs already is followed. Where no worker of the fleet runs, the
    work is done by this process itself, or by ``processes`` workers that it starts, which end with it. Raises CliError
    when the job fails, and StoreError.
    """
    installation = open_installation()
    try:
        running_job = installation.fleet_jobs.find_running(kind, parameters)
        job = installation.fleet_jobs.start(kind, parameters)
    except StoreError as error:
        if not _takes_no_writes(error):
            raise
        click.echo(f"The store takes no writes ({error}): this process does all the work.", err=True)
        do_here(installation, kind, parameters, label, show)
        return
    if running_job is not None and running_job.id == job.id:
        requested = rfc3339(job.requested_at)
        click.echo(f"Following the job {job.id}, which was requested at {requested}.", err=True)
    try:
        with OwnWorkers(installation, processes) as own:
            _Follower(installation, own, job).follow(label, show)
    except FleetJobFailedError as error:
        raise CliError(str(error)) from error


def do_here(installation: Installation, kind: str, parameters: Parameters, label: str, show: Show) -> None:
    """Do a job in this process without recording it, and call ``show`` with the result of each slice."""
    total, slices = do_unrecorded(make_work(installation, kind), parameters)
    with progress_bar(total, label) as step:
        for units, result in slices:
            show(result)
            step(units)


def _takes_no_writes(error: StoreError) -> bool:
    return isinstance(error, StoreFullError | StorePermissionError) or isinstance(error.__cause__, ReadOnlyError)


class _Follower:
    def __init__(self, installation: Installation, own: OwnWorkers, job: FleetJob) -> None:
        self._jobs = installation.fleet_jobs
        self._worker = SliceWorker(self._jobs, partial(make_work, installation))
        self._tasks = make_task_queue(installation)
        self._own = own
        self._job = job
        self._shown = 0
        self._here = False
        self._requested_at = 0.0
        self._begun_at = time.monotonic()

    def follow(self, label: str, show: Show) -> None:
        try:
            while not self._job.is_planned and self._look(show):
                self._work()
            with progress_bar(self._job.units, label) as step:
                units_shown = 0
                while self._look(show):
                    step(self._job.units_done - units_shown)
                    units_shown = self._job.units_done
                    self._work()
                step(self._job.units_done - units_shown)
        except KeyboardInterrupt:
            raise CliError(self._interrupted()) from None
        check_finished(self._job)

    def _look(self, show: Show) -> bool:
        """Show the progress of the job; return whether it runs."""
        current = self._jobs.job(self._job.id)
        if current is None:
            raise CliError(f"the store has lost the job {self._job.id}")
        if current.done != self._job.done:
            self._requested_at = time.monotonic()
        self._job = current
        # After the state was read: the results of a finished job are all there.
        for number, result in read_results(self._jobs, self._job, self._shown):
            self._shown = number
            show(result)
        return self._job.state == JobState.RUNNING

    def _work(self) -> None:
        """Let others do something, or do a slice here where nobody else does."""
        if not self._here and (self._own.are_started or self._jobs.count_workers()):
            self._own.restart_ended()
            self._request()
        elif not self._here and self._own.wanted > 1 and time.monotonic() - self._begun_at >= ALONE_S:
            self._own.start()
            self._requested_at = 0.0  # the slices until now were done here, without a task
            self._request()
        else:
            claimed = self._jobs.claim(self._job)
            if claimed is not None:
                self._worker.do_slice(claimed)
                return
        time.sleep(POLL_S)

    def _request(self) -> None:
        now = time.monotonic()
        if self._requested_at and now - self._requested_at < REQUEST_AGAIN_S:
            return
        self._requested_at = now
        try:
            self._tasks.request_slices(self._job.id)
        except OperationalError as error:
            click.echo(f"The broker cannot be reached ({error}): this process does the work.", err=True)
            self._here = True

    def _interrupted(self) -> str:
        job = self._job.id
        if self._jobs.count_workers() > self._own.count:
            return f"The job {job} goes on: the same command follows it, rookery fleet cancel {job} ends it."
        self._jobs.cancel(self._job)
        return f"The job {job} is cancelled: no other worker would have gone on with it."


@click.group()
def fleet() -> None:
    """Work over all matches that the workers of the fleet do: rebuild, verify, audit all, rules impact, the ladder."""


@fleet.command("list")
@target_options
def list_jobs() -> None:
    """List the jobs that run, and those that have ended in the last days."""
    jobs = open_installation().fleet_jobs
    listed, workers = jobs.jobs(), jobs.count_workers()
    for job in listed:
        click.echo(escape_unprintable(describe(job)))
    click.echo(f"{workers} workers of the fleet run." if workers else "No worker of the fleet runs.")


@fleet.command()
@target_options
@click.argument("job")
def cancel(job: str) -> None:
    """End a JOB; nothing that it has done is undone."""
    jobs = open_installation().fleet_jobs
    cancelled = jobs.job(job)
    if cancelled is None:
        raise CliError(f"there is no job {job}: see rookery fleet list")
    if not jobs.cancel(cancelled):
        raise CliError(f"the job {job} has ended already: it is {cancelled.state}")
    click.echo(f"{job} is cancelled.")


def describe(job: FleetJob) -> str:
    """Return a job as one line."""
    progress = f"{job.units_done} of {job.units}" if job.is_planned else "being planned"
    asked = " ".join(f"{name}={value}" for name, value in job.parameters.items())
    state = job.state if job.state != JobState.FAILED else f"{job.state}: {job.reason}"
    return "  ".join(filter(None, (job.id, rfc3339(job.requested_at), progress, asked, state)))
