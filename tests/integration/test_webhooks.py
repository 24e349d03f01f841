"""Webhooks on their way: what receivers get, and what they answer."""

import contextlib
import json
import time
from collections.abc import Callable, Iterator
from itertools import count
from threading import Event
from typing import Any

import pytest
from standardwebhooks.webhooks import Webhook

from domain.match.enums import Channel
from events.notify.notice import DeliveryState, NoticeChannel, NoticeKind
from events.people.person import Suspension
from events.runtime.connections import StoreClient, StorePipeline
from events.runtime.errors import StoreUnavailableError
from events.runtime.work_list import LEASE_MS
from tests.support.callers import ME, OPEN, Caller, invited, started
from tests.support.receivers import Received, Receiver, Reply, answering, receiving
from tests.support.server import RealServer
from tests.support.watch import Watch
from tests.support.webhook_post import Post, only, plays_first
from tests.support.webhook_receiver import verified_schemes
from workers.composition import make_deliveries, make_senders


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


class TestBeingTold:
    def test_a_webhook_is_signed_as_published_receivers_want(self, server: RealServer, receiver: Receiver) -> None:
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
        post.deliveries = make_deliveries(post.services, make_senders(post.services))
        post.tell(started(post.anna, post.boris))
        assert receiver.received == []
        (attempt,) = post.logged(post.anna, webhook)
        assert (attempt.status, attempt.outcome) == (
            None,
            "The host 127.0.0.1 is of this machine (loopback): only public addresses are called.",
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


@contextlib.contextmanager
def killed_after(commands: int, monkeypatch: pytest.MonkeyPatch) -> Iterator[Event]:
    """Let the store carry out this number of commands in the block and answer no more, as after a kill."""
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
