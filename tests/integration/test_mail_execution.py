"""Commands by mail, carried out on a match in the store."""

from dataclasses import replace

import pytest

from domain.contest.tournament import commands as c
from domain.games import find_ruleset
from domain.match.commands import DeclineDraw, OfferDraw, PauseClock, RequestTakeback
from domain.match.enums import Channel, PauseReason, Status
from domain.match.state import MatchState, Seat
from domain.match.terms import DAY, STANDARD
from events.matches.matches import UnknownMatchError
from events.notify.mail.account_commands import execute_account_commands
from events.notify.mail.execution import ONE_MOVE, STALE, STALE_OFFER, execute_commands
from events.notify.mail.language import NO_MOVES, read_commands
from events.notify.mail.match_words import moves_of
from events.notify.mail.tokens import MatchToken, TokenKind
from events.notify.mail.transcript import Effect, MailReport, write_answer
from events.people.blocks import BLOCK
from events.people.capacity import Capacity
from events.people.person import Person, Suspension
from events.proof.receipts import read_receipt
from events.runtime.keys import PeopleKeys
from events.store.contract import Request, VersionTag
from events.store.kinds import StreamKind, stream_id
from tests.support.matches import T0
from tests.support.stepped_installation import PREFIX, SteppedInstallation
from tests.support.tournaments import TWO_SEATS
from workers.composition import make_match_reader


class Correspondent:
    """A player who has a mail about a match, and answers it.

    The mail that is answered shows the match as it stood at the last ``look``.
    """

    def __init__(self, shop: SteppedInstallation, match_id: str, player: str) -> None:
        self.shop, self.match_id, self.player = shop, match_id, player
        self.mails = 0
        self.look()

    @property
    def state(self) -> MatchState:
        return self.shop.state(self.match_id)

    def look(self, kind: TokenKind = TokenKind.REPLY) -> MatchToken:
        """Get a mail about the match as it stands."""
        loaded = self.shop.matches.load(self.match_id)
        self.seat = loaded.state.seat_of(self.player)
        self.token = MatchToken(kind=kind, match_id=self.match_id, seat=self.seat, tag=loaded.head.tag)
        return self.token

    def write(self, *lines: str, mail: str | None = None, person: Person | None = None) -> MailReport:
        """Answer the last mail as ``person``, if that matters; ``mail`` names this one, to send it once more."""
        self.mails += 1
        person = person or Person(self.player, self.player, "person", 0)
        reading = read_commands(lines, moves_of(self.state))
        name = mail or f"{self.player}-{self.mails}"
        return execute_commands(self.shop.parts, reading, self.token, person, name)

    def answer(self, *lines: str) -> tuple[str, str]:
        report = self.write(*lines)
        shown = self.shop.matches.load(self.match_id)
        zone = self.shop.availability.read([self.player])[self.player].zone
        view = make_match_reader(self.shop.parts).view(shown, self.seat, zone, self.shop.parts.now())
        return write_answer(report, view)


def effects(report: MailReport) -> list[Effect]:
    return [result.effect for result in report.results]


def words(report: MailReport) -> str:
    """Return what was said about the last line."""
    return report.results[-1].words


@pytest.fixture
def match(shop: SteppedInstallation) -> str:
    """Return a Bashni match of alice (White) and bob (Black) that has just started."""
    return shop.start("alice", "bob", terms=STANDARD._replace(takebacks=True))


@pytest.fixture
def alice(shop: SteppedInstallation, match: str) -> Correspondent:
    return Correspondent(shop, match, "alice")


@pytest.fixture
def bob(shop: SteppedInstallation, match: str) -> Correspondent:
    return Correspondent(shop, match, "bob")


def test_a_move_by_mail_is_played_and_says_so(alice: Correspondent) -> None:
    report = alice.write("Hello,", "", "A3B4", "> quoted")
    assert effects(report) == [Effect.PLAYED]
    assert words(report) == '"a3-b4" was played.'
    assert alice.state.play.moves == ("a3-b4",)
    assert alice.state.play.channels == (Channel.MAIL,)


def test_a_command_that_does_something_is_receipted(alice: Correspondent) -> None:
    receipt = read_receipt(alice.write("A3B4").receipt.encode())
    assert (receipt.match, receipt.version) == (alice.match_id, alice.state.version)
    alice.look()
    assert alice.write("board").receipt == ""


def test_the_same_mail_once_more_does_nothing_and_says_the_same(alice: Correspondent, bob: Correspondent) -> None:
    lines = ("a3-b4", "draw", "if f6-e5 then c3-d4", "board")
    first = alice.write(*lines, mail="one")
    version = alice.state.version
    assert alice.write(*lines, mail="one") == first
    assert alice.state.version == version
    bob.look()
    bob.write("f6-e5")
    assert alice.state.play.moves == ("a3-b4", "f6-e5", "c3-d4")
    assert alice.write(*lines, mail="one") == first


def test_an_answer_to_an_old_board_is_refused(alice: Correspondent, bob: Correspondent) -> None:
    alice.write("a3-b4")
    bob.look()
    bob.write("f6-e5")
    version = alice.state.version
    for line in ("c3-d4", "draw", "resign m1", "take back", "if e5-f4 then e3xg5"):
        report = alice.write(line)
        assert effects(report) == [Effect.REFUSED]
        assert words(report) == STALE
    assert alice.state.version == version


def test_an_answer_to_a_history_that_was_lost_is_refused(alice: Correspondent) -> None:
    alice.token = replace(alice.token, tag=VersionTag(alice.token.tag.version, "0" * 16))
    assert words(alice.write("a3-b4")) == STALE
    assert not alice.state.play.moves


def test_a_clock_that_was_paused_since_does_not_matter(shop: SteppedInstallation, alice: Correspondent) -> None:
    pause = PauseClock(reason=PauseReason.VACATION, player="bob", since=shop.now, until=shop.now + 10**9)
    shop.do(alice.match_id, pause)
    assert effects(alice.write("a3-b4")) == [Effect.PLAYED]


def test_two_moves_in_a_mail_are_both_refused(alice: Correspondent) -> None:
    report = alice.write("a3-b4", "draw", "c3-d4")
    assert effects(report) == [Effect.REFUSED] * 3
    assert report.results[0].words == report.results[2].words == ONE_MOVE
    assert not alice.state.play.moves


def test_the_same_move_twice_is_one_move(alice: Correspondent) -> None:
    assert effects(alice.write("a3-b4", "A3 B4")) == [Effect.REFUSED, Effect.REFUSED]
    assert effects(alice.write("a3-b4", "a3 - B4")) == [Effect.PLAYED, Effect.SHOWN]


def test_an_illegal_move_is_refused_with_the_reason(alice: Correspondent, bob: Correspondent) -> None:
    assert "e3" in words(alice.write("e3-e5")) or words(alice.write("e3-g5"))
    report = bob.write("f6-e5")
    assert words(report) == "It is not your turn: White is to move."
    assert effects(report) == [Effect.REFUSED]


def test_a_draw_goes_with_the_move_and_is_accepted_by_mail(alice: Correspondent, bob: Correspondent) -> None:
    report = alice.write("draw", "a3-b4")
    assert effects(report) == [Effect.SHOWN, Effect.PLAYED]
    assert words(report) == '"a3-b4" was played. You have offered a draw.'
    bob.look()
    report = bob.write("accept", mail="yes")
    assert words(report) == "You have agreed to the draw. The match is over: White 0.5, Black 0.5 (by agreement)."
    assert bob.state.status == Status.FINISHED
    assert bob.write("accept", mail="yes") == report
    assert words(bob.write("f6-e5")).startswith("The match is over: White 0.5, Black 0.5")


def test_an_offer_is_declined_by_mail(alice: Correspondent, bob: Correspondent) -> None:
    alice.write("draw")
    bob.look()
    assert words(bob.write("decline")) == "You have declined the draw."
    bob.look()
    assert words(bob.write("decline")) == "No draw is on offer."


def test_answers_count_for_their_offer(shop: SteppedInstallation, alice: Correspondent, bob: Correspondent) -> None:
    shop.do(alice.match_id, OfferDraw(player="alice"))
    bob.look()
    shop.do(alice.match_id, DeclineDraw(player="bob"))
    shop.do(alice.match_id, OfferDraw(player="bob"))
    alice.look()
    shop.do(alice.match_id, DeclineDraw(player="alice"))
    assert words(alice.write("accept")) == STALE_OFFER
    assert alice.state.status == Status.PLAYING


def test_one_answer_names_one_of_two(shop: SteppedInstallation, alice: Correspondent, bob: Correspondent) -> None:
    alice.write("a3-b4", "draw")
    shop.do(alice.match_id, RequestTakeback(player="alice"))
    bob.look()
    assert 'write "accept draw" or "accept takeback"' in words(bob.write("accept"))
    assert words(bob.write("accept take back")) == (
        "You have agreed to the takeback. The match goes on from the position after move 0."
    )
    assert bob.state.play.moves == ()


def test_a_takeback_is_asked_for_by_mail(alice: Correspondent) -> None:
    assert words(alice.write("take back")) == "You have not moved yet."
    alice.write("a3-b4")
    alice.look()
    assert words(alice.write("take back")) == "You have asked to take your last move back."


def test_resigning_must_be_confirmed(alice: Correspondent) -> None:
    assert alice.answer("resign")[0] == "Bashni: please confirm that you resign"
    report = alice.write("resign")
    assert effects(report) == [Effect.SHOWN]
    assert report.asks_to_confirm
    assert f'"resign {alice.match_id}"' in words(report)
    assert effects(alice.write("resign m99")) == [Effect.REFUSED]
    assert alice.state.status == Status.PLAYING
    report = alice.write(f"resign {alice.match_id}", mail="last")
    assert words(report) == "You have resigned. The match is over: White 0, Black 1 (by resignation)."
    assert alice.write(f"resign {alice.match_id}", mail="last") == report


def test_resigning_is_confirmed_in_answer_to_the_question(alice: Correspondent) -> None:
    alice.look(TokenKind.CONFIRM_RESIGNATION)
    assert effects(alice.write("resign")) == [Effect.DONE]
    assert alice.state.status == Status.FINISHED


def test_conditional_lines_are_added_to_those_that_are_stored(alice: Correspondent, bob: Correspondent) -> None:
    report = alice.write(
        "if f6-e5 then c3-d4", "a3-b4", "if f6-e5 then c3-d4", "if b6-a5 then c3-d4, if any then b2-a3"
    )
    assert effects(report) == [Effect.REFUSED, Effect.PLAYED, Effect.DONE, Effect.DONE]
    assert "It is your turn" in report.results[0].words
    shown = words(alice.write("queue"))
    assert shown == 'Conditional moves after move 1: "f6-e5" "c3-d4"; "b6-a5" "c3-d4" any "b2-a3".'
    bob.look()
    report = bob.write("f6e5")
    assert words(report) == '"f6-e5" was played. White\'s conditional move was played at once: "c3-d4".'


def test_a_second_answer_to_the_same_move_replaces_the_first(alice: Correspondent) -> None:
    alice.write("a3-b4", "if f6-e5 then c3-d4, if any then b2-a3", "if f6-e5 then e3-d4")
    assert words(alice.write("queue")) == 'Conditional moves after move 1: "f6-e5" "e3-d4".'


def test_an_impossible_conditional_line_is_refused(alice: Correspondent) -> None:
    report = alice.write("a3-b4", "if f6-e5 then a1-a2", "if f6-e5 then h8-h7")
    assert effects(report)[1:] == [Effect.UNKNOWN, Effect.UNKNOWN]
    report = alice.write("if f6-e5 then a1-b2")
    assert effects(report) == [Effect.REFUSED]
    assert words(alice.write("queue")) == "You have no conditional moves."


def test_what_is_laid_down_counts_as_it_is_stored(shop: SteppedInstallation, alice: Correspondent) -> None:
    alice.write("a3-b4", "if f6-e5 then c3-d4")
    counted = shop.client.hgetall(PeopleKeys(PREFIX).conditional_moves("alice"))
    alice.write("if b6-a5 then a1-b2")
    assert shop.client.hgetall(PeopleKeys(PREFIX).conditional_moves("alice")) == counted
    alice.write("clear queue")
    assert shop.client.hgetall(PeopleKeys(PREFIX).conditional_moves("alice")) != counted


def test_what_is_laid_down_is_taken_away(alice: Correspondent) -> None:
    alice.write("a3-b4", "if f6-e5 then c3-d4", "forced on")
    assert words(alice.write("clear queue")) == "You have no conditional moves any more."
    assert words(alice.write("queue")) == "Your only legal move is played for you."
    alice.write("forced off")
    assert words(alice.write("queue")) == "You have no conditional moves."


def test_an_invitation_is_accepted_or_declined_by_mail(shop: SteppedInstallation) -> None:
    first = shop.create(Seat.taken("alice"), Seat.invited("bob"))
    report = Correspondent(shop, first, "bob").write("accept", mail="yes")
    assert words(report) == "You have taken your seat. The match has started."
    assert Correspondent(shop, first, "bob").write("accept", mail="yes") == report
    second = shop.create(Seat.taken("alice"), Seat.invited("bob"))
    assert words(Correspondent(shop, second, "bob").write("decline")) == "The match was cancelled."


def test_a_blocked_player_does_not_join_by_mail(shop: SteppedInstallation) -> None:
    match = shop.create(Seat.taken("alice"), Seat.invited("bob"))
    shop.parts.blocks.put("alice", "bob", "block")
    report = Correspondent(shop, match, "bob").write("accept")
    assert words(report) == "A player of this match has blocked you."
    assert shop.state(match).status == Status.OPEN


def test_a_bot_does_not_accept_more_by_mail_than_it_takes_on(shop: SteppedInstallation) -> None:
    bot = Person("pbot", "Mr-Tower", "person", 0)
    shop.parts.people.enrol(bot, "")
    bot = shop.parts.bots.declare(bot, Capacity(games=("bashni",), concurrent=1))
    first, second = (shop.create(Seat.taken("alice"), Seat.invited(bot.id)) for _ in range(2))
    joined = Correspondent(shop, first, bot.id).write("accept", person=bot, mail="yes")
    assert effects(joined) == [Effect.DONE]
    assert words(Correspondent(shop, second, bot.id).write("accept", person=bot)) == (
        "Mr-Tower plays 1 match at once at most, invitations included, and has none free."
    )
    assert shop.state(second).status == Status.OPEN
    assert Correspondent(shop, first, bot.id).write("accept", person=bot, mail="yes") == joined


def test_a_suspended_player_changes_nothing(shop: SteppedInstallation, alice: Correspondent) -> None:
    shop.parts.people.suspend(Person("alice", "alice", "person", 0), Suspension("rude", None))
    report = alice.write("a3-b4", "board")
    assert effects(report) == [Effect.REFUSED, Effect.SHOWN]
    assert report.results[0].words == "Your account is suspended: rude"
    assert not alice.state.play.moves


def test_no_mail_is_sent_any_more_after_stop_mail(shop: SteppedInstallation, alice: Correspondent) -> None:
    shop.parts.addresses.change("alice", lambda stored: stored.__class__(address="a@home.example"))
    alice.write("stop mail")
    assert not shop.parts.addresses.read("alice").reachable


def test_mail_about_no_match_plays_nothing(shop: SteppedInstallation) -> None:
    reading = read_commands(["board", "well", "help", "stop mail"], NO_MOVES)
    report = execute_account_commands(shop.parts, reading, Person("alice", "alice", "person", 0), "m")
    assert effects(report) == [Effect.REFUSED, Effect.UNKNOWN, Effect.SHOWN, Effect.DONE]


def test_a_mail_enters_and_leaves_a_tournament_once_however_often_it_is_read(
    shop: SteppedInstallation, alice: Correspondent
) -> None:
    id = stream_id(StreamKind.TOURNAMENT, "olga", "1")
    terms = replace(TWO_SEATS, starts_at=T0 + 5 * DAY, latest_end=T0 + 300 * DAY)
    announced = c.AnnounceTournament(organiser="olga", terms=terms)
    shop.parts.tournaments.contests.execute(id, announced, "olga", Request("announced", ""))
    entered = alice.write(f"Enter {id}", mail="first")
    assert effects(entered) == [Effect.DONE]
    assert entered.results[0].words == "You have entered the tournament Autumn round."
    assert alice.write(f"Enter {id}", mail="first") == entered
    person = Person("alice", "alice", "person", 0)
    reading = read_commands([f"leave {id}", f"leave {id}", "enter tournament-none"], NO_MOVES)
    report = execute_account_commands(shop.parts, reading, person, "second")
    assert effects(report) == [Effect.DONE, Effect.REFUSED, Effect.REFUSED]
    assert [result.words for result in report.results[1:]] == [
        "You have not entered this tournament.",
        "There is no such tournament.",
    ]
    assert shop.parts.tournaments.contests.load(id).state.entries == ()


def test_an_army_is_set_up_in_one_mail(shop: SteppedInstallation) -> None:
    four = ("wendy", "blue", "rita", "bob")
    match = shop.start(*four, game="fourplay", setup="draft")
    wendy = Correspondent(shop, match, "wendy")
    draft = _ready_army(wendy)
    report = wendy.write(draft[0], " ".join(draft[1:-1]), "K@h8", "done")
    assert effects(report) == [Effect.REFUSED, *[Effect.SHOWN] * 3]
    assert "None of the moves was played." in report.results[0].words
    assert not wendy.state.play.moves
    lines = (draft[0], " ".join(draft[1:-1]), draft[-1], "done")
    report = wendy.write(*lines, mail="army")
    assert wendy.write(*lines, mail="army") == report
    assert effects(report) == [Effect.PLAYED, *[Effect.SHOWN] * 3]
    assert report.results[0].words == f"All {len(draft) + 1} moves were played."
    assert report.plies == len(wendy.state.play.moves) == len(draft) + 1


def _ready_army(correspondent: Correspondent) -> tuple[str, ...]:
    state = correspondent.state
    draft = find_ruleset(state.game, state.ruleset).draft(state.play.position)
    assert draft is not None
    return draft.ready


def test_a_seat_that_another_player_has_is_not_spoken_for(alice: Correspondent) -> None:
    alice.token = replace(alice.token, seat=1)
    with pytest.raises(UnknownMatchError):
        alice.write("a3-b4")


def test_what_is_said_by_mail_stands_in_the_chat_once(shop: SteppedInstallation, alice: Correspondent) -> None:
    for _ in range(2):
        report = alice.write("say Well played!", "a3-b4", mail="the same")
        assert effects(report) == [Effect.DONE, Effect.PLAYED]
    assert [(said.author, said.text) for said in shop.parts.chats.read(alice.match_id, 0, 9)] == [
        ("alice", "Well played!")
    ]
    assert shop.parts.checks.work.contents(alice.match_id) == {f"chat {alice.match_id}": "0"}


def test_chats_by_mail_heed_blocks_limits(shop: SteppedInstallation, alice: Correspondent, bob: Correspondent) -> None:
    assert "fewer than 400 characters" in words(alice.write(f"say {'x' * 400}"))
    assert shop.parts.chats.spend_bytes("alice", 999_999)
    assert words(alice.write("say Hello")) == "You have written as much as one person may in 30 days."
    shop.parts.blocks.put("alice", "bob", BLOCK)
    assert words(bob.write("say Hello")) == "The players of this match have blocked you."
    assert shop.parts.chats.length(alice.match_id) == 0
