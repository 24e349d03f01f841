"""From the outbox to the senders: what is tried again, in which order, and what faults leave of it."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from domain.match.commands import OfferDraw
from domain.match.terms import DAY, HOUR
from events.notify.notice import DeliveryState, NoticeChannel, NoticeKind, Timing
from events.notify.outbox import Dispatch, Purpose
from events.notify.policy import MINUTE_MS
from events.runtime.errors import StoreUnavailableError
from events.runtime.work_list import LEASE_MS
from tests.support.post_office import PostOffice, prefer, say
from tests.support.server import RealServer
from workers import consumers
from workers.hints import DELAYS_MS, ListHints
from workers.notices.deliver import GIVE_UP_MS, SHARES, retry_at
from workers.notices.senders import SendOutcome

MAIL, WEBHOOK = NoticeChannel.MAIL, NoticeChannel.WEBHOOK


@pytest.fixture
def office(server: RealServer) -> PostOffice:
    office = PostOffice(server.url)
    office.enrol("alice", "bob")
    return office


def test_what_cannot_be_sent_is_tried_again_and_given_up_after_days(office: PostOffice) -> None:
    down = SendOutcome(DeliveryState.WAITING, "The mail server cannot be reached.")
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
    office.senders[MAIL].answer = lambda _: SendOutcome(DeliveryState.SENT, "Accepted.")
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


def test_an_unreplayable_match_keeps_nothing_else_waiting(office: PostOffice, monkeypatch: pytest.MonkeyPatch) -> None:
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
    def fail(_: Dispatch) -> SendOutcome:
        raise ZeroDivisionError

    office.senders[MAIL].answer = fail
    office.play(office.start("alice", "bob"), 1)
    office.decide()
    for _ in range(10):
        office.pass_time(HOUR)
    (turn,) = office.told("bob")
    assert (turn.deliveries[0].state, turn.deliveries[0].attempts) == (DeliveryState.FAILED, 5)
    assert turn.deliveries[0].reason == "The server failed at sending it; this is a fault of Rookery."


def test_an_unreadable_match_keeps_no_other_waiting(office: PostOffice, monkeypatch: pytest.MonkeyPatch) -> None:
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
    assert office.parts.checks.work.count() == {"": 1}
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
    hanging, most = 0, 0

    def hang(_: Dispatch) -> SendOutcome:
        # While this one hangs, the other threads of the worker take what else is due.
        nonlocal hanging, most
        hanging += 1
        most = max(most, hanging)
        office.office.deliver_due()
        hanging -= 1
        return SendOutcome(DeliveryState.FAILED, "The receiver did not answer.")

    office.senders[WEBHOOK].answer = hang
    office.outbox.add(letter(100, MAIL))
    office.office.deliver_due()
    assert most == SHARES[WEBHOOK]
    assert [each.id for each in office.mails()] == ["t100"]
    assert office.outbox.next_due() is None


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
    given: list[str] = []
    hints = ListHints(office.outbox.work, given.append, most=8)
    match = office.start("alice", "bob")
    office.play(match, 1)
    office.decide()
    assert [hints.give(office.now), hints.give(office.now)] == [1, 0]
    office.now += int(DELAYS_MS.first)
    assert [hints.give(office.now), hints.give(office.now)] == [1, 0]
    office.now += int(DELAYS_MS.first)
    assert hints.give(office.now) == 0
    office.do(match, OfferDraw(player="alice"))
    office.decide()
    assert office.woken.is_set()
    assert hints.give(office.now, woken=True) == 2, "something new is to be sent"
    assert set(given) == {MAIL}


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


STEPS = [
    "ledger.is_decided", "ledger.decide", "checks.remind", "outbox.take", "ledger.find_all", "outbox.gather",
    "outbox.finish",
]  # fmt: skip


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("step", STEPS)
def test_faults_lose_nothing(office: PostOffice, monkeypatch: pytest.MonkeyPatch, step: str, after: bool) -> None:
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
