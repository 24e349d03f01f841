"""The beats of Celery's processes: the main loop by a timer of its own, each process with tasks also from a thread.

So a long search is not silence; the time limit of tasks ends one that hangs. Where tasks are threads, each that does
not wait for others' servers is a line of its own.
"""

import threading
import time
from typing import Any

from billiard import current_process
from celery import Celery, bootsteps
from celery.concurrency.solo import TaskPool as SoloPool
from celery.concurrency.thread import TaskPool as ThreadPool
from celery.signals import task_postrun, task_prerun, worker_process_init

from events.runtime import beats

LOOP = "loop"


class LoopBeats(bootsteps.StartStopStep):  # type: ignore[misc]
    """Beats while the main loop runs; while it connects to the broker no beats are expected of it."""

    def __init__(self, parent: Any, **options: Any) -> None:
        super().__init__(parent, **options)
        self._timer: Any = None

    def start(self, parent: Any) -> None:
        """Start the beats: the loop is about to run."""
        if isinstance(parent.pool, SoloPool):
            task_prerun.connect(_expect_task, dispatch_uid="rookery-beats")
        elif isinstance(parent.pool, ThreadPool):
            task_prerun.connect(_begin_task, dispatch_uid="rookery-beats")
            task_postrun.connect(_end_task, dispatch_uid="rookery-beats")
        beats.beat(LOOP)
        self._timer = parent.timer.call_repeatedly(beats.INTERVAL_S, beats.beat, (LOOP,))

    def stop(self, _: Any) -> None:
        """Stop the beats: the loop has stopped in good order."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        beats.rest(LOOP)


def install(app: Celery) -> None:
    """Make the workers of ``app`` beat."""
    app.steps["consumer"].add(LoopBeats)
    worker_process_init.connect(_begin_process, dispatch_uid="rookery-beats")


def _expect_task(task: Any = None, **_: Any) -> None:
    """Allow for a task that runs in the main loop itself, which does not beat meanwhile."""
    beats.beat(LOOP, extra_s=float(task.time_limit or task.app.conf.task_time_limit))


def _begin_task(task: Any = None, **_: Any) -> None:
    if not getattr(task, "waits_for_others", False):
        beats.beat(_task_line(), extra_s=float(task.time_limit or task.app.conf.task_time_limit))


def _end_task(**_: Any) -> None:
    beats.rest(_task_line())


def _task_line() -> str:
    return f"task-{threading.get_native_id()}"


def _begin_process(**_: Any) -> None:
    # A worker that does its tasks in its main loop has no index. That loop may be silent for the time of a task.
    index = getattr(current_process(), "index", None)
    line = "process" if index is None else f"process-{index + 1}"
    threading.Thread(target=_beat_on, args=[line], name="beats", daemon=True).start()


def _beat_on(line: str) -> None:
    while True:
        beats.beat(line)
        time.sleep(beats.INTERVAL_S)
