"""The tasks: thin shells around plain functions.

A task carries at most the id of a match, of a person or of a fleet job. It works on what it finds, however often, how
late and in which order it is delivered. ANSWER only says that a match waits in a lane, and answers the match that is
next there; DELIVER that something is due in the outbox; FLEET_SLICES that a fleet job has slices to be done. Celery
does not repeat a task that fails: sweeper and rounds enqueue it again.
"""

from functools import cached_property

import structlog
from celery import Celery, current_task
from celery.worker import state

from events.installation import Installation
from events.runtime.egress import Egress
from events.runtime.origin import TASK_HEADER, following
from events.service.signed_checkpoints import sign_hour_of
from events.transparency.cosigning import Cosigning
from events.transparency.timestamps import Timestamps
from workers.broker import MAX_CONFIRMATION_S
from workers.fair_queue import FairQueue
from workers.fleet.presence import own_name
from workers.fleet.work import MAX_SLICE_S, TASK_S, do_slices
from workers.jobs import do_job
from workers.notices.channels import make_senders
from workers.notices.deliver import Deliveries
from workers.notices.incoming_mail import MailReader
from workers.opponents import answer

ANSWER = "rookery.answer-next"
RATE = "rookery.rate"
SETTLE = "rookery.settle-ratings"
CHECKPOINT = "rookery.checkpoint"
COSIGN = "rookery.cosign"
JOB = "rookery.job"
DELIVER = "rookery.deliver"
READ_MAIL = "rookery.read-mail"
FLEET_SLICES = "rookery.fleet-slices"

MAX_FLEET_TASK_S = MAX_SLICE_S + 2 * TASK_S

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
    def cosigning(self) -> Cosigning:
        """What has checkpoints cosigned by witnesses."""
        return Cosigning(self.witnesses, self.checkpoints, Egress(self.settings.egress_allowed))

    @cached_property
    def timestamping(self) -> Timestamps | None:
        """What has checkpoints timestamped; None where no service is set."""
        url = self.settings.timestamp_url
        egress = Egress(self.settings.egress_allowed)
        return None if url is None else Timestamps(self.timestamps, self.checkpoints, url, egress)

    def have_attested(self) -> None:
        """Have the last checkpoint cosigned and timestamped by those who have not done so yet."""
        log.info("witnesses asked", count=self.cosigning.ask_waiting(self.now()))
        if self.timestamping is not None:
            self.timestamping.request_due(self.now())

    @cached_property
    def mail_reader(self) -> MailReader | None:
        """What reads incoming mail; None where no mail is set."""
        return None if self.settings.mail is None else MailReader(self, self.settings.mail)


def register(app: Celery, context: TaskContext) -> None:
    """Define the tasks of ``app``, to be done in ``context``."""

    def answer_next(lane: str) -> None:
        turn = context.waiting.take(lane)
        if turn is None:
            return
        # Crash-safe: a kill here does not put the match back; it still owes an answer, and the sweeper asks for it.
        with following([turn.origin], ANSWER, match=turn.match_id):
            executed = answer(context, turn.match_id, lane)
            if executed is not None:
                log.info("answered", version=executed.version, repeated=executed.repeated)

    def rate_match(match_id: str) -> None:
        with following([current_task.request.get(TASK_HEADER) or ""], RATE, match=match_id):
            if context.ratings.rate(match_id):
                log.info("rated")

    def settle_ratings() -> None:
        with following([], SETTLE):
            context.ratings.settle()

    def do_job_of(subject: str) -> None:
        job = context.jobs.pending(subject)
        with following([] if job is None else [job.origin], JOB):
            kind = do_job(context.personal_data, subject)
            if kind is not None:
                log.info("job done", of=subject, kind=kind)

    def deliver_due() -> None:
        with following([], DELIVER):
            context.deliveries.deliver_due()

    def read_mail() -> None:
        if context.mail_reader is not None:
            with following([], READ_MAIL):
                context.mail_reader.read_due()

    def sign_checkpoint() -> None:
        with following([], CHECKPOINT):
            checkpoint = sign_hour_of(context.checkpoints, context.incidents, context.now(), context.cosigning)
            log.info("checkpoint", day=checkpoint.day, size=checkpoint.size, root=checkpoint.root)

    def ask_witnesses() -> None:
        with following([], COSIGN):
            context.have_attested()

    def do_fleet_slices(job: str) -> None:
        def request(job_id: str) -> None:
            app.send_task(FLEET_SLICES, (job_id,), confirm_timeout=MAX_CONFIRMATION_S)

        with following([], FLEET_SLICES):
            done = do_slices(context, job, own_name(), request, lambda: bool(state.should_stop))
            log.info("fleet slices done", job=job, slices=done)

    # Not shared: Celery would give them to the applications of other installations in this process, too.
    app.task(answer_next, name=ANSWER, shared=False)
    app.task(rate_match, name=RATE, shared=False)
    app.task(settle_ratings, name=SETTLE, shared=False)
    app.task(do_job_of, name=JOB, shared=False)
    app.task(sign_checkpoint, name=CHECKPOINT, shared=False)
    app.task(ask_witnesses, name=COSIGN, shared=False)
    app.task(deliver_due, name=DELIVER, shared=False)
    app.task(read_mail, name=READ_MAIL, shared=False)
    app.task(do_fleet_slices, name=FLEET_SLICES, shared=False, time_limit=MAX_FLEET_TASK_S)
