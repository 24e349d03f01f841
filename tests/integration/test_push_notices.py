"""Notices by push, from a move to the browser: a real push service of the test takes the messages."""

import json
from collections.abc import Iterator
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from domain.match.commands import OfferDraw
from domain.match.terms import DAY
from events.notify.notice import DeliveryState, Notice, NoticeChannel
from events.notify.outbox import Dispatch, Purpose
from events.notify.push.encryption import MAX_PLAINTEXT_BYTES, encoded_point, to_base64url
from events.notify.push.payload import message, ttl_of
from events.notify.subscriptions import Subscription, subscription_id
from events.people.availability import with_calendar
from events.people.blocks import BLOCK
from events.people.person import Person
from events.runtime.egress import Egress
from events.runtime.errors import StoreUnavailableError
from events.runtime.keys import PeopleKeys
from events.runtime.notice_keys import PushKeys
from events.runtime.work_list import LEASE_MS
from tests.support.push_service import Browser, PushService, verified_claims
from tests.support.served_app import served
from tests.support.server import RealServer
from tests.support.stepped_installation import SteppedInstallation, drain
from tests.support.tables import table
from workers.composition import make_deliveries, make_push_sender
from workers.notices.push_sender import SIGNED_OUT, retry_after
from workers.notices.senders import Sender

PAGES = "https://rookery.example"


class PushOffice(SteppedInstallation):
    """An installation that sends push notices to the ``service`` at ``url``."""

    def __init__(self, server: str, service: PushService, url: str) -> None:
        super().__init__(server)
        settings = self.settings._replace(
            contact="mailto:operator@rookery.example", egress_allowed=("127.0.0.0/8",), page_url=PAGES
        )
        self.parts.settings = settings
        self.service = service
        self.url = url
        self._consumer = self.notices()
        self.begin_sending()

    def begin_sending(self, allowed: tuple[str, ...] = ("127.0.0.0/8",)) -> None:
        """Send with the present settings from now on, also to networks that are ``allowed``."""
        sender: Sender = make_push_sender(self.parts, Egress(allowed))
        self.office = make_deliveries(self.parts, {**self.senders, NoticeChannel.PUSH: sender})

    def sign_in(self, player: str) -> str:
        """Give ``player`` an account and a session; return the session's secret."""
        self.disturb(player)
        account = {"name": player.title(), "kind": "person", "created_at": self.now, "password": "-"}
        self.client.hset(PeopleKeys(self.settings.prefix).account(player), mapping=account)
        return self.parts.people.sessions.open(Person(player, player.title(), "person", self.now), 3600)

    def subscribe(self, player: str, name: str = "") -> Browser:
        """Let ``player`` sign in and subscribe in a browser."""
        browser = Browser(f"{self.url}/{name or player}")
        session = self.parts.people.credentials.key("session", self.sign_in(player))
        subscription = Subscription(
            id=subscription_id(browser.endpoint), endpoint=browser.endpoint, point=to_base64url(browser.point),
            secret=to_base64url(browser.secret), label="Firefox on Linux", session=session, created_at=self.now,
        )  # fmt: skip
        self.parts.subscriptions.save(player, subscription)
        return browser

    def tell(self) -> None:
        """Decide about all events, and send what is due."""
        drain(self._consumer)
        self.project_all()
        self.office.deliver_due()

    def test(self, player: str) -> None:
        """Send a test notice to the browser of ``player``."""
        (subscription,) = self.parts.subscriptions.of(player)
        dispatch = Dispatch(
            id=f"test {self.now}", player=player, channel=NoticeChannel.PUSH, target=subscription.id,
            purpose=Purpose.TEST, due=self.now, first_at=self.now,
        )  # fmt: skip
        assert self.outbox.add(dispatch)
        self.office.deliver_due()

    def health(self, player: str) -> Subscription:
        """Return the one subscription of ``player``."""
        (subscription,) = self.parts.subscriptions.of(player)
        return subscription

    def told(self, player: str) -> Notice:
        """Return the latest notice of ``player``."""
        return self.ledger.page(player).notices[0]


@pytest.fixture
def office(server: RealServer) -> Iterator[PushOffice]:
    service = PushService()
    with served(service.app) as url:
        yield PushOffice(server.url, service, url)


def read(browser: Browser, body: bytes) -> dict[str, Any]:
    content = json.loads(browser.decrypt(body))
    assert content.pop("web_push") == 8030
    notification: dict[str, Any] = content.pop("notification")
    assert content == {}
    return notification


def test_a_turn_reaches_the_browser_encrypted_and_signed(office: PushOffice) -> None:
    browser = office.subscribe("bob")
    office.sign_in("alice")
    match = office.start("alice", "bob")
    office.play(match, 1)
    office.tell()
    (sent,) = office.service.received
    notification = read(browser, sent.body)
    assert notification["title"] == "Your turn: Bashni against Alice"
    assert notification["body"].startswith("It is your turn in a match of Bashni. You have until ")
    assert notification["navigate"] == f"{PAGES}/matches/{match}"
    assert notification["tag"] == sent.headers["Topic"]
    assert (sent.headers["Content-Encoding"], sent.headers["Urgency"]) == ("aes128gcm", "normal")
    deadline = office.told("bob").deadline
    assert int(sent.headers["Ttl"]) == (deadline - office.now) // 1000
    claims, point = verified_claims(sent.headers["Authorization"])
    assert point == encoded_point(office.parts.push_key.read().public_key())
    assert claims == {"aud": office.url, "exp": office.now // 1000 + 43_200, "sub": "mailto:operator@rookery.example"}
    (delivery,) = office.told("bob").deliveries
    assert delivery.state == DeliveryState.SENT
    assert delivery.reason.endswith("has taken it for Firefox on Linux.")
    assert (office.health("bob").delivered_at, office.health("bob").answer) == (office.now, delivery.reason)


def test_news_of_a_match_replace_older_news_and_those_of_another_do_not(office: PushOffice) -> None:
    office.subscribe("bob")
    first, second = (office.start("alice", "bob") for _ in range(2))
    for match in (first, second):
        office.play(match, 1)
    office.tell()
    office.do(first, OfferDraw(player="alice"))
    office.tell()
    topics = [sent.headers["Topic"] for sent in office.service.received]
    assert len(topics) == 3
    assert len(set(topics)) == 2
    assert all(len(topic) <= 32 and topic.replace("-", "").replace("_", "").isalnum() for topic in topics)


def test_the_push_service_learns_nothing_from_the_length_of_a_message(office: PushOffice) -> None:
    browser = office.subscribe("bob")
    office.test("bob")
    office.play(office.start("alice", "bob"), 1)
    office.tell()
    test, turn = (sent.body for sent in office.service.received)
    assert read(browser, test) != read(browser, turn)
    assert (len(test), len(turn)) == (4096, 4096)


def test_nobody_is_named_whom_the_player_blocks(office: PushOffice) -> None:
    browser = office.subscribe("bob")
    office.sign_in("alice")
    office.parts.blocks.put("bob", "alice", BLOCK)
    office.play(office.start("alice", "bob"), 1)
    office.tell()
    (sent,) = office.service.received
    assert read(browser, sent.body)["title"] == "Your turn: Bashni"


def test_the_deadline_is_in_the_time_zone_of_the_player(office: PushOffice) -> None:
    browser = office.subscribe("bob")
    office.parts.availability.change("bob", lambda own: with_calendar(own, "Asia/Kolkata", [], office.now))
    office.play(office.start("alice", "bob"), 1)
    office.tell()
    (sent,) = office.service.received
    deadline = datetime.fromtimestamp(office.told("bob").deadline / 1000, ZoneInfo("Asia/Kolkata"))
    assert read(browser, sent.body)["body"].endswith(f"{deadline:%A, %-d %B, %H:%M}.")


@pytest.mark.parametrize("status", [401, 403, 404, 410])
def test_a_subscription_that_is_gone_is_removed_with_a_word(office: PushOffice, status: int) -> None:
    office.subscribe("bob")
    office.service.status = status
    office.play(office.start("alice", "bob"), 1)
    office.tell()
    health = office.health("bob")
    assert (health.endpoint, health.point, health.secret, health.session) == ("", "", "", "")
    assert health.ended.endswith(f"(status {status}).")
    (delivery,) = office.told("bob").deliveries
    assert delivery.state == DeliveryState.FAILED
    assert delivery.reason == f"{health.ended} Firefox on Linux was removed: switch notices on again there."


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_service_that_is_busy_is_asked_again(office: PushOffice, status: int) -> None:
    office.subscribe("bob")
    office.service.status = status
    office.service.headers = {"Retry-After": "120"}
    office.play(office.start("alice", "bob"), 1)
    office.tell()
    (delivery,) = office.told("bob").deliveries
    assert (delivery.state, delivery.due) == (DeliveryState.WAITING, office.now + 120_000)
    assert office.health("bob").answer.endswith(f"answered with status {status}.")
    assert office.health("bob").delivered_at is None
    office.now += 120_000
    office.service.status = 201
    office.office.deliver_due()
    (delivery,) = office.told("bob").deliveries
    assert delivery.state == DeliveryState.SENT
    assert office.health("bob").delivered_at == office.now


@pytest.mark.parametrize("status", [302, 400, 413])
def test_another_refusal_is_final_and_leaves_the_subscription(office: PushOffice, status: int) -> None:
    office.subscribe("bob")
    office.service.status = status
    office.service.headers = {"Location": f"{office.url}/elsewhere"}
    office.play(office.start("alice", "bob"), 1)
    office.tell()
    (delivery,) = office.told("bob").deliveries
    assert (delivery.state, len(office.service.received)) == (DeliveryState.FAILED, 1)
    assert delivery.reason.endswith(f"answered with status {status}.")
    assert office.health("bob").ended == ""


def test_a_service_in_a_network_that_is_not_allowed_is_not_called(office: PushOffice) -> None:
    office.subscribe("bob")
    office.begin_sending(allowed=())
    office.play(office.start("alice", "bob"), 1)
    office.tell()
    (delivery,) = office.told("bob").deliveries
    assert delivery.state == DeliveryState.FAILED
    assert "only public addresses are called" in delivery.reason
    assert office.service.received == []


def test_a_test_notice_is_tried_once_and_its_outcome_is_on_record(office: PushOffice) -> None:
    browser = office.subscribe("bob")
    office.test("bob")
    (sent,) = office.service.received
    notification = read(browser, sent.body)
    assert notification["body"] == "This is the test notice that you have asked for. Notices reach this browser."
    assert notification["navigate"] == f"{PAGES}/settings/notices"
    assert office.health("bob").delivered_at == office.now
    office.now += 1
    office.service.status = 500
    office.test("bob")
    assert office.outbox.next_due() is None
    assert office.health("bob").answer.endswith("answered with status 500.")


def test_who_signs_out_gets_no_more_notices_there(office: PushOffice) -> None:
    office.subscribe("bob")
    office.parts.people.sessions.end_all(Person("bob", "Bob", "person", 0))
    office.play(office.start("alice", "bob"), 1)
    office.tell()
    assert office.service.received == []
    assert office.health("bob").ended == SIGNED_OUT
    (delivery,) = office.told("bob").deliveries
    assert (delivery.state, delivery.reason) == (
        DeliveryState.NOT_SENT,
        f"Firefox on Linux gets no more notices. {SIGNED_OUT}",
    )


def test_the_browser_that_was_removed_before_a_notice_was_sent_gets_none(office: PushOffice) -> None:
    office.subscribe("bob")
    office.play(office.start("alice", "bob"), 1)
    drain(office._consumer)
    office.parts.subscriptions.remove("bob", office.health("bob").id)
    office.office.deliver_due()
    assert office.told("bob").deliveries[0].reason == "The browser was removed from your settings."
    assert office.service.received == []


def test_a_key_that_cannot_be_read_delays_notices_and_a_missing_contact_ends_them(office: PushOffice) -> None:
    office.subscribe("bob")
    office.parts.push_key.read()
    office.client.set(PushKeys(office.settings.prefix).private_key, b"AES-256-GCM:" + bytes(60))
    office.play(office.start("alice", "bob"), 1)
    office.tell()
    (delivery,) = office.told("bob").deliveries
    assert delivery.state == DeliveryState.WAITING
    assert delivery.reason == "This server cannot read its key: its operator has to mend that."
    office.parts.settings = office.parts.settings._replace(contact=None, page_url="http://127.0.0.1:8000")
    office.begin_sending()
    office.now += DAY // 2
    office.office.deliver_due()
    (delivery,) = office.told("bob").deliveries
    assert (delivery.state, office.service.received) == (DeliveryState.FAILED, [])


def test_a_message_sent_again_replaces_the_first(office: PushOffice, monkeypatch: pytest.MonkeyPatch) -> None:
    browser = office.subscribe("bob")
    office.play(office.start("alice", "bob"), 1)

    def killed(*_: object) -> None:
        raise StoreUnavailableError("killed before the record")

    with monkeypatch.context() as patched:
        patched.setattr(office.outbox, "finish", killed)
        with pytest.raises(StoreUnavailableError):
            office.tell()
    office.office.deliver_due()
    assert len(office.service.received) == 1, "the lease stands"
    office.now += LEASE_MS
    office.office.deliver_due()
    first, second = office.service.received
    assert first.headers["Topic"] == second.headers["Topic"]
    assert read(browser, first.body) == read(browser, second.body)
    (delivery,) = office.told("bob").deliveries
    assert delivery.state == DeliveryState.SENT
    assert office.outbox.next_due() is None


def test_every_browser_of_a_person_gets_a_notice(office: PushOffice) -> None:
    browsers = {name: office.subscribe("bob", name) for name in ("phone", "desk")}
    office.play(office.start("alice", "bob"), 1)
    office.tell()
    for sent in office.service.received:
        assert read(browsers[sent.path], sent.body)["title"]
    assert {sent.path for sent in office.service.received} == set(browsers)


def test_long_texts_are_cut_to_what_a_message_can_hold() -> None:
    content = message("ä" * 5000, "🙂" * 5000, f"{PAGES}/matches/m1", "t" * 24)
    assert len(content) <= MAX_PLAINTEXT_BYTES
    notification = json.loads(content)["notification"]
    assert (len(notification["title"]), notification["title"][-1]) == (120, "…")


@pytest.mark.parametrize(("header", "wait"), table(__file__, "a service may say when to ask again"))
def test_a_service_may_say_when_to_ask_again(header: str | None, wait: int | None) -> None:
    now = 1_800_000_000_000  # 15 January 2027, 08:00
    assert retry_after(header, now) == (None if wait is None else now + wait)


def test_a_message_is_kept_until_it_is_worth_nothing() -> None:
    assert [ttl_of(deadline, 1_000_000) for deadline in (None, 0, 1_090_000, 10**12)] == [604_800, 60, 90, 2_419_200]
