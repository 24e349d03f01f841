"""From a move to a notice: what people are told on an installation that is driven step by step."""

from typing import Any

import pytest

from domain.games import find_ruleset
from domain.match.commands import DeclineDraw, OfferDraw, RaiseDispute, Resign, SubmitMove
from domain.match.enums import Ground
from domain.match.state import Seat
from domain.match.terms import DAY, HOUR
from domain.match.vacation import booked
from events.notify.endpoints import Endpoint, EndpointKeys, PayloadForm
from events.notify.notice import DeliveryState, NoticeChannel, NoticeKind, Timing
from events.notify.outbox import Outbox, Purpose
from events.notify.policy import LOOK_AGAIN_MS, MINUTE_MS, NO_CHANNEL
from events.people.availability import with_calendar
from events.people.blocks import MUTE
from events.runtime.reads import read_alone
from tests.support.looks import look_at_match
from tests.support.post_office import PostOffice, prefer, say
from tests.support.server import RealServer
from tests.support.stepped_installation import legal_moves


@pytest.fixture
def office(server: RealServer) -> PostOffice:
    office = PostOffice(server.url)
    office.enrol("alice", "bob")
    return office


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
        look_at_match(office.observer, match, set(versions))
    assert [office.told(player) for player in ("alice", "bob")] == once
    office.pass_time(0)
    assert [len(each.notices) for each in office.mails()] == [sum(map(len, once))]


def test_what_is_outdated_when_it_would_be_sent_is_not_sent(office: PostOffice) -> None:
    match = office.start("alice", "bob")
    office.play(match, 1)
    office.decide()
    office.play(match, 1)
    office.pass_time(0)
    assert office.mails() == []
    (turn,) = office.told("bob")
    assert turn.deliveries[0].reason == "Not sent. You have moved meanwhile."


def test_a_move_with_a_draw_offer_is_one_mail(office: PostOffice) -> None:
    match = office.start("alice", "bob")
    (move, *_) = legal_moves(office.state(match))
    written = find_ruleset("bashni", 1).format_move(office.state(match).play.position, move)
    office.do(match, SubmitMove(player="alice", move=written, offer_draw=True))
    office.decide()
    office.pass_time(0)
    (mail,) = office.mails("bob")
    assert {each.kind for each in office.told("bob") if each.id in mail.notices} == {NoticeKind.TURN, NoticeKind.OFFER}


def test_what_waits_for_the_end_of_the_quiet_hours_comes_in_one_mail(office: PostOffice) -> None:
    prefer(office, "bob", quiet=(22, 7))
    matches = [office.start("alice", "bob") for _ in range(4)]
    for match in matches:
        office.play(match, 1)
    office.decide()
    office.pass_time(0)
    assert office.mails() == []
    office.play(matches[0], 1)
    seven = office.told("bob")[0].deliveries[0].due
    office.pass_time(seven - office.now)
    (mail,) = office.mails("bob")
    turns = [each for each in office.told("bob") if each.kind == NoticeKind.TURN]
    assert set(mail.notices) == {each.id for each in turns if each.match != matches[0]}
    assert {each.deliveries[0].state for each in turns if each.id in mail.notices} == {DeliveryState.SENT}


def test_the_first_turn_of_a_minute_is_told_at_once_and_the_others_in_one_mail_after_it(office: PostOffice) -> None:
    matches = [office.start("alice", "bob") for _ in range(3)]
    for match in matches:
        office.play(match, 1)
        office.decide()
        office.pass_time(1000)
    assert len(office.mails("bob")) == 1
    office.play(matches[0], 2)
    office.decide()
    office.pass_time(1000)
    assert [len(each.notices) for each in office.mails("bob")] == [1, 1], "the match that was just mailed about goes on"
    office.pass_time(2 * MINUTE_MS)
    assert [len(each.notices) for each in office.mails("bob")] == [1, 1, 2]


def test_what_two_workers_have_taken_at_the_same_time_is_one_mail(office: PostOffice) -> None:
    for match in [office.start("alice", "bob") for _ in range(3)]:
        office.play(match, 1)
    office.decide()
    first, second = office.outbox.take(), office.outbox.take()
    assert first is not None
    assert second is not None
    office.office.deliver(first)
    office.office.deliver(second)
    office.pass_time(HOUR)
    assert [len(each.notices) for each in office.mails("bob")] == [3]


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
    planned = office.parts.checks.work.next_due()[""]
    expected = read_alone(office.client, office.timekeeper.read_of_deadlines({match: "alice"}))[match]
    assert expected > deadline
    assert planned == expected - 24 * HOUR
    office.play(match, 1)
    office.pass_time(planned - office.now + 1)
    assert [each.kind for each in office.told("alice")] == [NoticeKind.TURN]
    assert office.parts.checks.work.contents("alice") == {}


def test_a_day_of_vacation_that_is_taken_automatically_is_told_once_and_silences_nothing(office: PostOffice) -> None:
    first, second = (office.start("alice", "bob") for _ in range(2))
    for match in (first, second):
        office.play(match, 2)
    office.decide()
    office.pass_time(0)
    office.settle_until_flag(first)
    for match in (first, second):
        office.timekeeper.settle(match, office.now)
    office.decide()
    office.pass_time(0)
    told = [each.summary for each in office.told("alice") if each.fact.startswith("vacation")]
    assert told == ["A day of vacation was taken for you, 29 days are left."]
    third = office.start("bob", "alice")
    office.play(third, 1)
    office.decide()
    office.pass_time(MINUTE_MS)
    (turn,) = (each for each in office.told("alice") if (each.match, each.kind) == (third, NoticeKind.TURN))
    assert turn.deliveries[0].state == DeliveryState.SENT, "a turn is told as on any other day"


def test_a_vacation_that_was_announced_holds_turns_until_it_ends(office: PostOffice) -> None:
    since, until = office.now, office.now + 7 * DAY
    office.parts.availability.change("alice", lambda own: own._replace(book=booked(own.book, since, until, since)))
    office.play(office.start("bob", "alice"), 1)
    office.decide()
    office.pass_time(0)
    assert office.mails("alice") == []
    assert office.told("alice")[0].deliveries[0].reason == "You are on vacation; sent when it ends."


def test_invitations_by_many_strangers_wait_for_the_digest_from_the_sixth_on(office: PostOffice) -> None:
    office.win("alice", "bob")
    office.project_all()
    by_alice, *_ = [
        office.create(Seat.taken(inviter), Seat.invited("bob"), creator=inviter)
        for inviter in ("alice", *(f"stranger-{number}" for number in range(7)))
    ]
    office.decide()
    office.pass_time(0)
    invitations = {each.match: each.deliveries[0] for each in office.told("bob") if each.kind == NoticeKind.INVITATION}
    assert invitations.pop(by_alice).state == DeliveryState.SENT, "they have played before"
    states = [each.state for each in invitations.values()]
    assert (states.count(DeliveryState.SENT), states.count(DeliveryState.WAITING)) == (5, 2)
    reasons = {each.reason for each in invitations.values() if each.state == DeliveryState.WAITING}
    assert reasons == {"Many people whom you have never played with have invited you today. Waits for your digest."}


def test_a_frozen_match_reminds_nobody(office: PostOffice) -> None:
    match = office.start("alice", "bob")
    office.play(match, 2)
    office.decide()
    raised = RaiseDispute(player="bob", ply=0, ground=Ground.CLOCK, statement="0" * 64)
    office.do(match, raised)
    office.decide()
    office.pass_time(20 * DAY)
    assert {each.kind for each in office.told("alice")} == {NoticeKind.TURN, NoticeKind.CASE}


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
        id="e1", url="https://bot.example/", kinds=(NoticeKind.TURN,), payload=PayloadForm.FULL, created_at=office.now,
        keys=(EndpointKeys(secret="", private_key=""),),
    )  # fmt: skip
    office.parts.endpoints.add("robot", endpoint)
    match = office.start("alice", "robot")
    office.play(match, 1)
    office.parts.presence.record("robot", match, True, office.now)
    office.decide()
    assert office.woken.is_set(), "the hints are woken"
    office.pass_time(0)
    assert [(each.player, each.target) for each in office.senders[NoticeChannel.WEBHOOK].sent] == [("robot", "e1")]
    office.do(match, OfferDraw(player="alice"))
    office.decide()
    assert office.told("robot")[0].reason == "Not sent, because no webhook of yours is told of offers and requests."


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
    stores: tuple[Any, ...] = (
        *(office.ledger, office.outbox, office.parts.checks),
        *(office.parts.preferences, office.parts.presence),
    )
    for store in stores:
        store.erase("bob")
    left = [key for key in office.client.keys("test:{n*bob*") if b"mail" not in key]
    assert left == []
    assert isinstance(office.outbox, Outbox)
    office.now = 2**52
    assert office.outbox.take() is None
