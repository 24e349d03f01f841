"""Webhooks on their way: what receivers get, what they answer, and what follows when they do not."""

import contextlib
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count
from threading import Event
from typing import Any

import pytest
from standardwebhooks.webhooks import Webhook

from api.services import EXTENSION, Services
from domain.match.enums import Channel
from domain.match.terms import DAY, HOUR
from events.notices.endpoints import Attempt
from events.notices.kinds import DeliveryState, NoticeChannel, NoticeKind, Timing
from events.notices.notice import Delivery, Notice
from events.notices.outbox import Dispatch, Purpose
from events.people.person import Suspension
from events.runtime.connections import StoreClient, StorePipeline
from events.runtime.errors import StoreUnavailableError
from events.runtime.settings import MailSettings
from events.webhooks.retries import MIN_DELAY_MS
from tests.support.callers import ME, OPEN, Caller, app_on, invited, started
from tests.support.receivers import LOOPBACK, Received, Receiver, Reply, answering, receiving
from tests.support.server import RealServer
from tests.support.watch import Watch
from tests.support.webhook_receiver import verified_schemes
from workers.notices.channels import make_senders
from workers.notices.decide import Decider
from workers.notices.deliver import LEASE_MS, Deliveries

EVERYTHING = [str(kind) for kind in NoticeKind]


class Post:
    """An installation whose notices are decided and sent step by step, and two people in it."""

    def __init__(self, url: str, watch: Watch | None) -> None:
        self.app = app_on(url, now=watch)
        self.watch = watch
        self.services: Services = self.app.extensions[EXTENSION]
        mail = MailSettings("smtp+plain://127.0.0.1:1", "rookery.example")
        self.services.settings = self.services.settings._replace(egress_allowed=LOOPBACK, mail=mail)
        self.anna, self.boris = (Caller(self.app).sign_up(name) for name in ("anna", "boris"))
        self.decider = Decider(self.services)
        self.deliveries = Deliveries(self.services, make_senders(self.services))

    def webhook(self, caller: Caller, receiver: Receiver, **more: Any) -> Any:
        """Return a new webhook of ``caller`` to ``receiver``, told of everything."""
        made = caller.post("/me/webhooks", {"url": receiver.url, "kinds": EVERYTHING, **more})
        assert made.status_code == 201, made.text
        return made.json

    def give_mail(self, caller: Caller) -> None:
        """Give ``caller`` a confirmed mail address."""
        address = f"{caller.name}@mail.example"
        self.services.addresses.change(caller.id, lambda known: replace(known, address=address, confirmed_at=1))

    def tell(self, match: str) -> None:
        """Decide about all that has happened in ``match``, and send what is due."""
        version = self.services.matches.load(match).state.version
        self.decider.look_at_match(match, set(range(1, version + 1)))
        self.send()

    def send(self) -> int:
        """Send what is due through webhooks; mails stay where they are."""
        sent = 0
        while (dispatch := self.services.outbox.take(self.services.now(), LEASE_MS)) is not None:
            if dispatch.channel == NoticeChannel.WEBHOOK:
                self.deliveries.deliver(dispatch)
                sent += 1
        return sent

    def wait_for(self, caller: Caller) -> int:
        """Let the time pass until the next dispatch through a webhook is due; return how long that is, and send it."""
        due = self.delivery(caller, NoticeKind.TURN).due
        waited = due - self.watch.now
        self.watch.now = due
        assert self.send() == 1
        return waited

    def notices(self, caller: Caller, kind: NoticeKind) -> list[Notice]:
        """Return the ledger of ``caller``, the latest first."""
        return [each for each in self.services.ledger.page(caller.id).notices if each.kind == kind]

    def delivery(self, caller: Caller, kind: NoticeKind) -> Delivery:
        """Return the delivery of the latest notice of ``kind`` by webhook."""
        notice = self.notices(caller, kind)[0]
        return next(each for each in notice.deliveries if each.channel == NoticeChannel.WEBHOOK)

    def mails(self, caller: Caller, purpose: Purpose) -> list[Dispatch]:
        """Return what is to be sent to ``caller`` by mail."""
        waiting = self.services.outbox.of(caller.id)
        return [each for each in waiting if (each.channel, each.purpose) == (NoticeChannel.MAIL, purpose)]

    def logged(self, caller: Caller, webhook: Any) -> list[Attempt]:
        return self.services.endpoints.attempts(caller.id, webhook["id"])

    def moves(self, match: str) -> tuple[str, ...]:
        return self.services.matches.load(match).state.play.moves


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


def plays_first(received: Received) -> Reply:
    """Answer with the first legal move."""
    return answering(move=received.data["legal_moves"][0], version=received.data["version"])


def only(kind: str, reply: Callable[[Received], Reply]) -> Callable[[Received], Reply]:
    """Answer webhooks of the type ``kind`` alone by ``reply``."""
    return lambda received: reply(received) if received.type == kind else Reply()


class TestBeingTold:
    def test_a_webhook_is_signed_so_that_published_and_own_receivers_accept_it(
        self, server: RealServer, receiver: Receiver
    ) -> None:
        post = Post(server.url, None)  # by the wall clock, which the published package reads
        webhook = post.webhook(post.anna, receiver)
        match = started(post.anna, post.boris)
        post.tell(match)
        (received,) = receiver.received
        assert Webhook(webhook["secret"]).verify(received.body, dict(received.headers))["type"] == "match.turn"
        keys = {"secret": webhook["secret"], "public_key": webhook["public_key"]}
        assert verified_schemes(received.headers, received.body, int(time.time()), **keys) == {"v1", "v1a"}
        (notice,) = post.notices(post.anna, NoticeKind.TURN)
        assert received.headers["webhook-id"] == notice.id
        assert received.headers["content-type"] == "application/json"

    def test_ledger_and_log_say_what_was_sent_and_answered(self, post: Post, receiver: Receiver) -> None:
        webhook = post.webhook(post.anna, receiver)
        receiver.reply = lambda _: Reply(202, b"later")
        match = started(post.anna, post.boris)
        post.tell(match)
        delivery = post.delivery(post.anna, NoticeKind.TURN)
        assert (delivery.state, delivery.reason) == (DeliveryState.SENT, "The receiver answered 202.")
        (attempt,) = post.logged(post.anna, webhook)
        assert (attempt.type, attempt.match, attempt.status, attempt.answer) == ("match.turn", match, 202, "later")
        assert json.loads(attempt.body)["data"]["legal_moves"] == receiver.received[0].data["legal_moves"]
        assert attempt.headers["webhook-signature"] == receiver.received[0].headers["webhook-signature"]
        post.tell(match)
        assert len(receiver.received) == 1

    def test_a_thin_webhook_has_no_board_and_others_are_not_told(self, post: Post, receiver: Receiver) -> None:
        post.webhook(post.anna, receiver, payload="thin")
        post.webhook(post.anna, receiver, kinds=["ruling"])
        post.tell(started(post.anna, post.boris))
        (received,) = receiver.received
        assert (received.data["form"], received.data["seat"]) == ("thin", 0)
        assert "legal_moves" not in received.data

    def test_a_test_is_sent_once_whatever_is_answered(self, post: Post, receiver: Receiver) -> None:
        webhook = post.webhook(post.anna, receiver)
        receiver.reply = lambda _: Reply(500, b"no")
        queued = post.anna.post(f"/me/webhooks/{webhook['id']}/tests").json
        assert post.send() == 1
        assert (receiver.received[0].type, receiver.received[0].headers["webhook-id"]) == ("test", queued["webhook_id"])
        (attempt,) = post.logged(post.anna, webhook)
        assert (attempt.delivered, attempt.outcome) == (False, "The receiver answered 500.")
        assert post.services.outbox.of(post.anna.id) == []

    def test_nothing_is_sent_where_only_this_machine_could_be_called(self, post: Post, receiver: Receiver) -> None:
        webhook = post.webhook(post.anna, receiver)
        post.services.settings = post.services.settings._replace(egress_allowed=())
        post.deliveries = Deliveries(post.services, make_senders(post.services))
        post.tell(started(post.anna, post.boris))
        assert receiver.received == []
        (attempt,) = post.logged(post.anna, webhook)
        assert (attempt.status, attempt.outcome) == (
            None,
            "The address 127.0.0.1 is of this machine (loopback): only public addresses are called.",
        )


class TestAnsweringWithAMove:
    def test_a_move_in_the_answer_is_played_at_once(self, post: Post, receiver: Receiver) -> None:
        webhook = post.webhook(post.anna, receiver)
        receiver.reply = plays_first
        match = started(post.anna, post.boris)
        post.tell(match)
        move = receiver.received[0].data["legal_moves"][0]
        play = post.services.matches.load(match).state.play
        assert (play.moves, play.channels) == ((move,), (Channel.WEBHOOK,))
        words = f"The receiver answered 200. Its answer was carried out: move {move}."
        assert post.delivery(post.anna, NoticeKind.TURN).reason == words
        assert post.logged(post.anna, webhook)[0].outcome == words

    def test_two_stateless_bots_play_a_match(self, post: Post, receiver: Receiver) -> None:
        for caller in (post.anna, post.boris):
            post.webhook(caller, receiver, kinds=["turn"])
        receiver.reply = plays_first
        match = started(post.anna, post.boris)
        for _ in range(12):
            post.tell(match)
        assert len(post.moves(match)) >= 12

    def test_a_turn_of_several_plies_is_asked_for_ply_by_ply(self, post: Post, receiver: Receiver) -> None:
        post.webhook(post.anna, receiver)
        receiver.reply = plays_first
        match = post.anna.create(ME, *[OPEN] * 3, game="fourplay", setup="draft")
        for caller in (post.boris, *(Caller(post.app).sign_up(name) for name in ("clara", "dora"))):
            assert caller.post(f"/matches/{match}/joins").status_code == 201
        for plies in (1, 2, 3):
            post.tell(match)
            assert len(post.moves(match)) == plies

    @pytest.mark.parametrize(
        ("answer", "reason"),
        [
            (lambda data: {"move": "a1-h8", "version": data["version"]}, "not done: "),
            (
                lambda data: {"move": data["legal_moves"][0], "version": data["version"] - 1},
                "not done: it is about version",
            ),
            (lambda data: {"move": data["legal_moves"][0]}, 'not done: the answer must have "version"'),
            (lambda data: {"accept": True, "version": data["version"]}, "is no answer to this webhook"),
        ],
    )
    def test_an_answer_that_cannot_be_done_is_told_and_not_asked_for_again(
        self, post: Post, receiver: Receiver, answer: Callable[[Any], Any], reason: str
    ) -> None:
        webhook = post.webhook(post.anna, receiver)
        receiver.reply = lambda received: answering(**answer(received.data))
        match = started(post.anna, post.boris)
        post.tell(match)
        delivery = post.delivery(post.anna, NoticeKind.TURN)
        assert (delivery.state, delivery.due) == (DeliveryState.SENT, None)
        assert reason in delivery.reason
        assert reason in post.logged(post.anna, webhook)[0].outcome
        assert post.moves(match) == ()
        assert post.services.outbox.of(post.anna.id) == []

    def test_an_answer_about_an_old_board_is_not_played(self, post: Post, receiver: Receiver) -> None:
        post.webhook(post.anna, receiver)
        match = started(post.anna, post.boris)

        def too_late(received: Received) -> Reply:
            post.boris.post(f"/matches/{match}/draw-offers")
            return plays_first(received)

        receiver.reply = only("match.turn", too_late)
        post.tell(match)
        assert "the match has moved on" in post.delivery(post.anna, NoticeKind.TURN).reason
        assert post.moves(match) == ()

    def test_a_suspended_account_cannot_move(self, post: Post, receiver: Receiver) -> None:
        post.webhook(post.anna, receiver)
        receiver.reply = plays_first
        match = started(post.anna, post.boris)
        post.services.people.suspend(post.services.people.person(post.anna.id), Suspension("Spam.", None))
        post.tell(match)
        assert post.delivery(post.anna, NoticeKind.TURN).reason.endswith("not done: the account is suspended: Spam.")
        assert post.moves(match) == ()

    def test_killed_before_the_move_is_played_it_asks_again_and_plays_once(
        self, post: Post, receiver: Receiver, watch: Watch, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        post.webhook(post.anna, receiver)
        receiver.reply = plays_first
        match = started(post.anna, post.boris)
        with monkeypatch.context() as patched:
            patched.setattr(post.services.match_service, "execute", _unavailable)
            with pytest.raises(StoreUnavailableError):
                post.tell(match)
        assert post.moves(match) == ()
        watch.advance(LEASE_MS)
        post.send()
        assert len(post.moves(match)) == 1
        first, second = (each.headers["webhook-id"] for each in receiver.received)
        assert first == second

    def test_killed_after_the_move_is_played_it_is_not_played_again(
        self, post: Post, receiver: Receiver, watch: Watch, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        post.webhook(post.anna, receiver)
        receiver.reply = plays_first
        match = started(post.anna, post.boris)
        with monkeypatch.context() as patched:
            patched.setattr(post.services.endpoints, "log", _unavailable)
            with pytest.raises(StoreUnavailableError):
                post.tell(match)
        assert len(post.moves(match)) == 1
        watch.advance(LEASE_MS)
        post.send()
        assert len(post.moves(match)) == 1
        assert post.delivery(post.anna, NoticeKind.TURN).reason == "Not sent. You have moved meanwhile."


class TestKills:
    def test_killed_after_any_command_to_the_store_nothing_is_lost_and_no_move_doubled(
        self, post: Post, receiver: Receiver, watch: Watch, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        post.webhook(post.anna, receiver, kinds=["turn"])
        receiver.reply = plays_first
        for commands in count(1):
            match = started(post.anna, post.boris)
            first = len(receiver.received)
            with killed_after(commands, monkeypatch) as kill:
                try:
                    post.tell(match)
                except StoreUnavailableError:
                    assert kill.is_set()
            watch.advance(LEASE_MS)
            post.tell(match)
            assert len(post.moves(match)) == 1, f"killed after {commands} commands"
            (notice,) = (each for each in post.notices(post.anna, NoticeKind.TURN) if each.match == match)
            assert {each.headers["webhook-id"] for each in receiver.received[first:]} == {notice.id}
            assert [each.due for each in notice.deliveries if each.channel == NoticeChannel.WEBHOOK] == [None]
            if not kill.is_set():
                break
        assert commands > 10
        assert post.services.outbox.of(post.anna.id) == []


class TestAnsweringOffers:
    def test_a_draw_is_accepted_in_the_answer(self, post: Post, receiver: Receiver) -> None:
        post.webhook(post.anna, receiver)
        match = started(post.anna, post.boris)
        post.boris.post(f"/matches/{match}/draw-offers")
        receiver.reply = only("match.offer", lambda got: answering(accept=True, version=got.data["version"]))
        post.tell(match)
        assert post.services.matches.load(match).state.result.reason == "draw-agreed"

    @pytest.mark.parametrize(("verb", "status"), [("accept", "playing"), ("decline", "aborted")])
    def test_an_invitation_is_answered(self, post: Post, receiver: Receiver, verb: str, status: str) -> None:
        post.webhook(post.boris, receiver)
        match = post.anna.create(ME, invited("boris"))
        receiver.reply = only("challenge.received", lambda got: answering(**{verb: True}, version=got.data["version"]))
        post.tell(match)
        assert post.services.matches.load(match).state.status == status

    def test_who_accepts_in_an_answer_is_told_of_the_first_turn(self, post: Post, receiver: Receiver) -> None:
        post.webhook(post.boris, receiver)
        match = post.anna.create(invited("boris"), ME)
        receiver.reply = only("challenge.received", lambda got: answering(accept=True, version=got.data["version"]))
        post.tell(match)
        post.tell(match)
        assert [each.type for each in receiver.received] == ["challenge.received", "match.turn"]

    def test_who_is_blocked_meanwhile_cannot_accept(self, post: Post, receiver: Receiver) -> None:
        post.webhook(post.boris, receiver)
        match = post.anna.create(ME, invited("boris"))
        assert post.anna.put("/me/blocks/boris", {}).status_code == 204
        receiver.reply = lambda got: answering(accept=True, version=got.data["version"])
        post.tell(match)
        assert "has blocked you" in post.delivery(post.boris, NoticeKind.INVITATION).reason
        assert post.services.matches.load(match).state.status == "open"

    def test_a_bot_does_not_accept_more_than_it_takes_on(self, post: Post, receiver: Receiver) -> None:
        post.webhook(post.boris, receiver)
        match = post.anna.create(ME, invited("boris"))
        declared = post.boris.put("/me/bot", {"games": ["towers"], "concurrent": 1})
        assert declared.status_code == 200, declared.text
        receiver.reply = lambda got: answering(accept=True, version=got.data["version"])
        post.tell(match)
        assert "was not done: boris" in post.delivery(post.boris, NoticeKind.INVITATION).reason
        assert post.services.matches.load(match).state.status == "open"


class TestFailing:
    def test_it_is_sent_again_under_the_same_id_until_it_is_taken(
        self, post: Post, receiver: Receiver, watch: Watch
    ) -> None:
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

    def test_a_turn_that_its_receiver_does_not_take_for_half_of_the_time_is_told_by_mail(
        self, post: Post, receiver: Receiver, watch: Watch
    ) -> None:
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

    def test_a_receiver_that_is_gone_gets_nothing_more_and_its_owner_a_mail(
        self, post: Post, receiver: Receiver
    ) -> None:
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

    def test_five_days_of_failures_switch_it_off_with_one_mail(
        self, post: Post, receiver: Receiver, watch: Watch
    ) -> None:
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

    def test_a_failing_test_of_a_webhook_that_its_owner_has_switched_off_causes_no_mail(
        self, post: Post, receiver: Receiver
    ) -> None:
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

    def test_a_receiver_that_does_not_answer_does_not_keep_others_waiting(
        self, post: Post, receiver: Receiver, watch: Watch
    ) -> None:
        webhook = post.webhook(post.anna, receiver)
        gone = {"url": "http://127.0.0.1:1/", "kinds": EVERYTHING, "enabled": True}
        post.anna.put(f"/me/webhooks/{webhook['id']}", gone)
        post.tell(started(post.anna, post.boris))
        watch.advance(1_000)
        post.tell(started(post.anna, post.boris))
        assert len(post.logged(post.anna, webhook)) == 1
        assert post.delivery(post.anna, NoticeKind.TURN).due == watch.now + MIN_DELAY_MS
        assert post.logged(post.anna, webhook)[0].outcome == "No connection was made: connection refused."

    def test_a_receiver_that_asks_for_fewer_requests_is_left_alone_meanwhile(
        self, post: Post, receiver: Receiver, watch: Watch
    ) -> None:
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

    def test_what_was_decided_for_a_webhook_that_is_off_or_gone_is_not_sent(
        self, post: Post, receiver: Receiver
    ) -> None:
        off, gone = post.webhook(post.anna, receiver), post.webhook(post.anna, receiver)
        match = started(post.anna, post.boris)
        post.decider.look_at_match(match, {1, 2, 3})
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


@contextlib.contextmanager
def killed_after(commands: int, monkeypatch: pytest.MonkeyPatch) -> Iterator[Event]:
    """Let the store carry out so many commands in the block; from then on no answer comes, as after a kill."""
    left, kill = [commands], Event()

    def dying(original: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **options: Any) -> Any:
            if kill.is_set():
                raise StoreUnavailableError("killed before")
            answer = original(*args, **options)
            left[0] -= 1
            if left[0] == 0:
                kill.set()
                raise StoreUnavailableError("killed here")
            return answer

        return call

    with monkeypatch.context() as patched:
        patched.setattr(StoreClient, "execute_command", dying(StoreClient.execute_command))
        patched.setattr(StorePipeline, "execute", dying(StorePipeline.execute))
        yield kill


def _unavailable(*_: Any, **__: Any) -> Any:
    raise StoreUnavailableError("killed here")
