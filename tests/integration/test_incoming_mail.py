"""Reading mail: each is carried out once and answered once, whatever is killed; strangers and programs get nothing."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest

from domain.match.enums import Status
from events.notify.inbox import Verdict
from events.notify.letters import LetterKind
from events.notify.mail.tokens import TokenKind
from events.notify.notice import PauseCause, WhoMayWrite
from events.runtime import connections
from events.runtime.errors import StoreUnavailableError
from events.runtime.work_list import LEASE_MS
from events.store.contract import DamagedStreamError
from tests.support.mail_play import MailSite, without_address
from tests.support.server import RealServer
from workers.notices.incoming_mail import MAX_ATTEMPTS


@pytest.fixture
def site(server: RealServer) -> MailSite:
    return MailSite(server.url)


@pytest.fixture
def match_id(site: MailSite) -> str:
    return site.start(site.enrol("alice"), site.enrol("bob"), game="towers", setup="two-player")


def first_move(site: MailSite, match_id: str) -> str:
    before = site.state(match_id)
    game_move = site.play(site.start("px", "py", game="towers", setup="two-player"), 1).play.moves[0]
    assert not before.play.moves
    return game_move


def verdicts(site: MailSite, player: str = "palice") -> list[Verdict]:
    return [mail.verdict for mail in site.parts.inbox.recent(player, 10)]


def test_a_move_is_played_and_answered_once(site: MailSite, match_id: str) -> None:
    token, move = site.token("palice", match_id), first_move(site, match_id)
    site.deliver("palice", token, move)
    assert site.reader.read_due() == 1
    assert site.state(match_id).play.moves == (move,)
    (mail,) = site.parts.inbox.recent("palice", 10)
    assert (mail.verdict, mail.answered, mail.recipient) == (Verdict.READ, True, "")
    (answer,) = site.letters("palice")
    assert (answer.to, answer.in_reply_to, answer.automatic) == ("alice@home.example", "<1@home.example>", True)
    assert "1 move played" in answer.subject
    assert (answer.match, answer.seat, answer.tag) == (match_id, 0, str(site.store.head(match_id).tag))
    site.deliver("palice", token, move)
    assert site.reader.read_due() == 0
    assert len(site.letters("palice")) == 1


def test_a_resignation_is_asked_about_and_confirmed(site: MailSite, match_id: str) -> None:
    site.deliver("palice", site.token("palice", match_id), "resign")
    site.reader.read_due()
    (question,) = site.letters("palice")
    assert question.kind == LetterKind.CONFIRM_RESIGNATION
    assert site.state(match_id).status == Status.PLAYING
    site.deliver("palice", site.token("palice", match_id, TokenKind.CONFIRM_RESIGNATION), "resign", number=2)
    site.reader.read_due()
    assert site.state(match_id).status == Status.FINISHED


def test_a_second_answer_to_the_same_board_is_refused_with_the_new_board(site: MailSite, match_id: str) -> None:
    token, move = site.token("palice", match_id), first_move(site, match_id)
    for number in (1, 2):
        site.deliver("palice", token, move, number=number)
        site.reader.read_due()
    assert len(site.state(match_id).play.moves) == 1
    refusal = next(letter for letter in site.letters("palice") if letter.in_reply_to == "<2@home.example>")
    assert "nothing played" in refusal.subject
    assert "|" in refusal.text


def test_a_forged_sender_plays_nothing_and_the_player_is_told(site: MailSite, match_id: str) -> None:
    move = first_move(site, match_id)
    site.deliver("palice", site.token("palice", match_id), move, sender="eve@elsewhere.example")
    site.reader.read_due()
    assert not site.state(match_id).play.moves
    assert verdicts(site) == [Verdict.NOT_ALLOWED]
    (letter,) = site.letters("palice")
    assert letter.to == "alice@home.example"
    assert "eve@elsewhere.example" in letter.text
    assert letter.match is None


def test_who_wants_it_strictly_needs_the_word_of_the_mail_server(site: MailSite) -> None:
    alice = site.enrol("alice", lambda stored: replace(stored, who_may_write=WhoMayWrite.TOKEN_FROM_AND_DMARC))
    match_id = site.start(alice, site.enrol("bob"), game="towers", setup="two-player")
    move, passed = first_move(site, match_id), "Authentication-Results: mx.example; dmarc=pass header.from=home.example"
    site.deliver(alice, site.token(alice, match_id), move)
    site.reader.read_due()
    assert not site.state(match_id).play.moves
    site.deliver(alice, site.token(alice, match_id), move, passed, number=2)
    site.reader.read_due()
    assert site.state(match_id).play.moves == (move,)


def test_automatic_mail_and_loops_are_recorded_and_never_answered(site: MailSite, match_id: str) -> None:
    token, move = site.token("palice", match_id), first_move(site, match_id)
    site.deliver("palice", token, move, "Auto-Submitted: auto-replied", number=1)
    site.deliver("palice", token, move, sender="rookery@play.example", number=2)
    site.deliver("palice", site.token("palice", kind=TokenKind.BOUNCE), move, number=3)
    assert site.reader.read_due() == 3
    assert sorted(verdicts(site)) == [Verdict.AUTOMATIC, Verdict.BOUNCE, Verdict.LOOP]
    assert site.letters("palice") == []
    assert not site.state(match_id).play.moves


def test_mail_without_commands_gets_four_answers_an_hour_for_a_match(site: MailSite, match_id: str) -> None:
    for number in range(1, 7):
        site.deliver("palice", site.token("palice", match_id), f"Move {number} please", number=number)
        site.reader.read_due()
    mails = site.parts.inbox.recent("palice", 10)[::-1]
    assert [mail.answered for mail in mails] == [True] * 4 + [False] * 2
    assert ["4 answers of this kind" in mail.reason for mail in mails] == [False] * 4 + [True] * 2
    answers = {letter.in_reply_to: letter.text for letter in site.letters("palice")}
    assert ["the last answer" in answers[f"<{number}@home.example>"] for number in range(1, 5)] == [False] * 3 + [True]
    assert "> 1: Move 3 please" in answers["<3@home.example>"]
    other = site.start("palice", "pbob", game="towers", setup="two-player")
    site.deliver("palice", site.token("palice", other), "well", number=7)
    site.deliver("palice", site.token("palice", match_id), first_move(site, match_id), number=8)
    site.reader.read_due()
    assert len(site.letters("palice")) == 6, "another match, and a mail with a command"


def test_another_text_under_a_known_message_id_is_on_record_and_answered(site: MailSite, match_id: str) -> None:
    token, move = site.token("palice", match_id), first_move(site, match_id)
    site.deliver("palice", token, "board")
    site.deliver("palice", token, move)
    site.deliver("palice", token, move)
    assert site.reader.read_due() == 2
    assert not site.state(match_id).play.moves
    assert sorted(verdicts(site)) == [Verdict.READ, Verdict.REPEATED]
    assert {letter.subject for letter in site.letters("palice")} == {
        "Towers against bob: the board",
        "Your mail was not read",
    }
    assert {letter.match for letter in site.letters("palice")} == {match_id}


def test_a_mail_that_unsubscribes_turns_notices_by_mail_off_without_an_answer(site: MailSite) -> None:
    alice = site.enrol("alice")
    site.deliver(alice, site.token(alice, kind=TokenKind.UNSUBSCRIBE), "", "Auto-Submitted: auto-generated")
    site.reader.read_due()
    pause = site.parts.addresses.read(alice).pause
    assert pause is not None
    assert pause.cause is PauseCause.STOPPED
    assert (verdicts(site), site.letters(alice)) == ([Verdict.UNSUBSCRIBED], [])


def test_nothing_is_sent_where_no_address_is_confirmed(site: MailSite) -> None:
    alice = site.enrol("alice", without_address)
    site.deliver(alice, site.token(alice), "help")
    site.reader.read_due()
    assert (verdicts(site), site.letters(alice)) == ([Verdict.NOT_ALLOWED], [])


def test_mail_whose_address_was_made_worthless_before_it_was_read_does_nothing(site: MailSite, match_id: str) -> None:
    site.deliver("palice", site.token("palice", match_id), first_move(site, match_id))
    site.parts.addresses.make_old_mail_worthless("palice")
    site.reader.read_due()
    assert verdicts(site) == [Verdict.NOT_ALLOWED]
    assert not site.state(match_id).play.moves


@pytest.mark.parametrize("error", [RuntimeError("a fault"), DamagedStreamError("a match", 1, "it was cut")])
def test_a_mail_at_which_the_reader_fails_again_and_again_is_answered_in_words(
    site: MailSite, match_id: str, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(site.reader, "_execute", fail)
    site.deliver("palice", site.token("palice", match_id), "board")
    for _ in range(MAX_ATTEMPTS):
        assert site.letters("palice") == []
        assert site.reader.read_due() == 1
        site.now += LEASE_MS
    assert site.reader.read_due() == 0
    assert verdicts(site) == [Verdict.FAILED]
    (letter,) = site.letters("palice")
    assert "fault of this server" in letter.text


def failing_after(steps: int, monkeypatch: pytest.MonkeyPatch) -> Callable[[], bool]:
    """Let the store do ``steps`` commands, then lose the connection at each; return what tells whether it has."""
    left = steps
    lost = False

    def losing(method: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **options: Any) -> Any:
            nonlocal left, lost
            if left <= 0:
                lost = True
                raise StoreUnavailableError("the connection is lost")
            left -= 1
            return method(*args, **options)

        return call

    for kind, names in ((connections.StoreClient, ("execute_command",)), (connections.StorePipeline, ("execute",))):
        for name in names:
            monkeypatch.setattr(kind, name, losing(getattr(kind, name)))
    return lambda: lost


def test_a_reader_that_is_killed_at_any_step_plays_once_and_answers_once(site: MailSite) -> None:
    alice, bob = site.enrol("alice"), site.enrol("bob")
    move = site.play(site.start("px", "py", game="towers", setup="two-player"), 1).play.moves[0]
    steps = 0
    killed = True
    while killed:
        match_id = site.start(alice, bob, game="towers", setup="two-player")
        mail = site.deliver(alice, site.token(alice, match_id), f"{move}\ndraw\nboard", number=steps)
        with pytest.MonkeyPatch.context() as broken:
            lost = failing_after(steps, broken)
            with suppress(StoreUnavailableError):
                site.reader.read_due()
            killed = lost()
        site.now += LEASE_MS
        site.reader.read_due()
        state = site.state(match_id)
        assert (state.play.moves, state.offers.draw_agreed) == ((move,), (0,))
        answers = [letter for letter in site.letters(alice) if letter.match == match_id]
        assert [answer.subject for answer in answers] == ["Towers against bob: 1 move played"]
        assert site.parts.inbox.recent(alice, 1)[0].digest == mail.digest
        assert site.parts.inbox.recent(alice, 1)[0].verdict is Verdict.READ
        steps += 1
    assert steps > 10
