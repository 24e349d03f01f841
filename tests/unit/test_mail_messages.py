"""The mails that Rookery sends: their text for every game, their headers, and that none of them can do harm.

``python -m tests.unit.test_mail_messages`` writes the texts in ``tests/mail_texts`` again, to look at the difference.
"""

import re
from dataclasses import replace
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from domain.games import GAMES, find_ruleset
from domain.match.commands import JoinMatch
from domain.match.lines import ConditionalMoves
from domain.match.state import Seat
from events.notify.mail import messages, notice_text
from events.notify.mail.match_words import moves_of
from events.notify.mail.tokens import MatchToken, PlayerToken, TokenKind, write_token
from events.notify.mail.transcript import MatchView
from events.notify.notice import Notice, NoticeKind
from events.store.contract import VersionTag
from tests.support.draws import draws
from tests.support.matches import T0, PlayedMatch, creation
from tests.support.quoting import commands_in, lines_that_act, quotings
from tests.support.tables import table

TEXTS = Path(__file__).parents[1] / "mail_texts"
SITE = messages.Site(domain="mail.rookery.test", page_url="https://rookery.test")
ANNA = messages.Addressee(
    player="pannaannaannaann2", name="anna", address="anna@players.test", zone="Europe/Rome", secret=bytes(20)
)
MATCH = "mabcdefghabcdefgh"
SETUPS = {
    "bashni": "start", "towers": "two-player", "tower-game": "original", "fourplay": "draft", "four-towers": "standard",
}  # fmt: skip
NAMES = {"player-1": "boris", "player-2": "clara", "player-3": "dora"}
TAG = VersionTag(5, "0123456789abcdef")
TOKEN = MatchToken(kind=TokenKind.REPLY, match_id=MATCH, seat=0, tag=TAG)
NOTICE = Notice(
    id="n" * 24, player=ANNA.player, kind=NoticeKind.TURN, match=MATCH, version=5, fact="turn:0",
    summary="It is your turn in a match of Towers.", reason="You want to be told at once when it is your turn.", at=T0,
    decided_at=T0,
)  # fmt: skip


def played(game: str) -> PlayedMatch:
    """Return a match in which every seat has made its first legal move."""
    seats = len(GAMES[game].setups[SETUPS[game]].seat_names)
    players = [Seat.taken(ANNA.player), *[Seat.open()] * (seats - 1)]
    match = PlayedMatch(creation(*players, match_id=MATCH, creator=ANNA.player, game=game, setup=SETUPS[game]))
    for number in range(1, seats):
        match.do(JoinMatch(player=f"player-{number}"))
    rules = find_ruleset(game, match.state.ruleset)
    for _ in range(seats):
        mover = match.state.seats[rules.to_move(match.state.play.position)].player
        match.move(mover, match.legal_moves()[0])
    return match


def view_of(match: PlayedMatch, notice: Notice = NOTICE) -> notice_text.NoticeView:
    view = MatchView(
        state=match.state, seat=0, orders=ConditionalMoves(), now=match.now, zone=ANNA.zone,
        url=f"https://rookery.test/matches/{MATCH}",
        others=[NAMES[seat.player] for seat in match.state.seats if seat.player in NAMES],
    )  # fmt: skip
    return notice_text.NoticeView(notice, view)


def turn_mail(game: str, pictured: bool = False) -> messages.Outgoing:
    match = played(game)
    picture = messages.board_picture(match.state, 0) if pictured else None
    content = notice_text.notice_content(SITE, ANNA, [view_of(match)], picture)
    return messages.notice_mail(SITE, ANNA, content, id=NOTICE.id, token=TOKEN, now=match.now)


def reread(mail: messages.Outgoing) -> EmailMessage:
    return message_from_bytes(mail.as_bytes(), EmailMessage, policy=policy.default)


def text_of(mail: messages.Outgoing) -> str:
    part = mail.message.get_body(("plain",))
    assert part is not None
    return str(part.get_content()).replace("\r\n", "\n")


def headers_of(mail: messages.Outgoing) -> str:
    head, _, _ = mail.as_bytes().decode().partition("\r\n\r\n")
    return head


@pytest.mark.parametrize("game", SETUPS)
def test_the_mail_about_a_turn_reads_as_it_was_last_looked_at(game: str) -> None:
    mail = turn_mail(game)
    expected = (TEXTS / f"{game}.txt").read_text(encoding="utf-8")
    assert f"Subject: {mail.message['Subject']}\n\n{text_of(mail)}" == expected


@pytest.mark.parametrize("game", SETUPS)
def test_the_board_is_a_picture_in_the_mail(game: str) -> None:
    message = reread(turn_mail(game, pictured=True))
    html = message.get_body(("html",)).get_content()
    image = next(part for part in message.walk() if part.get_content_type() == "image/png")
    assert image.get_content().startswith(b"\x89PNG")
    assert f'src="cid:{image["Content-ID"].strip("<>")}"' in html
    assert len(image.get_content()) < 120_000


@pytest.mark.parametrize("game", SETUPS)
def test_no_quoting_of_a_mail_of_ours_does_anything(game: str) -> None:
    match, text = played(game), text_of(turn_mail(game))
    moves = moves_of(match.state)
    assert lines_that_act(text, moves) == []
    for content in quotings(text):
        assert commands_in(content, moves) == []


def test_a_digest_and_letters_do_nothing_when_they_come_back() -> None:
    match = played("towers")
    letters = [
        notice_text.digest_content(SITE, ANNA, [view_of(match)] * 3),
        notice_text.confirmation_content(SITE, "anna", "pa.1.x", "UTC", T0),
        notice_text.address_changed_content(SITE, "anna"),
        notice_text.password_reset_content(SITE, [("anna", "pa.1.x")], T0),
    ]
    for letter in letters:
        assert lines_that_act("\n\n".join(letter.paragraphs), moves_of(match.state)) == []


def test_the_same_mail_is_made_again_byte_for_byte() -> None:
    assert turn_mail("towers", pictured=True).as_bytes() == turn_mail("towers", pictured=True).as_bytes()


def test_lines_are_short_enough_for_every_server_and_ways_to_stop_stand_on_one() -> None:
    mail = turn_mail("fourplay", pictured=True)
    lines = mail.as_bytes().split(b"\r\n")
    assert max(map(len, lines)) < 998
    assert b"\n" not in b"".join(lines)
    [stop] = [line for line in lines if line.startswith(b"List-Unsubscribe:")]
    link, by_mail = re.fullmatch(rb"List-Unsubscribe: <(https:[^>]+)>, <(mailto:[^>]+)>", stop).groups()
    assert link.decode() == messages.stop_link(SITE, ANNA)
    assert b"@mail.rookery.test?subject=stop%20mail" in by_mail


def test_one_click_is_offered_where_the_pages_are_encrypted() -> None:
    content = messages.Content(subject="x", paragraphs=["x"])
    for url, offered in (("https://rookery.test", True), ("http://127.0.0.1:8000", False)):
        mail = messages.notice_mail(replace(SITE, page_url=url), ANNA, content, id="n1", token=TOKEN, now=T0)
        assert ("List-Unsubscribe-Post" in mail.message, "List-Unsubscribe" in mail.message) == (offered, True)


def test_answers_go_to_an_address_of_their_own_which_the_message_id_has_too() -> None:
    message = turn_mail("towers").message
    written = write_token(TOKEN, ANNA.secret)
    assert [message[name].addresses[0].addr_spec for name in ("From", "Reply-To")] == [f"r-{written}@{SITE.domain}"] * 2
    assert message["Message-ID"] == f"<r-{written}.{NOTICE.id}@{SITE.domain}>"


def test_every_local_part_fits_into_an_address() -> None:
    mail = turn_mail("towers")
    for address in (mail.sender, mail.message["Reply-To"].addresses[0].addr_spec):
        assert len(address.partition("@")[0]) <= 64


def test_an_answer_refers_to_the_mail_and_the_match_and_has_no_return_path() -> None:
    content = messages.Content(subject="Towers: 1 move played", paragraphs=["Done."])
    mail = messages.answer_mail(SITE, ANNA, content, id="a1", token=TOKEN, in_reply_to="<x@players.test>", now=T0)
    assert (mail.sender, mail.message["In-Reply-To"]) == ("", "<x@players.test>")
    assert mail.message["References"] == f"<match.{MATCH}.{ANNA.player}@mail.rookery.test> <x@players.test>"
    assert mail.message["Auto-Submitted"] == "auto-replied"
    assert "List-Unsubscribe" not in mail.message


@pytest.mark.parametrize("answered", ["<a@b>\r\nBcc: all@players.test", "<a b@c>", "no id", "<ä@b>", "<a>" * 200, ""])
def test_a_message_id_that_is_none_is_not_repeated(answered: str) -> None:
    content = messages.Content(subject="Towers", paragraphs=["Done."])
    token = PlayerToken(kind=TokenKind.ACCOUNT, player=ANNA.player)
    mail = messages.answer_mail(SITE, ANNA, content, id="a1", token=token, in_reply_to=answered, now=T0)
    assert "In-Reply-To" not in mail.message
    assert "References" not in mail.message


@draws(60)
@given(st.text(max_size=200), st.text(max_size=200))
def test_no_subject_and_no_text_adds_a_header_or_a_recipient(subject: str, text: str) -> None:
    content = messages.Content(subject=subject, paragraphs=[text])
    mail = messages.letter_mail(SITE, ANNA.address, content, id="l1", sender=messages.bounce_sender(SITE, ANNA), now=T0)
    message = reread(mail)
    assert sorted(message.keys()) == sorted(
        [
            *("From", "To", "Subject", "Date", "X-Auto-Response-Suppress", "MIME-Version", "Content-Type"),
            *("Content-Transfer-Encoding", "Message-ID", "Auto-Submitted"),
        ]
    )
    assert message["To"] == ANNA.address


@pytest.mark.parametrize("subject", table(__file__, "a subject is one short line of what can be printed"))
def test_a_subject_is_one_short_line_of_what_can_be_printed(subject: str) -> None:
    mail = messages.letter_mail(
        SITE, ANNA.address, messages.Content(subject=subject, paragraphs=["x"]), id="l1", sender="", now=T0
    )
    shown = reread(mail)["Subject"]
    assert len(shown) <= 120
    assert shown.isprintable()
    assert "\r\nBcc:" not in headers_of(mail)


@pytest.mark.parametrize("subject", ["x" * 70, "Ходите" * 15, f"{'a' * 70} b", f"Your turn: Bashni against {'ß' * 60}"])
@pytest.mark.parametrize("address", [ANNA.address, "änna@players.test"])
def test_no_subject_begins_with_a_fold(subject: str, address: str) -> None:
    mail = messages.letter_mail(
        SITE, address, messages.Content(subject=subject, paragraphs=["x"]), id="l1", sender="", now=T0
    )
    assert reread(mail)["Subject"] == subject
    assert ":\r\n" not in headers_of(mail)


def test_a_receipt_is_a_file_beside_the_answer() -> None:
    content = messages.Content(subject="Towers: 1 move played", paragraphs=["Done."], receipt="signed\n")
    answer = reread(messages.answer_mail(SITE, ANNA, content, id="a1", token=TOKEN, in_reply_to=None, now=T0))
    [attached] = answer.iter_attachments()
    assert (attached.get_filename(), attached.get_content()) == ("receipt.txt", "signed\r\n")
    assert answer.get_body(("plain",)).get_content() == "Done.\r\n"


def test_names_and_texts_are_escaped_in_html() -> None:
    picture = messages.board_picture(played("towers").state, 0)
    content = messages.Content(
        subject="x", paragraphs=['<script>alert("x")</script> & https://rookery.test/a?b=1&c=2.'], picture=picture
    )
    mail = messages.notice_mail(SITE, ANNA, content, id="n1", token=TOKEN, now=T0)
    html = reread(mail).get_body(("html",)).get_content()
    assert "<script>" not in html
    assert '<a href="https://rookery.test/a?b=1&amp;c=2">https://rookery.test/a?b=1&amp;c=2</a>.' in html


def test_a_digest_is_ordered_by_deadline_and_says_what_it_leaves_out() -> None:
    match = played("towers")
    many = [
        notice_text.NoticeView(
            replace(NOTICE, id=f"{number}", summary=f"Number {number:02}.", deadline=T0 + number), None
        )
        for number in range(notice_text.MAX_DIGEST_ITEMS + 2, 0, -1)
    ]
    text = "\n".join(notice_text.digest_content(SITE, ANNA, [*many, view_of(match)]).paragraphs)
    assert text.index("Number 01") < text.index("Number 02") < text.index(f"Number {notice_text.MAX_DIGEST_ITEMS}")
    assert f"Number {notice_text.MAX_DIGEST_ITEMS + 1}" not in text
    assert "3 more are not listed here: https://rookery.test/notices" in text


def test_a_digest_names_the_deadline_as_it_is_now() -> None:
    match = played("towers")
    moved = view_of(match, replace(NOTICE, deadline=T0 + 1))
    text = "\n".join(notice_text.digest_content(SITE, ANNA, [moved]).paragraphs)
    assert "You have to move by Sat 25 Nov 2023, 23:13 in Europe/Rome" in " ".join(text.split())


def test_a_notice_about_a_match_that_cannot_be_read_is_still_told() -> None:
    text = "\n".join(notice_text.notice_content(SITE, ANNA, [notice_text.NoticeView(NOTICE, None)], None).paragraphs)
    assert "It is your turn in a match of Towers." in text
    assert f"https://rookery.test/matches/{MATCH}" in text


if __name__ == "__main__":
    TEXTS.mkdir(exist_ok=True)
    for each in SETUPS:
        made = turn_mail(each)
        written = f"Subject: {made.message['Subject']}\n\n{text_of(made)}"
        (TEXTS / f"{each}.txt").write_text(written, encoding="utf-8")


def test_a_match_whose_rules_are_not_installed_is_named_without_its_board() -> None:
    about = view_of(played("towers"))
    assert about.view is not None
    unknown = replace(about, view=replace(about.view, state=replace(about.view.state, ruleset=999)))
    content = notice_text.notice_content(SITE, ANNA, [unknown], None)
    assert content.subject == "Your turn: Towers against boris"
    assert "It is your turn in a match of Towers against\N{NO-BREAK SPACE}boris." in content.paragraphs
    assert not any("|" in paragraph for paragraph in content.paragraphs)
