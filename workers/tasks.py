"""The tasks: thin shells around plain functions.

A task carries at most the id of a match or of a person. It works on what it finds, however often, how late and in which
order it is delivered. ANSWER only says that a match waits in a lane, and answers the match that is next there; DELIVER
that something is due in the outbox. Celery does not repeat a task that fails: sweeper and rounds enqueue it again.
"""

from functools import cached_property

import structlog
from celery import Celery

from events.installation import Installation
from events.runtime.settings import Settings
from workers.fair_queue import FairQueue
from workers.jobs import do_job
from workers.notices.channels import make_senders
from workers.notices.deliver import Deliveries
from workers.notices.incoming_mail import MailReader
from workers.opponents import answer

ANSWER = "rookery.answer-next"
RATE = "rookery.rate"
CHECKPOINT = "rookery.checkpoint"
JOB = "rookery.job"
DELIVER = "rookery.deliver"
READ_MAIL = "rookery.read-mail"

log = structlog.get_logger("worker")


class TaskContext(Installation):
    """An installation as its tasks see it. It connects at the first task, after the worker has forked."""

    @cached_property
    def waiting(self) -> FairQueue:
        """The matches that wait for an opponent."""
        return FairQueue(self.client, self.prefix)

    @cached_property
    def deliveries(self) -> Deliveries:
        """What sends notices and letters."""
        return Deliveries(self, make_senders(self))

    @cached_property
    def mail_reader(self) -> MailReader | None:
        """What reads incoming mail; None where no mail is set."""
        return None if self.settings.mail is None else MailReader(self, self.settings.mail)


def register(app: Celery, settings: Settings) -> None:
    """Define the tasks of ``app`` for the installation that ``settings`` name."""
    context = TaskContext(settings)

    def answer_next(lane: str) -> None:
        match_id = context.waiting.take(lane)
        if match_id is None:
            return
        # Crash-safe: a kill here does not put the match back; it still owes an answer, and the sweeper asks for it.
        executed = answer(context, match_id, lane)
        if executed is not None:
            log.info("answered", match=match_id, version=executed.version, repeated=executed.repeated)

    def rate_match(match_id: str) -> None:
        if context.ratings.rate(match_id):
            log.info("rated", match=match_id)

    def do_job_of(subject: str) -> None:
        kind = do_job(context.personal_data, context.keys, context.checkpoints, subject, context.now())
        if kind is not None:
            log.info("job done", of=subject, kind=kind)

    def deliver_due() -> None:
        context.deliveries.deliver_due()

    def read_mail() -> None:
        if context.mail_reader is not None:
            context.mail_reader.read_due()

    def sign_checkpoint() -> None:
        checkpoint = context.checkpoints.sign(context.now())
        log.info("checkpoint", day=checkpoint.day, size=checkpoint.size, root=checkpoint.root)

    app.task(answer_next, name=ANSWER)
    app.task(rate_match, name=RATE)
    app.task(do_job_of, name=JOB)
    app.task(sign_checkpoint, name=CHECKPOINT)
    app.task(deliver_due, name=DELIVER)
    app.task(read_mail, name=READ_MAIL)
