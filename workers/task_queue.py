"""Enqueueing tasks. Their code is in ``workers.tasks``; to enqueue one twice does no harm."""

from typing import Any

from events.runtime import beats
from events.runtime.origin import TASK_HEADER, current
from events.runtime.queues import Queue
from events.runtime.settings import Settings
from workers.broker import MAX_CONFIRMATION_S
from workers.celery_app import ANSWER, CHECKPOINT, COSIGN, DELIVER, FLEET_SLICES, JOB, RATE, READ_MAIL, SETTLE, make_app
from workers.opponents import OPPONENTS, Opponents


class TaskQueue:
    """The task queue of an installation. Methods raise OperationalError when the broker cannot be reached."""

    def __init__(self, settings: Settings, opponents: Opponents) -> None:
        self._app = make_app(settings)
        self._opponents = opponents
        self._prefix = settings.prefix

    def request_answer(self, match_id: str) -> None:
        """Let a match wait for the opponent that owes it an answer, and wake a worker; raises as ``Matches.load``."""
        lane = self._opponents.add_turn(match_id)
        if lane is not None:
            self.request_turn(lane)

    def request_turn(self, lane: str) -> None:
        """Enqueue a task that answers the matches that wait in ``lane``."""
        beats.need(OPPONENTS[lane])
        self._send(ANSWER, (lane,), queue=OPPONENTS[lane].name_in_broker(self._prefix))

    def request_rating(self, match_id: str) -> None:
        """Enqueue the task that updates the ratings by the result of a match."""
        self._send(RATE, (match_id,), headers={TASK_HEADER: str(current())})

    def request_settlement(self) -> None:
        """Enqueue a task that goes on with ratings that wait for others."""
        self._send(SETTLE)

    def request_checkpoint(self) -> None:
        """Enqueue the task that signs the checkpoint of the day."""
        self._send(CHECKPOINT)

    def request_cosignatures(self) -> None:
        """Enqueue the task that asks witnesses to cosign the last checkpoint."""
        self._send(COSIGN)

    def request_jobs(self) -> None:
        """Enqueue a task that does the jobs of matches and people."""
        beats.need(Queue.FLEET)
        self._send(JOB)

    def request_delivery(self) -> None:
        """Enqueue a task that sends the dispatches that are due."""
        self._send(DELIVER)

    def request_reading(self) -> None:
        """Enqueue a task that reads the mail that has arrived."""
        self._send(READ_MAIL)

    def request_slices(self, job_id: str) -> None:
        """Enqueue a task that does slices of a fleet job."""
        beats.need(Queue.FLEET)
        self._send(FLEET_SLICES, (job_id,))

    def _send(self, task: str, arguments: tuple[str, ...] = (), **options: Any) -> None:
        self._app.send_task(task, arguments, confirm_timeout=MAX_CONFIRMATION_S, **options)
