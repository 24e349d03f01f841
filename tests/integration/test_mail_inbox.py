"""The inbox, and what is sent by mail over a real SMTP conversation."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from domain.match.terms import DAY
from events.notify import letters
from events.notify.addresses import MailAddress, stopped, wants
from events.notify.inbox import (
    DAY_MS,
    MAX_WAITING,
    MEMORY_DAYS,
    REFUSALS_S,
    Inbox,
    ReceivedMail,
    Verdict,
    mail_digest,
    text_digest,
)
from events.notify.mail.tokens import MatchToken, PlayerToken, TokenKind
from events.notify.notice import DeliveryState, NoticeChannel, NoticeKind
from events.notify.outbox import Dispatch, Purpose
from events.runtime.connections import StoreClient
from events.runtime.keys import shard_of
from events.runtime.notice_keys import NoticeKeys
from events.store.contract import Request
from tests.support.mail_world import ADDRESS, DOMAIN, NOTICE, World, text_of
from tests.support.mailbox import Mailbox, open_mailbox
from tests.support.server import RealServer

NOW = 1_700_000_000_000
SHARDS = 4


def inbox(redis: StoreClient, now: int = NOW) -> Inbox:
    return Inbox(redis, "test:", SHARDS, lambda: now)


def mail(name: str = "1", player: str = "palice", at: int = NOW) -> ReceivedMail:
    return ReceivedMail(
        digest=mail_digest(f"<{name}@home.example>", "r-x", b""), player=player, recipient="r-x",
        return_path="alice@home.example", sender="alice@home.example", subject="Re: Your turn", size=5, at=at,
    )  # fmt: skip


def test_a_mail_that_comes_twice_is_read_once(redis: StoreClient) -> None:
    box = inbox(redis)
    assert box.add(mail(), b"a3-b4")
    assert box.add(mail(), b"a3-b4")
    taken = box.take()
    assert taken is not None
    assert taken[:3] == (mail(), b"a3-b4", 1)
    assert box.take() is None
    box.finish(taken, Verdict.READ, "1 move was played.", answered=True)
    assert box.add(mail(), b"a3-b4")
    assert not box.work.next_due()
    (known,) = box.recent("palice", 10)
    assert (known.verdict, known.reason, known.answered, known.recipient) == (
        Verdict.READ,
        "1 move was played.",
        True,
        "",
    )


def test_the_full_inbox_of_one_person_does_not_stop_mail_to_another(redis: StoreClient) -> None:
    box = inbox(redis)
    added = [box.add(mail(str(number)), b"") for number in range(MAX_WAITING + 1)]
    assert added == [True] * MAX_WAITING + [False]
    assert box.add(mail("other", "pbob"), b"")


def test_mails_are_forgotten_after_a_month(redis: StoreClient) -> None:
    box = inbox(redis)
    box.add(mail(), b"")
    box.add(mail("2", at=NOW + MEMORY_DAYS * DAY_MS), b"")
    assert len(box.recent("palice", 10)) == 2
    box.add(mail("3", at=NOW + MEMORY_DAYS * DAY_MS + 1), b"")
    assert [each.at for each in box.recent("palice", 10)] == [
        NOW + MEMORY_DAYS * DAY_MS + 1,
        NOW + MEMORY_DAYS * DAY_MS,
    ]


def test_the_mail_of_an_erased_person_is_gone_while_it_is_read(redis: StoreClient) -> None:
    box = inbox(redis)
    box.add(mail("1"), b"")
    box.add(mail("2"), b"")
    taken = box.take()
    box.erase("palice")
    assert taken is not None
    box.finish(taken, Verdict.READ, "", answered=True)
    assert box.take() is None
    assert box.recent("palice", 10) == []
    assert list(redis.scan_iter()) == []


def test_refusals_are_counted_for_each_match_and_once_for_each_mail(redis: StoreClient) -> None:
    box = inbox(redis)
    mails = [mail(name) for name in "123"]
    assert [box.count_refusal(each, "m1") for each in (*mails, *mails)] == [1, 2, 3, 1, 2, 3]
    assert box.count_refusal(mail("4"), "m2") == 1
    assert 0 < redis.ttl(NoticeKeys("test:", shard_of("palice", SHARDS)).refusals("palice", "m1")) <= REFUSALS_S


def test_a_mail_with_a_known_message_id_and_another_text_is_stored_as_a_repetition(redis: StoreClient) -> None:
    box = inbox(redis)
    first, other = (replace(mail("1"), text=text_digest(text)) for text in (b"X: 1\r\n\r\na", b"X: 1\r\n\r\nb"))
    assert text_digest(b"X: 2\r\n\r\na") == first.text, "it came another way"
    for _ in range(2):
        assert box.add(first, b"a")
        assert box.add(other, b"b")
    assert sorted((stored.text == first.text, stored.repeats) for stored in box.recent("palice", 9)) == [
        (False, True),
        (True, False),
    ]


def test_a_mail_without_a_message_id_is_known_by_its_content() -> None:
    assert mail_digest("", "r-x", b"a") == mail_digest("", "R-X", b"a") != mail_digest("", "r-x", b"b")
    assert mail_digest("<1@x>", "r-x", b"a") == mail_digest("<1@x>", "r-x", b"b") != mail_digest("<1@x>", "r-y", b"a")


def test_the_postmaster_gets_mail_that_can_be_deleted(redis: StoreClient) -> None:
    box = inbox(redis)
    box.keep_for_postmaster("a@x.example", b"one", NOW)
    box.keep_for_postmaster("b@x.example", b"two" * 50_000, NOW)
    second, first = box.postmaster_mails()
    assert (first.sender, first.content, len(second.content)) == ("a@x.example", b"one", 64_000)
    assert box.delete_postmaster_mail(first.id)
    assert [each.id for each in box.postmaster_mails()] == [second.id]


@pytest.fixture
def mailbox() -> Iterator[Mailbox]:
    with open_mailbox() as opened:
        yield opened


@pytest.fixture
def world(server: RealServer, mailbox: Mailbox) -> World:
    return World(server, mailbox)


def test_a_notice_goes_out_with_board_thread_tokens_and_ways_to_stop(world: World) -> None:
    state, reason = world.send(world.notify())
    assert (state, reason) == (DeliveryState.SENT, "The mail server has accepted it: 250 2.0.0 accepted")
    received = world.mailbox.received[0]
    message = received.message
    tag = world.parts.matches.load(world.match).head.tag
    expected = MatchToken(kind=TokenKind.REPLY, match_id=world.match, seat=0, tag=tag)
    assert world.token_of(message["Reply-To"].addresses[0].addr_spec) == expected
    assert world.token_of(received.sender) == PlayerToken(kind=TokenKind.BOUNCE, player=world.anna.id)
    assert message["Message-ID"].endswith(f".{NOTICE}@{DOMAIN}>")
    assert message["References"] == message["In-Reply-To"] == f"<match.{world.match}.{world.anna.id}@{DOMAIN}>"
    assert message["Subject"] == "Your turn: Towers against boris"
    assert message["Auto-Submitted"] == "auto-generated"
    assert message["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    assert [part.get_content_type() for part in message.walk()] == [
        *("multipart/alternative", "text/plain", "multipart/related", "text/html", "image/png")
    ]
    text = text_of(message)
    assert text.startswith("----- Write above this line -----\n\nA match of Towers against\N{NO-BREAK SPACE}boris has ")
    assert "| 7  .     ww    .     .     .     bb    .\n" in text
    assert f"https://rookery.test/matches/{world.match}" in text


def test_an_answer_has_no_return_path_and_acts_upon_the_board_that_it_shows(world: World) -> None:
    shown = world.parts.matches.load(world.match).head.tag
    dispatch = world.letter(
        automatic=True, match=world.match, seat=0, tag=str(shown), in_reply_to="<her-mail@players.test>"
    )
    world.stepped.play(world.match, 2)
    assert world.send(dispatch)[0] == DeliveryState.SENT
    received = world.mailbox.received[0]
    assert received.sender == ""
    assert received.message["Auto-Submitted"] == "auto-replied"
    assert received.message["In-Reply-To"] == "<her-mail@players.test>"
    assert world.token_of(received.message["Reply-To"].addresses[0].addr_spec).tag == shown
    assert "List-Unsubscribe" not in received.message
    assert received.message.get_content_type() == "text/plain"


def test_a_digest_has_the_board_of_each_match_and_an_address_for_answers(world: World) -> None:
    other = world.stepped.start(world.anna.id, world.boris.id)
    first, second = world.notify(id="a" * 24), world.notify(id="b" * 24, match=other)
    digest = Dispatch(
        id="digest:1", player=world.anna.id, channel=NoticeChannel.MAIL, purpose=Purpose.DIGEST,
        notices=(*first.notices, *second.notices), due=1, first_at=1,
    )  # fmt: skip
    assert world.send(digest)[0] == DeliveryState.SENT
    message = world.mailbox.received[0].message
    assert message["Subject"] == "Your turn in 2 matches against boris"
    text = text_of(message)
    for match, board in (
        (world.match, "| 7  .     ww    .     .     .     bb    .\n"),
        (other, "| 8    b   b   b   b\n"),
    ):
        assert board in text
        after = text.partition(f"The match: https://rookery.test/matches/{match}\nMoves and answers to: ")[2]
        assert world.token_of(after.split()[0]).match_id == match
    assert world.token_of(message["Reply-To"].addresses[0].addr_spec).kind == TokenKind.ACCOUNT


@pytest.mark.parametrize("is_wanted", [True, False])
def test_a_mail_has_the_messages_of_a_chat_for_those_who_have_asked_for_them(world: World, is_wanted: bool) -> None:
    player, chats = world.anna.id, world.parts.chats
    world.parts.preferences.change(player, lambda stored: replace(stored, chat_text=is_wanted))
    for number, (author, text) in enumerate([(world.boris.id, "a3-b4"), (player, "Hello!"), ("pleft", "Bye.")]):
        chats.post(world.match, author, text, Request(f"r{number}", ""))
    assert world.send(world.notify(kind=NoticeKind.CHAT, fact=f"chat:{world.match}:1"))[0] == DeliveryState.SENT
    text = text_of(world.mailbox.received[0].message)
    assert ("| boris:\N{NO-BREAK SPACE}a3-b4\n" in text) is is_wanted
    assert ("Bye." in text) is is_wanted
    assert "Hello!" not in text, "that is her own"


def test_nothing_is_sent_to_an_address_that_is_paused_removed_or_unconfirmed(world: World) -> None:
    dispatch = world.notify()
    world.parts.addresses.change(world.anna.id, lambda stored: stopped(stored, 9))
    assert world.send(dispatch) == (DeliveryState.NOT_SENT, "Not sent by mail, because mail to you is paused.")
    world.parts.addresses.change(world.anna.id, lambda stored: wants(MailAddress(), "new@players.test", 9))
    assert world.send(dispatch)[1] == "Not sent by mail, because you have confirmed no mail address."
    assert world.send(world.letter())[1] == "The account or its mail address is not there any more."
    assert world.mailbox.received == []


# Letters that the server writes by itself


def test_the_mail_that_asks_for_confirmation_leads_to_the_address(world: World) -> None:
    now = world.stepped.now
    world.parts.addresses.change(world.anna.id, lambda stored: wants(stored, "new@players.test", now))
    assert world.send(letters.confirmation(world.anna.id, "new@players.test", now))[0] == DeliveryState.SENT
    [message] = world.mailbox.messages_to("new@players.test")
    assert f"https://rookery.test/mail/confirm/{world.anna.id}." in text_of(message)
    world.parts.addresses.confirm(world.anna.id, "new@players.test", now)
    again = letters.confirmation(world.anna.id, "new@players.test", now + 1)
    assert world.send(again)[0] == DeliveryState.NOT_SENT


def test_why_a_mail_that_asks_for_confirmation_did_not_arrive_is_shown_with_the_address(world: World) -> None:
    now = world.stepped.now
    world.parts.addresses.change(world.anna.id, lambda stored: wants(stored, "new@players.test", now))
    world.mailbox.answer("RCPT", "550 5.1.1 no such mailbox")
    assert world.send(letters.confirmation(world.anna.id, "new@players.test", now))[0] == DeliveryState.FAILED
    assert world.stored.problem == "The mail server refused the mail: 550 5.1.1 no such mailbox"
    assert world.stored.bounces.score == 0, "the confirmed address is another one"


def test_a_former_address_is_told_only_of_a_change_that_has_happened(world: World) -> None:
    told = letters.address_changed(world.anna.id, ADDRESS, world.stepped.now)
    assert world.send(told)[0] == DeliveryState.NOT_SENT
    world.give_address(world.anna.id, "new@players.test")
    assert world.send(told)[0] == DeliveryState.SENT
    assert world.mailbox.received[0].recipients == [ADDRESS]


@pytest.mark.parametrize("asked", ["ANNA", "Anna@Players.test"])
def test_a_new_password_is_offered_by_name_and_by_address(world: World, asked: str) -> None:
    assert world.send(letters.password_reset(asked, world.stepped.now))[0] == DeliveryState.SENT
    [message] = world.mailbox.messages_to(ADDRESS)
    assert f"https://rookery.test/password-reset/{world.anna.id}." in text_of(message)


def test_one_mail_offers_new_passwords_for_all_accounts_of_an_address(world: World) -> None:
    world.give_address(world.boris.id, ADDRESS)
    world.send(letters.password_reset(ADDRESS, world.stepped.now))
    [message] = world.mailbox.messages_to(ADDRESS)
    assert '"anna"' in text_of(message)
    assert '"boris"' in text_of(message)


@pytest.mark.parametrize("asked", ["nobody", "boris", "nobody@players.test", "x@y@z", "a\r\nb", "guest-abcdef"])
def test_no_mail_goes_to_whom_nobody_knows(world: World, asked: str) -> None:
    assert world.send(letters.password_reset(asked, world.stepped.now))[0] == DeliveryState.NOT_SENT
    assert world.mailbox.received == []


def test_links_are_not_sent_when_they_have_expired(world: World) -> None:
    now = world.stepped.now
    world.parts.addresses.change(world.anna.id, lambda stored: wants(stored, "new@players.test", now))
    asked = [letters.confirmation(world.anna.id, "new@players.test", now), letters.password_reset("anna", now)]
    world.stepped.now += DAY
    assert [world.send(letter)[0] for letter in asked] == [DeliveryState.NOT_SENT] * 2
    assert world.stored.problem == "The mail could not be sent within a day: ask for it once more."


def test_an_address_may_be_typed_as_it_is_read(world: World) -> None:
    world.give_address(world.anna.id, "anna@xn--bcher-kva.test")
    assert world.send(letters.password_reset("Anna@Bücher.test", world.stepped.now))[0] == DeliveryState.SENT
