"""The tasks: thin shells around plain functions, hints that something can be claimed from a work list.

They carry at most an id, work on the stored state, and are never repeated by Celery.
"""

from collections.abc import Callable
from functools import cached_property, partial
from itertools import islice
from typing import Any, NamedTuple

import structlog
from celery import Celery, current_task
from celery.worker import state

from domain.match.guards import rules_of
from events.installation import Installation
from events.matches import thoughts
from events.matches.animations import AnimationQuery
from events.matches.evaluations import EVALUATION
from events.matches.jobs import ANIMATION, ARCHIVE, BUNDLE, RECOMPUTATION, Job, Jobs, basis_of_answer
from events.matches.matches import Matches
from events.matches.thoughts import Thought
from events.operations.personal_archive import make_archive
from events.people.accounts import People
from events.people.person import Person
from events.pictures.animation import animate
from events.proof.audit import audit
from events.proof.bundle import basis_of_content, instant_of_reading, make_contents
from events.proof.signed_checkpoints import sign_hour_of
from events.proof.transparency.cosigning import Cosigning
from events.proof.transparency.timestamps import Timestamps
from events.runtime.egress import Egress
from events.runtime.origin import TASK_HEADER, following
from events.runtime.work_list import Claim
from events.store.contract import EventStore
from events.store.converter import unpack
from workers.broker import MAX_CONFIRMATION_S
from workers.celery_app import ANSWER, CHECKPOINT, COSIGN, DELIVER, FLEET_SLICES, JOB, RATE, READ_MAIL, SETTLE
from workers.claims import do_due
from workers.composition import make_deliveries, make_long_thinker, make_mail_reader, make_opponents, make_senders
from workers.evaluations import Evaluations
from workers.fleet.kinds import make_work
from workers.fleet.presence import own_name
from workers.fleet.work import MAX_SLICE_S, TASK_S, SliceWorker
from workers.long_searches import LongThinker
from workers.notices.deliver import Deliveries
from workers.notices.incoming_mail import MailReader
from workers.opponents import LONG, OPPONENTS, Opponents


class JobWorker(NamedTuple):
    """Does the jobs of matches and people; ``make_archive`` returns the archive of a person."""

    jobs: Jobs
    store: EventStore
    matches: Matches
    people: People
    make_archive: Callable[[Person], bytes]

    def do(self, subject: str, job: Job) -> None:
        """Do ``job`` of the match or person ``subject``. Crash-safe: its result, always the same, is stored first."""
        if job.kind == BUNDLE:
            self._make_bundle(subject)
        elif job.kind == RECOMPUTATION:
            self._recompute(subject, job.version)
        elif job.kind == ARCHIVE:
            self._make_archive(subject)
        elif job.kind == ANIMATION:
            self._animate(subject, unpack(AnimationQuery, job.detail))

    def _make_bundle(self, match_id: str) -> None:
        jobs, asked, events = self.jobs, self.jobs.now(), self.store.read(match_id)
        if events:
            for content, positions in zip(make_contents(match_id, events), (False, True), strict=True):
                basis = basis_of_content(content.head.digest, positions=positions)
                at = instant_of_reading(content.at, asked, jobs.now())
                jobs.store_bundle_content(match_id, basis, content.packed, at)

    def _recompute(self, match_id: str, version: int) -> None:
        records = audit(match_id, self.store.read(match_id, 0, version))
        record = next(islice(records, version - 1, None), None)
        if record is not None and record.answer is not None and record.answer.computable:
            differing = record.answer.recompute() or ""
            self.jobs.store_result(match_id, RECOMPUTATION, basis_of_answer(record.envelope.id), differing.encode())

    def _animate(self, match_id: str, query: AnimationQuery) -> None:
        state = self.matches.load(match_id).state
        if state.play.broken is not None or query.last > len(state.play.moves):
            return  # taken back meanwhile
        game, moves = rules_of(state), state.play.moves[query.first : query.last]
        colours = game.setups[state.setup].colours
        picture = animate(
            game, state.play.position_after(query.first), moves, colours, game.title, quarters=query.quarters
        )
        self.jobs.store_result(match_id, ANIMATION, query.basis, picture)

    def _make_archive(self, person_id: str) -> None:
        person = self.people.person(person_id)
        if person is None:
            return
        self.jobs.store_archive(person_id, self.make_archive(person))
        # Crash-safe: a person who was erased meanwhile is erased once more by a relay, with the archive stored here.
        if self.people.person(person_id) is None:
            self.jobs.erase(person_id)


MAX_FLEET_TASK_S = MAX_SLICE_S + 2 * TASK_S

log = structlog.get_logger("worker")


def make_job_worker(of: Installation) -> JobWorker:
    """Return the worker on jobs of matches and people."""
    return JobWorker(of.jobs, of.store, of.matches, of.people, partial(make_archive, of))


class TaskContext(Installation):
    """An installation as its tasks see it. It connects at the first task, after the worker has forked."""

    @cached_property
    def deliveries(self) -> Deliveries:
        """The deliveries of notices and letters."""
        return make_deliveries(self, make_senders(self))

    @cached_property
    def opponents(self) -> Opponents:
        """The machine players."""
        return make_opponents(self)

    @cached_property
    def long_thinker(self) -> LongThinker:
        """The answers after searches of minutes."""
        return make_long_thinker(self, lambda: bool(state.should_stop))

    @cached_property
    def evaluations(self) -> Evaluations:
        """The evaluations of positions that are explored."""
        return Evaluations(self.jobs, self.matches, self.readmodels)

    @cached_property
    def job_worker(self) -> JobWorker:
        """The worker on jobs of matches and people."""
        return make_job_worker(self)

    @cached_property
    def cosigning(self) -> Cosigning:
        """The cosigning of checkpoints by witnesses."""
        return Cosigning(self.witnesses, self.checkpoints, Egress(self.settings.egress_allowed))

    @cached_property
    def timestamping(self) -> Timestamps | None:
        """The timestamping of checkpoints; None where no service is set."""
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
        """The reader of incoming mail; None where no mail is set."""
        return None if self.settings.mail is None else make_mail_reader(self, self.settings.mail)


def register(app: Celery, context: TaskContext) -> None:
    """Define the tasks of ``app``, to be done in ``context``."""

    def request(task: str, *arguments: str, **options: Any) -> None:
        app.send_task(task, arguments, confirm_timeout=MAX_CONFIRMATION_S, **options)

    def answer_due(lane: str) -> None:
        def answer_turn(turn: Claim) -> None:
            origin = unpack(Thought, turn.content).origin if lane == LONG else turn.content
            match_id = thoughts.match_of(turn.id)
            with following([origin], ANSWER, match=match_id):
                if lane == LONG:
                    executed = context.long_thinker.answer(turn)
                elif thoughts.is_urgent(turn.id):
                    executed = context.opponents.answer_urgently(match_id)
                else:
                    executed = context.opponents.answer(match_id, lane)
                if executed is not None:
                    log.info("answered", version=executed.version, repeated=executed.repeated)

        queue = OPPONENTS[lane].name_in_broker(context.prefix)
        do_due(context.turns, [lane], answer_turn, partial(request, ANSWER, lane, queue=queue), context.now)

    def rate_match(match_id: str) -> None:
        with following([current_task.request.get(TASK_HEADER) or ""], RATE, match=match_id):
            if context.ratings.rate(match_id):
                log.info("rated")

    def do_jobs() -> None:
        def do_claimed(claim: Claim) -> None:
            job = unpack(Job, claim.content)
            with following([job.origin], JOB):
                if job.kind == EVALUATION:
                    context.evaluations.do(claim.id, job)
                else:
                    context.job_worker.do(claim.id, job)
                log.info("job done", of=claim.id, kind=job.kind)

        context.store.check_clock()
        do_due(context.jobs.work, [""], do_claimed, partial(request, JOB), context.now)

    def sign_checkpoint() -> None:
        checkpoint = sign_hour_of(context.checkpoints, context.incidents, context.now(), context.cosigning)
        log.info("checkpoint", day=checkpoint.day, size=checkpoint.size, root=checkpoint.root)

    def do_fleet_slices(job: str) -> None:
        with following([], FLEET_SLICES):
            worker = SliceWorker(context.fleet_jobs, partial(make_work, context))
            done = worker.do_slices(job, own_name(), partial(request, FLEET_SLICES), lambda: bool(state.should_stop))
            log.info("fleet slices done", job=job, slices=done)

    def add_traced(name: str, do: Callable[[], object], **options: Any) -> None:
        def do_traced() -> None:
            with following([], name):
                do()

        app.task(do_traced, name=name, shared=False, **options)

    # Not shared: Celery would give them to the applications of other installations in this process, too. Tasks that
    # wait for others' servers have time limits of their own, each of them (``workers.celery_beats``).
    app.task(answer_due, name=ANSWER, shared=False)
    app.task(rate_match, name=RATE, shared=False)
    app.task(do_jobs, name=JOB, shared=False)
    add_traced(SETTLE, lambda: context.ratings.settle())
    add_traced(CHECKPOINT, sign_checkpoint)
    add_traced(COSIGN, context.have_attested, waits_for_others=True)
    add_traced(DELIVER, lambda: context.deliveries.deliver_due(), waits_for_others=True)
    add_traced(READ_MAIL, lambda: context.mail_reader and context.mail_reader.read_due(), waits_for_others=True)
    app.task(do_fleet_slices, name=FLEET_SLICES, shared=False, time_limit=MAX_FLEET_TASK_S)
