"""What is sent by mail: notices, digests, answers and letters, over a real SMTP conversation."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from domain.match.terms import DAY
from events.mail.tokens import MatchToken, PlayerToken, TokenKind
from events.notices import letters
from events.notices.addresses import MailAddress, stopped, wants
from events.notices.notice import DeliveryState, NoticeChannel, NoticeKind
from events.notices.outbox import Dispatch, Purpose
from events.store.contract import Request
from tests.support.mail_world import ADDRESS, DOMAIN, NOTICE, World, text_of
from tests.support.mailbox import Mailbox, open_mailbox
from tests.support.server import RealServer


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
        id="digest:1",
        player=world.anna.id,
        channel=NoticeChannel.MAIL,
        purpose=Purpose.DIGEST,
        notices=(*first.notices, *second.notices),
        due=1,
        first_at=1,
    )
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
