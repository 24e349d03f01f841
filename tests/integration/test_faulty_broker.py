"""Whatever a broker does to tasks: each effect is there in the end, and there once."""

from collections import Counter
from collections.abc import Callable
from random import Random
from threading import Event
from typing import Any

import pytest
import structlog
from celery import Celery

from domain.games import find_ruleset
from domain.match.commands import Resign
from domain.match.enums import Status
from events.matches.fleet_jobs import JobState
from events.matches.jobs import ARCHIVE, BUNDLE
from events.matches.readmodels import ReadModelKeys, dump, rated_result, summarise
from events.matches.readmodels.ratings import Ratings
from events.matches.readmodels.summary import DAY_MS
from events.notify.notice import NoticeChannel
from events.proof.checkpoints import day_of
from events.runtime.keys import ProofKeys
from tests.support.mail_play import MailSite
from tests.support.server import RealServer
from tests.support.stepped_installation import drain, legal_moves
from workers import celery_app, task_queue
from workers.composition import make_deliveries, make_hint_rounds, make_observer, make_sweeper, make_task_queue
from workers.effects import enqueue_when_due
from workers.fleet.kinds import VERIFY
from workers.notices.decide import NoticeRounds
from workers.opponents import debts_of
from workers.tasks import TaskContext, register

MAX_DELAY_ROUNDS = 4

log = structlog.get_logger("faulty-broker")


class FaultyBroker(Celery):  # type: ignore[misc]
    """A Celery application whose tasks go through this broker; the same seed gives the same faults.

    A third of all tasks is lost, a third arrives twice, each after some rounds and in any order, as long as it is
    ``faulty``. ``done`` has the names of the tasks that were done, ``failed`` what they raised.
    """

    def __init__(self, seed: int, context: TaskContext) -> None:
        super().__init__("faulty", set_as_current=False)
        self.faulty = True
        self.sent = 0
        self.done: list[str] = []
        self.failed: list[Exception] = []
        self._chance = Random(seed)
        self._round = 0
        self._waiting: list[tuple[int, str, tuple[Any, ...]]] = []
        register(self, context)

    def send_task(self, name: str, args: tuple[Any, ...] = (), **options: Any) -> None:
        """Lose the task or let it wait, once or twice; refuses one that is to wait for an instant."""
        assert not options.keys() & {"eta", "countdown", "expires"}
        self.sent += 1
        copies = self._chance.choice((0, 1, 2)) if self.faulty else 1
        for _ in range(copies):
            delay = self._chance.randrange(MAX_DELAY_ROUNDS) if self.faulty else 0
            self._waiting.append((self._round + delay, name, args))

    def lose_everything(self) -> None:
        """Forget all tasks, as a broker does that restarts without its files."""
        self._waiting.clear()

    def deliver(self) -> None:
        """Let the tasks be done whose round has come, in any order."""
        due = [task for task in self._waiting if task[0] <= self._round]
        self._waiting = [task for task in self._waiting if task[0] > self._round]
        self._round += 1
        self._chance.shuffle(due)
        for _, name, args in due:
            self.done.append(name)
            try:
                self.tasks[name](*args)
            except Exception as error:
                log.exception("a task failed", name=name)
                self.failed.append(error)


ROUND_MS = 4000
MAX_ROUNDS = 120
EVERY_TASK = {
    name
    for key, name in vars(celery_app).items()
    if key.isupper() and isinstance(name, str) and name.startswith("rookery.")
}


class Club(MailSite):
    """An installation with all that requests tasks, and a broker that is not to be relied on."""

    def __init__(self, url: str, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__(url)
        context = TaskContext(self.parts.settings, lambda: self.now)
        context.deliveries = make_deliveries(context, self.senders)
        self.broker = broker = FaultyBroker(seed, context)
        monkeypatch.setattr(task_queue, "make_app", lambda _: broker)
        queue = make_task_queue(self.parts)
        woken = Event()
        observer = make_observer(self.parts, woken.set)
        answers, ratings = (
            enqueue_when_due(debts_of, queue.request_answer),
            enqueue_when_due(self.ratings.owed, queue.request_rating),
        )
        self._lines = [self.consumer("tasks", answers, ratings), self.consumer("notices", observer.look_at_match)]
        rounds: list[Callable[[], object]] = [self.parts.fleet_jobs.advance_running]
        self._sweeper = make_sweeper(self.parts, queue, rounds=rounds)
        self._rounds = NoticeRounds(self.parts.store, self.parts.checks, self.parts.now, observer)
        self._hints = make_hint_rounds(self.parts, queue, woken)
        self.queue = queue

    def move_by_mail(self, player: str, match_id: str) -> None:
        state = self.state(match_id)
        move = find_ruleset(state.game, state.ruleset).format_move(state.play.position, legal_moves(state)[0])
        self.deliver(player, self.token(player, match_id), move)

    def work(self) -> None:
        """Let everything do what is due, once, and the broker deliver what it likes."""
        self.now += ROUND_MS
        self.project_all()
        drain(*self._lines)
        self._sweeper.sweep()
        self._rounds.do_round()
        self._hints.do_round()
        self.broker.deliver()

    def work_until(self, reached: Callable[[], bool]) -> int:
        """Let everything work until a state is ``reached``; return after how many rounds."""
        for number in range(MAX_ROUNDS):
            if reached():
                return number
            self.work()
        raise AssertionError(f"not reached in {MAX_ROUNDS} rounds: {Counter(self.broker.done)}")


@pytest.fixture(params=range(3))
def club(request: pytest.FixtureRequest, server: RealServer, monkeypatch: pytest.MonkeyPatch) -> Club:
    club = Club(server.url, request.param, monkeypatch)
    for name in ("alice", "bob", "carol"):
        club.enrol(name)
    return club


def answered(club: Club, matches: list[str]) -> bool:
    return not any(debts_of(club.state(match)) for match in matches)


def expected_ratings(club: Club, matches: list[str]) -> dict[str, Any]:
    """Return what is stored of ratings when all results are put into them at once."""
    results = {match: rated_result(summarise(club.state(match))) for match in matches}
    keys = ReadModelKeys("fresh:", club.keys.shards)
    Ratings(club.client, keys, results.get).put(results)
    return {name.replace("fresh:", "test:"): content for name, content in dump(club.client, keys).items()}


def test_every_effect_is_there_once_whatever_the_broker_loses_doubles_delays_and_reorders(club: Club) -> None:
    against = [club.start("palice", f"opponent-{level}") for level in (1, 2, 1)]
    among = [club.start("pbob", "pcarol") for _ in range(2)]
    club.move_by_mail("palice", against[0])
    club.work_until(lambda: bool(club.state(against[0]).play.moves))
    for number in range(2):
        for match in against[1 - number :]:
            club.play(match, 1)
        club.work_until(lambda: answered(club, against))
    for number, match in enumerate([*against, *among]):
        club.now += number * DAY_MS // 3
        club.play(match, 2 if match in among else 0)
        player = "palice" if match in against else "pcarol"
        club.do(match, Resign(player=player), player)
    for subject, kind, version in (("palice", ARCHIVE, 0), (among[0], BUNDLE, club.state(among[0]).version)):
        assert club.parts.jobs.request(subject, kind, version, requester="palice", cost=1)
    job = club.parts.fleet_jobs.start(VERIFY, {})
    club.queue.request_slices(job.id)

    def finished() -> bool:
        if celery_app.SETTLE not in club.broker.done:
            club.queue.request_settlement()
        if celery_app.COSIGN not in club.broker.done:
            club.queue.request_cosignatures()
        jobs = [club.parts.jobs.pending(subject) for subject in ("palice", among[0])]
        known = club.parts.fleet_jobs.job(job.id)
        return (
            not any(jobs)
            and known is not None
            and known.state == JobState.FINISHED
            and not any(club.ratings.owed(club.state(match)) for match in (*against, *among))
            and (latest := club.checkpoints.latest()) is not None
            and latest.day.startswith(day_of(club.now))
            and club.outbox.next_due() is None
            and not club.parts.inbox.work.next_due()
            and set(club.broker.done) == EVERY_TASK
        )

    club.work_until(finished)
    club.broker.faulty = False
    for _ in range(20):
        club.work()

    for match in against:
        state = club.state(match)
        assert state.status == Status.FINISHED
        assert [event.data["ply"] for event in club.store.read(match) if event.type == "move-submitted"] == [1, 2, 3, 4]
    stored = {name: content for name, content in club.dump().items() if name.startswith(club.keys.ratings)}
    assert stored == expected_ratings(club, [*against, *among])
    mails = club.senders[NoticeChannel.MAIL].sent
    sent = Counter(notice for mail in mails for notice in mail.notices)
    assert sent
    assert set(sent.values()) == {1}
    assert [mail.letter.in_reply_to for mail in mails if mail.letter is not None] == ["<1@home.example>"]
    assert club.parts.jobs.archive("palice")
    leaves = club.client.lrange(ProofKeys(club.settings.prefix).leaves, 0, -1)
    assert len(set(leaves)) == len(leaves) == club.checkpoints.latest().size
    assert set(club.broker.done) == EVERY_TASK
    assert club.broker.failed == []


@pytest.mark.parametrize("club", [0], indirect=True)
def test_a_broker_that_is_emptied_costs_seconds_and_nothing_else(club: Club) -> None:
    match = club.start("opponent-1", "palice")
    club.broker.faulty = False
    club.project_all()
    drain(*club._lines)
    club.broker.lose_everything()
    rounds = club.work_until(lambda: answered(club, [match]))
    assert 1 <= rounds * ROUND_MS // 1000 <= 20
