"""From a move to a notice: what people are told on an installation that is driven step by step."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from domain.match.commands import DeclineDraw, OfferDraw, RaiseDispute, Resign
from domain.match.enums import Ground
from domain.match.terms import DAY, HOUR
from events.notices.addresses import wants
from events.notices.endpoints import Endpoint, EndpointKeys, PayloadForm
from events.notices.kinds import DeliveryState, NoticeChannel, NoticeKind, Timing
from events.notices.notice import Notice
from events.notices.outbox import Dispatch, Outbox, Purpose
from events.notices.policy import LOOK_AGAIN_MS, MINUTE_MS, NO_CHANNEL
from events.people.blocks import MUTE
from events.private.availability import with_calendar
from events.runtime.errors import StoreUnavailableError
from events.runtime.keys import PeopleKeys
from events.runtime.settings import MailSettings
from events.store.contract import Request
from tests.support.server import RealServer
from tests.support.stepped_installation import SteppedInstallation, drain
from workers import consumers
from workers.notices.deliver import GIVE_UP_MS, LEASE_MS, MAX_AT_A_TIME, retry_at
from workers.notices.rounds import HINT_DELAYS_MS
from workers.notices.senders import Outcome

MAIL, PUSH, WEBHOOK = NoticeChannel


class PostOffice(SteppedInstallation):
    """An installation that sends mail, with people who have accounts and addresses."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.parts.settings = self.settings._replace(mail=MailSettings("smtp+plain://127.0.0.1:1", "mail.example.org"))
        self._consumer = self.notices()
        self.office = self.deliveries()

    def enrol(self, *players: str, kind: str = "person", mail: bool = True) -> None:
        """Give ``players`` accounts, and confirmed mail addresses."""
        for player in players:
            account = {"name": player.title(), "kind": kind, "created_at": self.now, "password": "-"}
            self.client.hset(PeopleKeys(self.settings.prefix).account(player), mapping=account)
            if mail:
                address = f"{player}@example.org"
                self.parts.addresses.change(player, partial(wants, address=address, now=self.now))
                assert self.parts.addresses.confirm(player, address, self.now)

    def decide(self) -> None:
        """Let the consumer look at all events."""
        drain(self._consumer)

    def pass_time(self, time_ms: int) -> None:
        """Let so much time pass, and happen what it makes due."""
        self.now += time_ms
        self.notice_rounds.do_round()
        self.office.deliver_due()

    def told(self, player: str) -> list[Notice]:
        """Return the ledger of ``player``, the latest first."""
        return self.ledger.page(player).notices

    def mails(self, player: str = "") -> list[Dispatch]:
        """Return the mails that were sent, to ``player`` if that is given."""
        return [each for each in self.senders[MAIL].sent if player in ("", each.player)]


@pytest.fixture
def office(server: RealServer) -> PostOffice:
    office = PostOffice(server.url)
    office.enrol("alice", "bob")
    return office


def prefer(office: PostOffice, player: str, **facts: Any) -> None:
    office.parts.preferences.change(player, lambda before: replace(before, **facts))


def test_a_player_is_told_of_a_turn_once_and_it_is_sent_once(office: PostOffice) -> None:
    match = office.start("alice", "bob")
    office.play(match, 1)
    office.decide()
    office.pass_time(0)
    (turn,) = office.told("bob")
    assert (turn.kind, turn.match, turn.summary) == (NoticeKind.TURN, match, "It is your turn in a match of Bashni.")
    assert [each.state for each in turn.deliveries] == [DeliveryState.SENT]
    assert [(each.player, each.notices) for each in office.mails()] == [("bob", (turn.id,))]
    assert [each.kind for each in office.told("alice")] == [], "who has moved is told of nothing"
    office.group("notices", "another").rewind()
    assert office.outbox.next_due() is None


def test_it_does_not_matter_how_often_and_in_which_order_events_are_delivered(office: PostOffice) -> None:
    match = office.start("alice", "bob")
    office.play(match, 3)
    office.do(match, OfferDraw(player="alice"))
    office.decide()
    once = [office.told(player) for player in ("alice", "bob")]
    version = office.state(match).version
    for versions in ([version], [2], [3, 5], range(1, version + 1), [version - 1]):
        office.decider.look_at_match(match, set(versions))
    assert [office.told(player) for player in ("alice", "bob")] == once
    office.pass_time(0)
    assert len(office.mails()) == sum(map(len, once))


def test_what_is_outdated_when_it_would_be_sent_is_not_sent(office: PostOffice) -> None:
    match = office.start("alice", "bob")
    office.play(match, 1)
    office.decide()
    office.play(match, 1)
    office.pass_time(0)
    assert office.mails() == []
    (turn,) = office.told("bob")
    assert turn.deliveries[0].reason == "Not sent. You have moved meanwhile."


def test_who_has_the_match_open_is_told_when_the_tab_was_left_without_a_move(office: PostOffice) -> None:
    match = office.start("alice", "bob")
    office.play(match, 1)
    office.parts.presence.record("bob", match, True, office.now)
    office.decide()
    office.pass_time(0)
    assert office.mails() == []
    office.parts.presence.record("bob", match, True, office.now + LOOK_AGAIN_MS)
    office.pass_time(LOOK_AGAIN_MS + 1000)
    assert office.mails() == [], "the tab is still open"
    office.pass_time(LOOK_AGAIN_MS + 1000)
    assert len(office.mails("bob")) == 1
    assert office.mails("bob")[0].attempts == 1


def test_a_digest_has_what_is_still_so(office: PostOffice) -> None:
    prefer(office, "bob", mail=dict.fromkeys(NoticeKind, Timing.DIGEST))
    first, second, third = (office.start("alice", "bob") for _ in range(3))
    for match in (first, second, third):
        office.play(match, 1)
    office.decide()
    office.play(second, 1)
    office.pass_time(DAY)
    (digest,) = office.mails("bob")
    assert digest.purpose == Purpose.DIGEST
    by_match = {each.match: each for each in office.told("bob") if each.kind == NoticeKind.TURN}
    assert set(digest.notices) == {by_match[first].id, by_match[third].id}
    assert by_match[second].deliveries[0].reason == "Not in your digest. You have moved meanwhile."


def test_a_digest_whose_notices_were_erased_is_over(office: PostOffice) -> None:
    prefer(office, "bob", mail=dict.fromkeys(NoticeKind, Timing.DIGEST))
    office.play(office.start("alice", "bob"), 1)
    office.decide()
    office.ledger.erase("bob")
    office.pass_time(DAY)
    assert office.mails() == []
    assert office.outbox.next_due() is None


def test_a_reminder_comes_before_the_deadline_once_and_only_to_who_is_to_move(office: PostOffice) -> None:
    match = office.start("alice", "bob")
    office.play(match, 2)
    office.decide()
    office.pass_time(0)
    deadline = office.told("alice")[0].deadline
    office.pass_time(deadline - 24 * HOUR - office.now - 1000)
    assert [each.kind for each in office.told("alice")] == [NoticeKind.TURN]
    office.pass_time(1000)
    office.pass_time(HOUR)
    assert [each.kind for each in office.told("alice")] == [NoticeKind.DEADLINE, NoticeKind.TURN]
    assert NoticeKind.DEADLINE not in {each.kind for each in office.told("bob")}
    assert len(office.mails("alice")) == 2


def test_a_reminder_follows_the_deadline_and_is_forgotten_with_the_turn(office: PostOffice) -> None:
    match = office.start("alice", "bob")
    office.play(match, 2)
    office.decide()
    deadline = office.told("alice")[0].deadline
    # The next days become free: the deadline moves.
    everything = (0, 1, 2, 3, 4)
    office.parts.availability.change("alice", lambda own: with_calendar(own, "UTC", everything[:2], office.now))
    office.pass_time(deadline - 24 * HOUR - office.now + 1000)
    (reminder,) = office.parts.looks.reminders_due(2**52)
    expected = office.timekeeper.expected_deadlines({match: "alice"})[match]
    assert expected > deadline
    assert reminder.at == expected - 24 * HOUR
    office.play(match, 1)
    office.pass_time(reminder.at - office.now + 1)
    assert [each.kind for each in office.told("alice")] == [NoticeKind.TURN]
    assert "alice" not in {each.player for each in office.parts.looks.reminders_due(2**52)}


def test_a_frozen_match_reminds_nobody(office: PostOffice) -> None:
    match = office.start("alice", "bob")
    office.play(match, 2)
    office.decide()
    raised = RaiseDispute(player="bob", ply=0, ground=Ground.CLOCK, statement="0" * 64)
    office.do(match, raised)
    office.decide()
    office.pass_time(20 * DAY)
    assert {each.kind for each in office.told("alice")} == {NoticeKind.TURN, NoticeKind.CASE}


def say(office: PostOffice, match: str, author: str) -> None:
    chats = office.parts.chats
    office.parts.looks.mark_chat(match, chats.length(match), office.now)
    chats.post(match, author, "the secret plan", Request(f"{author} {office.now}", ""))


def test_a_conversation_is_one_notice_without_a_word_of_it(office: PostOffice) -> None:
    match = office.start("alice", "bob")
    prefer(office, "bob", mail=dict.fromkeys(NoticeKind, Timing.AT_ONCE))
    for _ in range(3):
        say(office, match, "alice")
    office.pass_time(MINUTE_MS + 1000)
    (chat,) = office.told("bob")
    assert chat.kind == NoticeKind.CHAT
    assert "secret" not in str(chat)
    assert len(office.mails("bob")) == 1
    assert office.told("alice") == []
    office.parts.blocks.put("bob", "alice", MUTE)
    say(office, match, "alice")
    office.pass_time(MINUTE_MS + 1000)
    assert office.told("bob") == [chat], "who mutes the author is not told"
    say(office, match, "bob")
    office.pass_time(MINUTE_MS + 1000)
    assert [each.kind for each in office.told("alice")] == [NoticeKind.CHAT]


def test_who_has_no_channel_reads_why_and_a_guest_costs_nothing(office: PostOffice) -> None:
    office.enrol("carol", mail=False)
    office.enrol("guest", kind="guest", mail=False)
    for player in ("carol", "guest", "nobody"):
        office.play(office.start("alice", player), 1)
    office.decide()
    assert [each.reason for each in office.told("carol")] == [NO_CHANNEL]
    assert office.told("guest") == office.told("nobody") == []
    assert office.outbox.next_due() is None


def test_a_webhook_is_told_of_what_it_has_chosen_at_once(office: PostOffice) -> None:
    office.enrol("robot", mail=False)
    endpoint = Endpoint(
        id="e1",
        url="https://bot.example/",
        kinds=(NoticeKind.TURN,),
        payload=PayloadForm.FULL,
        created_at=office.now,
        keys=(EndpointKeys(secret="", private_key=""),),
    )
    office.parts.endpoints.add("robot", endpoint)
    match = office.start("alice", "robot")
    office.play(match, 1)
    office.parts.presence.record("robot", match, True, office.now)
    office.decide()
    assert office.notice_rounds.do_round() == 1, "the workers are woken"
    office.pass_time(0)
    assert [(each.player, each.target) for each in office.senders[WEBHOOK].sent] == [("robot", "e1")]
    office.do(match, OfferDraw(player="alice"))
    office.decide()
    assert office.told("robot")[0].reason == "Not sent, because no webhook of yours is told of offers and requests."


def test_what_cannot_be_sent_is_tried_again_and_given_up_after_days(office: PostOffice) -> None:
    down = Outcome(DeliveryState.WAITING, "The mail server cannot be reached.")
    office.senders[MAIL].answer = lambda _: down
    match = office.start("alice", "bob")
    office.play(match, 1)
    office.decide()
    attempts = 0
    while office.now < office.told("bob")[0].at + DAY:
        due = office.outbox.next_due()
        office.pass_time(max(0, due - office.now))
        attempts += 1
    assert 10 < attempts < 20
    delivery = office.told("bob")[-1].deliveries[0]
    assert (delivery.state, delivery.reason) == (DeliveryState.WAITING, down.reason)
    office.senders[MAIL].answer = lambda _: Outcome(DeliveryState.SENT, "Accepted.")
    office.pass_time(4 * HOUR + HOUR)
    assert len(office.mails("bob")) == 1, "a day later nothing is lost"
    letter = replace(office.mails("bob")[0], id="given-up", purpose=Purpose.LETTER, notices=(), due=office.now)
    office.outbox.add(replace(letter, first_at=office.now - GIVE_UP_MS - 1))
    office.senders[MAIL].answer = lambda _: down
    office.pass_time(0)
    assert office.outbox.of("bob") == []


def test_attempts_are_spread_and_rarer_each_time() -> None:
    dispatch = Dispatch(id="d", player="a", channel=MAIL, purpose=Purpose.LETTER, due=0, first_at=0)
    delays = [retry_at(replace(dispatch, attempts=attempt), 0) for attempt in range(1, 12)]
    assert 45_000 <= delays[0] <= 75_000
    assert max(delays) <= 5 * HOUR
    assert len({retry_at(replace(dispatch, id=str(number), attempts=1), 0) for number in range(50)}) > 40


def test_a_match_that_cannot_be_replayed_keeps_nothing_else_from_being_sent(
    office: PostOffice, monkeypatch: pytest.MonkeyPatch
) -> None:
    office.play(office.start("alice", "bob"), 1)
    office.decide()
    office.outbox.add(
        Dispatch(id="t", player="bob", channel=MAIL, purpose=Purpose.TEST, due=office.now, first_at=office.now)
    )
    monkeypatch.setattr("workers.notices.deliver.why_outdated", lambda *_: 1 / 0)
    office.pass_time(HOUR)
    assert [each.id for each in office.mails()] == ["t"]
    assert office.told("bob")[0].deliveries[0].reason == "Not sent. The match cannot be read."


def test_a_sender_that_fails_itself_is_tried_again_a_few_times(office: PostOffice) -> None:
    def fail(_: Dispatch) -> Outcome:
        raise ZeroDivisionError

    office.senders[MAIL].answer = fail
    office.play(office.start("alice", "bob"), 1)
    office.decide()
    for _ in range(10):
        office.pass_time(HOUR)
    (turn,) = office.told("bob")
    assert (turn.deliveries[0].state, turn.deliveries[0].attempts) == (DeliveryState.FAILED, 5)
    assert turn.deliveries[0].reason == "The server failed at sending it; this is a fault of Rookery."


def test_a_match_that_cannot_be_read_keeps_no_other_from_being_looked_at(
    office: PostOffice, monkeypatch: pytest.MonkeyPatch
) -> None:
    damaged, whole = office.start("alice", "bob"), office.start("alice", "bob")
    for match in (damaged, whole, "never there"):
        say(office, match, "alice")
    load = office.matches.load

    def failing(match_id: str) -> object:
        if match_id == damaged:
            raise ValueError("damaged")
        return load(match_id)

    monkeypatch.setattr(office.matches, "load", failing)
    office.pass_time(MINUTE_MS + 1000)
    assert [each.match for each in office.told("bob")] == [whole]
    assert office.parts.looks.chats_due(2**52) == [damaged]
    monkeypatch.setattr(office.matches, "load", load)
    office.pass_time(1000)
    assert len(office.told("bob")) == 1, "it is tried less often"
    office.pass_time(MINUTE_MS)
    assert {each.match for each in office.told("bob")} == {damaged, whole}


def test_a_channel_that_hangs_holds_up_no_other_one(office: PostOffice) -> None:
    def letter(number: int, channel: NoticeChannel = WEBHOOK) -> Dispatch:
        player = f"p{number // 3}"
        return Dispatch(
            id=f"t{number}", player=player, channel=channel, purpose=Purpose.TEST, due=office.now, first_at=office.now
        )

    for number in range(12):
        office.outbox.add(letter(number))
    hanging = 0

    def hang(_: Dispatch) -> Outcome:
        # While this one hangs, the other threads of the worker take what else is due.
        nonlocal hanging
        hanging += 1
        office.office.deliver_due(100)
        return Outcome(DeliveryState.FAILED, "The receiver did not answer.")

    office.senders[WEBHOOK].answer = hang
    office.outbox.add(letter(100, MAIL))
    office.office.deliver_due(1)
    assert hanging == MAX_AT_A_TIME
    assert [each.id for each in office.mails()] == ["t100"]
    assert all(each.attempts == 0 for each in office.outbox.of("p3"))
    office.pass_time(MINUTE_MS)
    assert office.outbox.next_due() > office.now - MINUTE_MS, "the others had their turn"


def test_what_a_player_has_asked_for_is_sent_in_quiet_hours_too(office: PostOffice) -> None:
    prefer(office, "bob", quiet=(0, 23), mail=dict.fromkeys(NoticeKind, Timing.AT_ONCE))
    office.play(office.start("alice", "bob"), 1)
    office.decide()
    office.pass_time(0)
    (turn,) = office.told("bob")
    assert office.mails() == []
    assert office.ledger.send_again("bob", turn.id, MAIL, "", office.now)
    office.pass_time(1)
    assert [each.notices for each in office.mails("bob")] == [(turn.id,)]


def test_hints_are_given_for_what_is_due_and_more_seldom_while_nothing_changes(office: PostOffice) -> None:
    match = office.start("alice", "bob")
    office.play(match, 1)
    office.decide()
    assert office.notice_rounds.do_round() == 1
    assert office.notice_rounds.do_round() == 0
    office.now += int(HINT_DELAYS_MS.first)
    assert office.notice_rounds.do_round() == 1
    office.now += int(HINT_DELAYS_MS.first)
    assert office.notice_rounds.do_round() == 0
    office.do(match, OfferDraw(player="alice"))
    office.decide()
    assert office.notice_rounds.do_round() == 2, "something new is to be sent"


class CutOff:
    """Lets the store fail at the n-th call of a kind, before or after it was carried out."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, owner: object, name: str, after: bool) -> None:
        whole: Callable[..., Any] = getattr(owner, name)
        self.left = 1

        def failing(*args: Any, **options: Any) -> Any:
            if not self.left:
                return whole(*args, **options)
            self.left = 0
            if after:
                whole(*args, **options)
            raise StoreUnavailableError("cut off")

        monkeypatch.setattr(owner, name, failing)


STEPS = ["ledger.is_decided", "ledger.decide", "looks.remind", "outbox.take", "ledger.find", "outbox.finish"]


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("step", STEPS)
def test_a_fault_at_any_step_loses_and_doubles_nothing(
    office: PostOffice, monkeypatch: pytest.MonkeyPatch, step: str, after: bool
) -> None:
    match = office.start("alice", "bob")
    office.play(match, 1)
    monkeypatch.setattr(consumers, "MIN_CLAIM_IDLE_MS", 0)
    owner, name = step.split(".")
    fault = CutOff(monkeypatch, getattr(office.parts, owner), name, after)
    for _ in range(3):
        try:
            office.now += LEASE_MS
            office.decide()
            office.pass_time(LEASE_MS)
        except StoreUnavailableError:
            continue
    assert not fault.left
    (turn,) = office.told("bob")
    assert [each.state for each in turn.deliveries] == [DeliveryState.SENT]
    # What was sent and could not be recorded is the one case in which only the receiver can tell.
    assert len(office.mails("bob")) == (2 if (step, after) == ("outbox.finish", False) else 1)
    assert len({each.id for each in office.mails("bob")}) == 1
    assert office.outbox.next_due() is None


def test_an_upgraded_store_floods_nobody(office: PostOffice) -> None:
    over, running = office.start("alice", "bob"), office.start("alice", "bob")
    office.play(over, 5)
    office.do(over, OfferDraw(player="alice"))
    office.do(over, DeclineDraw(player="bob"))
    office.do(over, Resign(player="bob"))
    office.play(running, 5)
    office.now += 40 * DAY
    office.decide()
    office.pass_time(0)
    assert office.mails() == []
    (turn,) = office.told("bob")
    assert turn.reason == "Not sent, because it was more than a day old when it was first seen."
    assert office.told("alice") == []


def test_nothing_of_the_ledger_is_left_of_an_erased_person(office: PostOffice) -> None:
    office.play(office.start("alice", "bob"), 1)
    office.decide()
    assert office.client.keys("test:{n*bob*")
    stores: tuple[Any, ...] = (office.ledger, office.outbox, office.parts.preferences, office.parts.presence)
    for store in stores:
        store.erase("bob")
    left = [key for key in office.client.keys("test:{n*bob*") if b"mail" not in key]
    assert left == []
    assert isinstance(office.outbox, Outbox)
    assert office.outbox.take(2**52, 1) is None
