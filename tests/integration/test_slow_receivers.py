"""Receivers of webhooks that are slow wait for themselves; what a killed worker was sending is sent again."""

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest

from events.installation import Installation
from events.operations.figures import LATE_NOTICE_MS
from events.runtime.egress import EXCHANGE_TIMEOUT_S
from events.runtime.queues import Queue
from events.runtime.wall_clock import now_ms
from events.runtime.work_list import LEASE_MS
from tests.support.callers import Caller, started
from tests.support.celery_worker import CeleryWorker
from tests.support.eventually import eventually
from tests.support.looks import look_at_match
from tests.support.receivers import Received, Reply, receiving
from tests.support.server import RealServer
from tests.support.webhook_post import Post
from workers.composition import make_deliveries, make_senders, make_task_queue
from workers.notices import webhook_sender

THREADS = 8


@pytest.fixture
def post(server: RealServer) -> Post:
    return Post(server.url, None)


class Hanging:
    """Answers when it is released, and counts how many requests wait at a time."""

    def __init__(self) -> None:
        self.released = threading.Event()
        self.waiting = self.most = 0
        self._lock = threading.Lock()

    def __call__(self, _: Received) -> Reply:
        with self._lock:
            self.waiting += 1
            self.most = max(self.most, self.waiting)
        self.released.wait(EXCHANGE_TIMEOUT_S)
        with self._lock:
            self.waiting -= 1
        return Reply()


def decide(post: Post, match: str) -> None:
    """Put all that is to be told of ``match`` into the outbox."""
    version = post.services.matches.load(match).state.version
    look_at_match(post.observer, match, set(range(1, version + 1)))


@contextmanager
def workers(post: Post) -> Iterator[None]:
    """Send what is due in several threads, as a worker does."""
    threads = [threading.Thread(target=post.deliveries.deliver_due) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        for thread in threads:
            thread.join()


def test_a_server_that_hangs_holds_up_one_slot_and_nobody_elses_webhooks(post: Post) -> None:
    clara, dora = (Caller(post.app).sign_up(name) for name in ("clara", "dora"))
    hanging = Hanging()
    with ExitStack() as stack:
        slow, quick, unknown = (
            stack.enter_context(receiving(host=host)) for host in ("127.0.0.2", "127.0.0.3", "127.0.0.4")
        )
        post.webhook(clara, quick)
        post.tell(started(clara, post.boris))
        known = len(quick.received)
        slow.reply = hanging
        for caller in (post.anna, post.boris):
            post.webhook(caller, slow)
        for _ in range(5):
            decide(post, started(post.anna, post.boris))
        post.webhook(dora, unknown)
        for match in (started(clara, post.boris), started(dora, post.boris)):
            decide(post, match)
        with workers(post):
            try:
                eventually(lambda: hanging.waiting, "the server that hangs")
                eventually(lambda: len(quick.received) > known, "the webhook to the quick receiver")
                eventually(lambda: unknown.received, "the first webhook to a receiver")
                assert hanging.waiting == 1
            finally:
                hanging.released.set()
        assert hanging.most == 1


def test_a_slow_receiver_is_cut_off_early_and_sent_to_the_slow(post: Post, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webhook_sender, "QUICK_TIMEOUT_S", 0.3)
    with receiving() as receiver:
        webhook = post.webhook(post.anna, receiver, kinds=["turn"])
        first = started(post.anna, post.boris)
        post.tell(first)
        hanging = Hanging()
        receiver.reply = hanging
        decide(post, started(post.anna, post.boris))
        dispatch = post.services.outbox.take(["webhook"])
        post.deliveries.deliver(dispatch)
        hanging.released.set()
        endpoint = post.services.endpoints.find(post.anna.id, webhook["id"])
        assert endpoint.failures == 1
    slow = post.services.endpoints.change(post.anna.id, webhook["id"], lambda known: known.after_call(14_000))
    assert not slow.is_quick
    for _ in range(6):
        slow = slow.after_call(50)
    assert slow.is_quick


def test_a_test_has_less_time(post: Post, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webhook_sender, "QUICK_TIMEOUT_S", 0.3)
    hanging = Hanging()
    with receiving(hanging) as receiver:
        webhook = post.webhook(post.anna, receiver)
        asked = post.anna.post(f"/me/webhooks/{webhook['id']}/tests")
        assert asked.status_code == 202, asked.text
        post.send()
        (attempt,) = post.logged(post.anna, webhook)
        hanging.released.set()
    assert attempt.outcome.startswith("There was no complete answer within 0.3 seconds")


@pytest.mark.thorough
def test_webhooks_of_a_killed_worker_arrive_with_the_same_id_within_a_lease(post: Post, server: RealServer) -> None:
    settings = post.services.settings._replace(shards=post.services.store.shards, mail=None)
    hanging = Hanging()
    with receiving(hanging) as receiver:
        post.webhook(post.anna, receiver, kinds=["turn"])
        decide(post, started(post.anna, post.boris))
        worker = CeleryWorker(settings, [Queue.NOTICES])
        make_task_queue(post.services).request_delivery()
        eventually(lambda: receiver.received, "the webhook")
        worker.kill()
        hanging.released.set()
        assert post.services.outbox.work.claim() is None, "the lease stands"
        later = Installation(settings, lambda: now_ms() + LATE_NOTICE_MS + 1000)
        late = {figure.name: figure for figure in later.figures.read()}["rookery_late_notices"]
        assert late.values == {(): 1.0}
        assert LEASE_MS <= LATE_NOTICE_MS
        within_a_lease = Installation(settings, lambda: now_ms() + LEASE_MS)
        make_deliveries(within_a_lease, make_senders(within_a_lease)).deliver_due()
        first, second = (received.headers["webhook-id"] for received in receiver.received)
        assert first == second
    assert post.services.outbox.of(post.anna.id) == []
