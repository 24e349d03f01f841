"""Webhooks that are not taken: when they are sent again, when they end, and what is told by mail instead."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from domain.match.terms import DAY, HOUR
from events.notify.notice import DeliveryState, NoticeKind, Timing
from events.notify.outbox import Purpose
from events.notify.webhooks.retries import MIN_DELAY_MS
from tests.support.callers import ME, OPEN, started
from tests.support.looks import look_at_match
from tests.support.receivers import Receiver, Reply, receiving
from tests.support.server import RealServer
from tests.support.watch import Watch
from tests.support.webhook_post import EVERYTHING, Post


@pytest.fixture
def watch() -> Watch:
    return Watch()


@pytest.fixture
def post(server: RealServer, watch: Watch) -> Post:
    return Post(server.url, watch)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as receiver:
        yield receiver


class TestFailing:
    def test_it_is_sent_again_by_its_id_until_taken(self, post: Post, receiver: Receiver, watch: Watch) -> None:
        webhook = post.webhook(post.anna, receiver)
        receiver.reply = lambda _: Reply(500)
        post.tell(started(post.anna, post.boris))
        delivery = post.delivery(post.anna, NoticeKind.TURN)
        assert (delivery.state, delivery.reason) == (DeliveryState.WAITING, "The receiver answered 500.")
        assert 5_000 <= post.wait_for(post.anna) <= 6_000
        assert 300_000 <= delivery_wait(post, watch) <= 360_000
        receiver.reply = lambda _: Reply()
        post.wait_for(post.anna)
        delivery = post.delivery(post.anna, NoticeKind.TURN)
        assert (delivery.state, delivery.attempts) == (DeliveryState.SENT, 3)
        assert len({each.headers["webhook-id"] for each in receiver.received}) == 1
        assert len({each.headers["webhook-timestamp"] for each in receiver.received}) == 3
        shown = post.anna.get(f"/me/webhooks/{webhook['id']}").json
        assert (shown["failing_since"], shown["succeeded_at"] is None) == (None, False)

    def test_a_neglected_turn_is_told_by_mail_at_half_time(self, post: Post, receiver: Receiver, watch: Watch) -> None:
        post.webhook(post.anna, receiver)
        receiver.reply = lambda _: Reply(301, headers={"Location": receiver.url})
        match = post.anna.create(ME, OPEN, terms={"control": "days-per-move", "bank": 86_400})
        post.boris.post(f"/matches/{match}/joins")
        post.give_mail(post.anna)
        post.services.preferences.change(
            post.anna.id, lambda known: replace(known, mail={**known.mail, NoticeKind.TURN: Timing.NEVER})
        )
        post.tell(match)
        while not post.mails(post.anna, Purpose.NOTICE):
            post.wait_for(post.anna)
        assert watch.now - watch_start(post) in range(12 * HOUR, 12 * HOUR + 60_000)
        (mail,) = post.mails(post.anna, Purpose.NOTICE)
        (notice,) = post.notices(post.anna, NoticeKind.TURN)
        assert (mail.notices, mail.requested) == ((notice.id,), True)
        told = post.delivery(post.anna, NoticeKind.TURN).reason
        assert told.startswith("The receiver answered 301. Redirects are not followed.")
        assert told.endswith("It is sent by mail instead.")

    def test_after_the_last_attempt_it_is_given_up(self, post: Post, receiver: Receiver, watch: Watch) -> None:
        post.webhook(post.anna, receiver)
        receiver.reply = lambda _: Reply(500)
        post.tell(started(post.anna, post.boris))
        while post.delivery(post.anna, NoticeKind.TURN).due is not None:
            post.wait_for(post.anna)
        delivery = post.delivery(post.anna, NoticeKind.TURN)
        assert (delivery.state, delivery.attempts) == (DeliveryState.FAILED, 10)
        assert delivery.reason == (
            "The receiver answered 500. It is not sent again. It cannot be sent by mail instead."
        )

    def test_a_receiver_that_is_gone_gets_nothing_and_its_owner_mail(self, post: Post, receiver: Receiver) -> None:
        webhook = post.webhook(post.anna, receiver)
        post.give_mail(post.anna)
        receiver.reply = lambda _: Reply(410)
        match = started(post.anna, post.boris)
        post.tell(match)
        shown = post.anna.get(f"/me/webhooks/{webhook['id']}").json
        assert (shown["enabled"], "410" in shown["disabled_reason"]) == (False, True)
        (letter,) = post.mails(post.anna, Purpose.LETTER)
        assert letter.letter.to == "anna@mail.example"
        assert "was switched off" in letter.letter.text
        assert post.delivery(post.anna, NoticeKind.TURN).state == DeliveryState.FAILED
        post.anna.move(match)
        post.boris.move(match)
        post.tell(match)
        assert len(receiver.received) == 1

    def test_five_days_of_failures_switch_it_off_by_mail(self, post: Post, receiver: Receiver, watch: Watch) -> None:
        webhook = post.webhook(post.anna, receiver)
        post.give_mail(post.anna)
        receiver.reply = lambda _: Reply(500)
        for _ in range(6):
            post.anna.post(f"/me/webhooks/{webhook['id']}/tests")
            post.send()
            watch.advance(DAY)
        shown = post.anna.get(f"/me/webhooks/{webhook['id']}").json
        assert shown["disabled_reason"] == "Every attempt has failed for 5 days."
        assert len(post.mails(post.anna, Purpose.LETTER)) == 1
        on = {"url": receiver.url, "kinds": EVERYTHING, "enabled": True}
        assert post.anna.put(f"/me/webhooks/{webhook['id']}", on).json["enabled"]

    def test_a_failing_test_of_a_webhook_switched_off_causes_no_mail(self, post: Post, receiver: Receiver) -> None:
        webhook = post.webhook(post.anna, receiver)
        post.give_mail(post.anna)
        receiver.reply = lambda _: Reply(410)
        path = f"/me/webhooks/{webhook['id']}"
        post.anna.put(path, {"url": receiver.url, "kinds": EVERYTHING, "enabled": False})
        post.anna.post(f"{path}/tests")
        post.send()
        assert len(receiver.received) == 1
        assert post.mails(post.anna, Purpose.LETTER) == []
        assert post.anna.get(path).json["disabled_reason"] == "You have switched it off."

    def test_a_silent_receiver_does_not_keep_others_waiting(self, post: Post, receiver: Receiver, watch: Watch) -> None:
        webhook = post.webhook(post.anna, receiver)
        gone = {"url": "http://127.0.0.1:1/", "kinds": EVERYTHING, "enabled": True}
        post.anna.put(f"/me/webhooks/{webhook['id']}", gone)
        post.tell(started(post.anna, post.boris))
        watch.advance(1_000)
        post.tell(started(post.anna, post.boris))
        assert len(post.logged(post.anna, webhook)) == 1
        assert post.delivery(post.anna, NoticeKind.TURN).due == watch.now + MIN_DELAY_MS
        assert post.logged(post.anna, webhook)[0].outcome == "No connection was made: connection refused."

    def test_a_receiver_that_asks_for_less_is_left_alone(self, post: Post, receiver: Receiver, watch: Watch) -> None:
        post.webhook(post.anna, receiver)
        receiver.reply = lambda _: Reply(429, headers={"Retry-After": "600"})
        post.tell(started(post.anna, post.boris))
        assert post.delivery(post.anna, NoticeKind.TURN).due == watch.now + 600_000
        watch.advance(1_000)
        post.tell(started(post.anna, post.boris))
        assert len(receiver.received) == 1
        held = post.delivery(post.anna, NoticeKind.TURN)
        assert (held.reason, held.due, held.attempts) == (
            "The receiver has asked for fewer requests, or takes none.",
            watch.now + 599_000,
            0,
        )
        receiver.reply = lambda _: Reply()
        watch.advance(600_000)
        assert post.send() == 2

    def test_a_receiver_can_refuse_one_webhook_for_good(self, post: Post, receiver: Receiver) -> None:
        webhook = post.webhook(post.anna, receiver)
        receiver.reply = lambda _: Reply(400, headers={"webhook-delivery": "abort-message"})
        post.tell(started(post.anna, post.boris))
        delivery = post.delivery(post.anna, NoticeKind.TURN)
        assert (delivery.state, "for good" in delivery.reason) == (DeliveryState.FAILED, True)
        assert post.anna.get(f"/me/webhooks/{webhook['id']}").json["enabled"]

    def test_notices_for_a_webhook_that_is_off_or_gone_are_not_sent(self, post: Post, receiver: Receiver) -> None:
        off, gone = post.webhook(post.anna, receiver), post.webhook(post.anna, receiver)
        match = started(post.anna, post.boris)
        look_at_match(post.observer, match, {1, 2, 3})
        change = {"url": receiver.url, "kinds": EVERYTHING, "enabled": False}
        post.anna.put(f"/me/webhooks/{off['id']}", change)
        post.anna.delete(f"/me/webhooks/{gone['id']}")
        post.send()
        assert receiver.received == []
        (notice,) = post.notices(post.anna, NoticeKind.TURN)
        assert sorted(each.reason for each in notice.deliveries) == [
            "Not sent, because the webhook is off: You have switched it off.",
            "Not sent, because the webhook was deleted.",
        ]

    def test_a_notice_is_sent_again_on_demand_even_when_it_is_outdated(self, post: Post, receiver: Receiver) -> None:
        webhook = post.webhook(post.anna, receiver)
        match = started(post.anna, post.boris)
        post.tell(match)
        post.anna.move(match)
        (notice,) = post.notices(post.anna, NoticeKind.TURN)
        path = f"/me/webhooks/{webhook['id']}/deliveries/{notice.id}/attempts"
        assert post.anna.post(path).status_code == 202
        assert post.send() == 1
        first, second = receiver.received
        assert first.headers["webhook-id"] == second.headers["webhook-id"]
        assert (second.data["ply"], second.data["legal_moves"]) == (1, [])


def delivery_wait(post: Post, watch: Watch) -> int:
    """Return how long it is until the webhook is sent again."""
    return int(post.delivery(post.anna, NoticeKind.TURN).due - watch.now)


def watch_start(post: Post) -> int:
    """Return when anna's turn was decided to be told."""
    return post.notices(post.anna, NoticeKind.TURN)[0].decided_at
