"""Ledger and outbox: a notice and what is to be sent for it change in one step, and nothing is sent twice or lost."""

from dataclasses import replace
from typing import Any

import pytest

from events.notify.ledger import DECIDED_KNOWN_MS, KEPT_MS, MAX_NOTICES, Ledger
from events.notify.notice import DeliveryState, Notice, NoticeChannel, NoticeDelivery, NoticeKind, notice_id
from events.notify.outbox import FINISHED_KNOWN_MS, Dispatch, Letter, Outbox, Purpose
from events.notify.preferences import PreferencesStore
from events.notify.presence import PRESENT_MS, Presence
from events.notify.scheduled_checks import GATHER_MS, ScheduledChecks
from events.runtime.connections import StoreClient
from events.runtime.work_list import LEASE_MS
from tests.support.matches import T0

SHARDS = 4
MAIL = NoticeChannel.MAIL


class Desk:
    def __init__(self, client: StoreClient) -> None:
        self.client = client
        self.now = T0
        self.ledger = Ledger(client, "test:", SHARDS)
        self.outbox = Outbox(client, "test:", SHARDS, lambda: self.now)

    def decide(self, fact: str = "turn:m:1", player: str = "alice", digest: bool = False, **facts: Any) -> Notice:
        made = notice(fact, player, **facts)
        assert self.ledger.decide(made, digest=digest)
        return made

    def take(self, now: int = T0) -> Dispatch | None:
        self.now = now
        return self.outbox.take()


@pytest.fixture
def desk(redis: StoreClient) -> Desk:
    return Desk(redis)


def notice(
    fact: str = "turn:m:1", player: str = "alice", due: int | None = T0, at: int = T0, match: str = "m"
) -> Notice:
    state = DeliveryState.NOT_SENT if due is None else DeliveryState.WAITING
    return Notice(
        id=notice_id(fact, player), player=player, kind=NoticeKind.TURN, match=match, version=3, fact=fact,
        summary="It is your turn.", reason="You want to be told at once.", at=at, decided_at=at,
        deliveries=(NoticeDelivery(channel=MAIL, state=state, reason="at once", due=due, at=at),),
    )  # fmt: skip


def letter(id: str = "letter", player: str = "alice", due: int = T0) -> Dispatch:
    content = Letter(to="alice@example.org", subject="Confirm", text="…")
    return Dispatch(id=id, player=player, channel=MAIL, purpose=Purpose.LETTER, letter=content, due=due, first_at=due)


def test_a_notice_of_a_turn_that_lasts_for_weeks_is_not_decided_again(desk: Desk) -> None:
    desk.decide()
    weeks_later = T0 + 6 * DECIDED_KNOWN_MS
    desk.decide("turn:m:2", at=weeks_later)
    assert not desk.ledger.decide(notice(at=weeks_later))
    assert desk.ledger.is_decided("alice", notice_id("turn:m:1", "alice"))


def test_a_notice_is_decided_once_and_sent_once(desk: Desk) -> None:
    made = desk.decide()
    assert not desk.ledger.decide(made)
    taken = desk.take()
    assert (taken.purpose, taken.notices, taken.attempts, taken.due) == (Purpose.NOTICE, (made.id,), 1, T0)
    assert desk.take() is None
    desk.outbox.finish(taken, DeliveryState.SENT, "accepted", T0 + 5)
    found = desk.ledger.find("alice", made.id)
    assert found.summary == made.summary
    assert [(each.state, each.reason, each.due, each.attempts) for each in found.deliveries] == [
        (DeliveryState.SENT, "accepted", None, 1)
    ]
    assert desk.take(T0 + 10 * LEASE_MS) is None
    assert not desk.ledger.decide(made)


def test_what_a_killed_worker_has_leased_comes_back_when_the_lease_ends(desk: Desk) -> None:
    desk.decide()
    first = desk.take()
    assert desk.take(T0 + LEASE_MS - 1) is None
    second = desk.take(T0 + LEASE_MS)
    assert (second.id, second.attempts) == (first.id, 2)
    desk.outbox.postpone(first, T0 + LEASE_MS + 1, "the worker that was thought dead", T0)
    assert desk.take(T0 + LEASE_MS + 1) is None, "only who has taken it last may postpone it"
    desk.outbox.finish(first, DeliveryState.FAILED, "the worker that was thought dead", T0)
    desk.outbox.finish(second, DeliveryState.SENT, "accepted", T0)
    assert desk.ledger.find("alice", first.notices[0]).deliveries[0].state == DeliveryState.SENT


def test_what_is_postponed_is_due_again_at_its_instant_and_the_ledger_names_it(desk: Desk) -> None:
    made = desk.decide()
    desk.outbox.postpone(desk.take(), T0 + 500, "the server answered 451", T0 + 1)
    delivery = desk.ledger.find("alice", made.id).deliveries[0]
    assert (delivery.state, delivery.reason, delivery.due) == (
        DeliveryState.WAITING,
        "the server answered 451",
        T0 + 500,
    )
    assert desk.outbox.next_due() == T0 + 500
    assert desk.take(T0 + 499) is None
    assert desk.take(T0 + 500).attempts == 2


def test_a_letter_is_added_once_even_after_it_was_sent(desk: Desk) -> None:
    assert desk.outbox.add(letter())
    assert not desk.outbox.add(letter())
    taken = desk.take()
    assert taken.letter == letter().letter
    desk.outbox.finish(taken, DeliveryState.SENT, "accepted", T0)
    assert not desk.outbox.add(letter())
    desk.outbox.add(letter("another"))
    desk.outbox.finish(desk.take(), DeliveryState.SENT, "accepted", T0 + FINISHED_KNOWN_MS + 1)
    assert desk.outbox.add(letter()), "thirty days later it is not recognised any more"


def test_notices_gather_in_one_digest(desk: Desk) -> None:
    due = T0 + 1000
    first, second = (desk.decide(f"turn:m:{ply}", due=due, digest=True) for ply in (1, 2))
    desk.decide("turn:m:3", due=due + 86_400_000, digest=True)
    taken = desk.take(due)
    assert taken.purpose == Purpose.DIGEST
    digest = desk.outbox.gather(taken, desk.outbox.of("alice"), due)
    assert set(digest.notices) == {first.id, second.id}
    assert desk.take(due) is None
    desk.outbox.drop(digest, second.id, "You have moved meanwhile.", due)
    assert desk.ledger.find("alice", second.id).deliveries[0].state == DeliveryState.NOT_SENT
    late = desk.decide("turn:m:4", due=due, digest=True)
    desk.outbox.finish(replace(digest, notices=(first.id,)), DeliveryState.SENT, "accepted", due)
    assert desk.ledger.find("alice", late.id).deliveries[0].state == DeliveryState.WAITING
    follow_up = desk.take(due)
    assert follow_up.notices == (late.id,)
    assert follow_up.id != digest.id, "it is another mail"


def test_nothing_is_recorded_of_a_notice_that_was_erased_meanwhile(desk: Desk) -> None:
    made = desk.decide()
    taken = desk.take()
    desk.ledger.erase("alice")
    desk.outbox.drop(taken, made.id, "You have moved meanwhile.", T0)
    desk.outbox.finish(taken, DeliveryState.NOT_SENT, "Nothing of it was still to be told.", T0)
    assert desk.ledger.find("alice", made.id) is None


def test_a_ledger_is_bounded_and_says_how_much_was_dropped(desk: Desk) -> None:
    oldest = desk.decide("turn:m:0", due=None, at=T0 - KEPT_MS)
    for ply in range(1, MAX_NOTICES + 3):
        desk.decide(f"turn:m:{ply}", due=None, at=T0 + ply)
    page = desk.ledger.page("alice", limit=MAX_NOTICES + 10)
    assert (len(page.notices), page.dropped) == (MAX_NOTICES, 3)
    assert desk.ledger.find("alice", oldest.id) is None
    assert not desk.ledger.decide(notice("turn:m:1", due=None, at=T0 + 1)), (
        "what was dropped recently is still recognised"
    )


def test_a_notice_is_sent_again_with_the_same_id(desk: Desk) -> None:
    made = desk.decide()
    desk.outbox.postpone(desk.take(), T0, "they are watching", T0, tried=False)
    assert desk.ledger.find("alice", made.id).deliveries[0].attempts == 0
    desk.outbox.finish(desk.take(), DeliveryState.FAILED, "550 no such user", T0)
    assert desk.ledger.find("alice", made.id).deliveries[0].attempts == 1
    assert desk.ledger.send_again("alice", made.id, MAIL, "", T0 + 9)
    assert desk.ledger.find("alice", made.id).deliveries[0].state == DeliveryState.WAITING
    again = desk.take(T0 + 9)
    assert (again.notices, again.requested) == ((made.id,), True)
    assert desk.ledger.send_again("alice", made.id, NoticeChannel.WEBHOOK, "endpoint", T0 + 9)
    assert len(desk.ledger.find("alice", made.id).deliveries) == 2
    assert not desk.ledger.send_again("alice", "unknown", MAIL, "", T0)


def test_sending_again_what_waits_sends_it_now_and_once(desk: Desk) -> None:
    made = desk.decide(due=T0 + 1000)
    assert desk.ledger.send_again("alice", made.id, MAIL, "", T0)
    assert desk.take().requested
    assert desk.ledger.send_again("alice", made.id, MAIL, "", T0), "it is being sent at this moment"
    assert desk.take(T0 + 1000) is None


def test_what_is_sent_again_is_in_no_digest(desk: Desk) -> None:
    made = desk.decide(due=T0 + 5, digest=True)
    assert desk.ledger.send_again("alice", made.id, MAIL, "", T0)
    again = desk.take()
    assert (again.notices, again.purpose) == ((made.id,), Purpose.NOTICE)
    assert desk.take(T0 + 5) is None


def test_erasure_leaves_nothing_of_a_person(desk: Desk) -> None:
    client = desk.client
    others = PreferencesStore(client, "test:", SHARDS), Presence(client, "test:", SHARDS)
    others[0].change("alice", lambda before: before)
    others[1].record("alice", "m", True, T0)
    desk.decide("turn:m:1")
    desk.decide("turn:m:2", digest=True)
    desk.outbox.finish(desk.take(), DeliveryState.SENT, "accepted", T0)
    for store in (desk.ledger, desk.outbox, *others):
        store.erase("alice")
    assert list(client.scan_iter()) == [b"test:{n03}:outcomes"], "how many were sent, to no matter whom"
    assert client.hgetall("test:{n03}:outcomes") == {b"mail sent": b"1"}


def test_a_chat_is_checked_once_and_again_when_it_was_marked_meanwhile(redis: StoreClient) -> None:
    now = [T0]
    checks = ScheduledChecks(redis, "test:", SHARDS, lambda: now[0])
    checks.mark_chat("m", 0, T0)
    checks.mark_chat("m", 1, T0 + 5)
    assert checks.take() is None
    now[0] += GATHER_MS
    assert checks.unread_messages(checks.take(), 2) == range(2)
    now[0] += LEASE_MS
    again = checks.take()
    assert checks.unread_messages(again, 3) == range(2), "repeated after a kill it is about the same messages"
    checks.mark_chat("m", 1, now[0])
    checks.finish(again, range(2))
    checks.finish(again, range(2))
    now[0] += GATHER_MS
    following = checks.take()
    assert checks.unread_messages(following, 3) == range(2, 3), "nobody is told of a message twice"
    checks.finish(following, range(2, 3))
    assert list(redis.scan_iter()) == []
    checks.mark_chat("m", 3, now[0])
    checks.finish(following, range(2, 3))
    assert checks.work.count() == {"": 1}, "who is late does not remove a new mark"


def test_a_reminder_is_removed_unless_it_was_replaced(redis: StoreClient) -> None:
    now = [T0]
    checks = ScheduledChecks(redis, "test:", SHARDS, lambda: now[0])
    checks.remind("m", "alice", T0)
    first = checks.take()
    assert (first.match, first.player) == ("m", "alice")
    checks.remind("m", "alice", T0 + 5)
    checks.finish(first)
    assert checks.take() is None
    now[0] += 5
    checks.finish(checks.take())
    assert list(redis.scan_iter()) == []


def test_presence_ends_with_the_tab_or_when_nothing_is_heard_of_it(redis: StoreClient) -> None:
    presence = Presence(redis, "test:", SHARDS)
    presence.record("alice", "m", True, T0)
    assert presence.watching("alice", "m", T0 + PRESENT_MS - 1)
    assert not presence.watching("alice", "m", T0 + PRESENT_MS)
    assert not presence.watching("alice", "other", T0)
    presence.record("alice", "m", False, T0 + 1)
    assert not presence.watching("alice", "m", T0 + 1)
