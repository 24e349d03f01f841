"""Enqueueing tasks. What they do is in ``workers.tasks``; to enqueue one twice does no harm."""

from events.installation import Installation
from workers.celery_app import OPPONENTS, make_app
from workers.fair_queue import FairQueue, lane_of
from workers.opponents import debts_of
from workers.tasks import ANSWER, CHECKPOINT, DELIVER, JOB, RATE, READ_MAIL


class TaskQueue:
    """The task queue of an installation. Methods raise OperationalError when the broker cannot be reached."""

    def __init__(self, installation: Installation) -> None:
        self._app = make_app(installation.settings)
        self._matches = installation.matches
        self._waiting = FairQueue(installation.client, installation.prefix)
        self._prefix = installation.prefix

    def request_answer(self, match_id: str) -> None:
        """Let a match wait for the opponent that owes it an answer, if one does, and wake a worker.

        Also raises what ``Matches.load`` raises.
        """
        state = self._matches.load(match_id).state
        for debt in debts_of(state)[:1]:
            lane = lane_of(debt.level)
            self._waiting.add(match_id, state.creator, debt.level)
            self._app.send_task(ANSWER, (lane,), queue=OPPONENTS[lane].name_in_broker(self._prefix))

    def request_rating(self, match_id: str) -> None:
        """Enqueue the task that updates the ratings by the result of a match."""
        self._app.send_task(RATE, (match_id,))

    def request_checkpoint(self) -> None:
        """Enqueue the task that signs the checkpoint of the day."""
        self._app.send_task(CHECKPOINT)

    def request_job(self, subject: str) -> None:
        """Enqueue the task that does the job of a match or a person."""
        self._app.send_task(JOB, (subject,))

    def request_delivery(self) -> None:
        """Enqueue a task that sends what is due in the outbox."""
        self._app.send_task(DELIVER)

    def request_reading(self) -> None:
        """Enqueue a task that reads the mail that has arrived."""
        self._app.send_task(READ_MAIL)
