"""The answer to a mail: what it says, and that it does nothing when it comes back."""

from dataclasses import replace
from random import Random

import pytest

from domain.errors import RulesError
from domain.games import GAMES, find_ruleset
from domain.match.commands import JoinMatch, OfferDraw, RequestTakeback, Resign
from domain.match.lines import ConditionalMoves, Line, Lines
from domain.match.state import Proposal, Seat
from domain.match.terms import STANDARD
from events.notify.mail.body import read_body
from events.notify.mail.language import MARKER, NO_MOVES, read_command, read_commands
from events.notify.mail.match_words import instant_words, moves_of, queue_text
from events.notify.mail.messages import Addressee, Site
from events.notify.mail.notice_text import NoticeView, digest_content, notice_content
from events.notify.mail.transcript import Effect, LineResult, MailReport, MatchView, prompt_text, write_answer
from events.notify.notice import Notice, NoticeKind
from events.notify.wording import summarise_fact
from tests.support.draws import sampled
from tests.support.matches import T0, PlayedMatch, creation, started, started_by_four
from tests.support.quoting import commands_in, lines_that_act, quotings

URL = "https://play.example/matches/mabcdefghijklmnop"
SETUPS = [(game.id, setup) for game in GAMES.values() for setup in game.setups]


def played(game: str, setup: str, plies: int) -> PlayedMatch:
    """Return a match after ``plies`` random moves."""
    seats = len(GAMES[game].setups[setup].seat_names)
    players = [Seat.taken("alice"), *[Seat.open()] * (seats - 1)]
    match = PlayedMatch(creation(*players, game=game, setup=setup, terms=STANDARD._replace(takebacks=True)))
    for number in range(1, seats):
        match.do(JoinMatch(player=f"player-{number}"))
    chance = Random(f"{game}/{setup}")
    rules = find_ruleset(game, match.state.ruleset)
    for _ in range(plies):
        mover = match.state.seats[rules.to_move(match.state.play.position)].player
        match.move(mover, chance.choice(match.legal_moves()))
    return match


def view(match: PlayedMatch, seat: int = 0, zone: str = "Europe/Berlin", **orders: object) -> MatchView:
    laid_down = ConditionalMoves(**orders)  # type: ignore[arg-type]
    return MatchView(state=match.state, seat=seat, orders=laid_down, now=match.now, zone=zone, url=URL)


def result(line: str, effect: Effect, words: str, plies: int = 0) -> LineResult:
    return LineResult(line=line, effect=effect, words=words, plies=plies)


PLAYED = result("A3B4", Effect.PLAYED, '"a3-b4" was played.', 1)
REFUSED = result("c3-d4", Effect.REFUSED, "It is not your turn: Black is to move.")
UNKNOWN = result("what now", Effect.UNKNOWN, "This line is no command.")
DREW = result("draw", Effect.DONE, "You have offered a draw.")
SHOWN = result("board", Effect.SHOWN, "The match stands below.")


def test_each_line_is_quoted_with_what_became_of_it_under_it() -> None:
    subject, text = write_answer(MailReport(results=(PLAYED, REFUSED, UNKNOWN), gave_up=True), view(started()))
    assert subject == "Bashni: 1 move played, with 1 error; 1 line was not read"
    assert text.startswith(
        f"{MARKER}\n\n"
        '> 1: A3B4\n"a3-b4" was played.\n\n'
        "> 2: c3-d4\nIt is not your turn: Black is to move.\n\n"
        "> 3: what now\nThis line is no command.\n\n"
        "Reading ended here"
    )
    assert text.endswith(f"{URL}\n")


@pytest.mark.parametrize(
    ("results", "subject"),
    [
        ((PLAYED,), "Bashni: 1 move played"),
        ((replace(PLAYED, plies=7),), "Bashni: 7 moves played"),
        ((DREW, SHOWN), "Bashni: You have offered a draw"),
        ((DREW, UNKNOWN), "Bashni: You have offered a draw; 1 line was not read"),
        ((PLAYED, UNKNOWN, UNKNOWN), "Bashni: 1 move played; 2 lines were not read"),
        ((REFUSED,), "Bashni: nothing played: It is not your turn: Black is to move"),
        ((UNKNOWN, REFUSED), "Bashni: nothing played: It is not your turn: Black is to move; 1 line was not read"),
        ((SHOWN,), "Bashni: the board"),
        ((), "Bashni: nothing played: there was no command in your mail"),
    ],
)
def test_the_subject_says_what_was_done(results: tuple[LineResult, ...], subject: str) -> None:
    assert write_answer(MailReport(results=results), view(started()))[0] == subject


def test_a_mail_without_commands_is_answered_with_all_of_them() -> None:
    _, text = write_answer(MailReport(passed_over=("Let us see", "c3 to d4")), view(started()))
    assert "No command was found in your mail" in text
    assert "These lines were read:\n> 1: Let us see\n> 2: c3 to d4\n" in text
    assert '| "if MOVE then MOVE": enter conditional moves' in text
    _, text = write_answer(MailReport(remark="The mail has no text that can be read."), None)
    assert "The mail has no text that can be read." in text


def test_the_match_is_shown_with_clocks_as_instants_and_an_example() -> None:
    match = started()
    match.move("alice", "a3-b4")
    match.do(OfferDraw(player="alice"))
    orders = Lines(ply=1, position="", first=(Line(move="f6-e5", next=(Line(move="c3-d4"),)),))
    _, text = write_answer(MailReport(results=(PLAYED,)), view(match, 1, lines=orders, forced=True))
    assert "Bashni: you are Black. It is your turn." in text
    assert 'Last moves: White "a3-b4".' in text
    assert "| 8    b   b   b   b\n" in text
    assert " in Europe/Berlin (" in text
    assert "White has 10 days 23 hours." in " ".join(text.split())
    assert 'White offers a draw: write "accept draw" or "decline draw"' in text
    assert "(in the form a3-b4)." in " ".join(text.split()), "which is no move of Black"
    assert 'You have conditional moves: "queue" shows them.' in " ".join(text.split())
    assert "c3-d4" not in text, "mail is read by others, and copied into answers to them"


def test_instants_are_in_the_zone_of_the_player_and_in_utc() -> None:
    assert instant_words(T0, "UTC") == "Tue 14 Nov 2023, 22:13 UTC"
    assert instant_words(T0, "Asia/Kolkata") == "Wed 15 Nov 2023, 03:43 in Asia/Kolkata (Tue 14 Nov 2023, 22:13 UTC)"
    july = T0 + 250 * 24 * 3_600_000
    assert instant_words(july, "Europe/Berlin").startswith("Mon 22 Jul 2024, 00:13 in Europe/Berlin")


def test_the_end_of_a_match_is_said() -> None:
    match = started()
    match.do(Resign(player="bob"))
    _, text = write_answer(MailReport(results=(SHOWN,)), view(match))
    assert "The match is over: White 1, Black 0 (by resignation)." in " ".join(text.split())
    assert "To move" not in text


@pytest.mark.parametrize(("game", "setup"), SETUPS)
def test_the_example_is_written_like_a_move_and_is_none_here(game: str, setup: str) -> None:
    for plies in range(7):
        match = played(game, setup, plies)
        rules = find_ruleset(game, match.state.ruleset)
        _, text = write_answer(MailReport(results=(SHOWN,)), view(match, rules.to_move(match.state.play.position)))
        example = " ".join(text.split()).partition("(in the form ")[2].partition(")")[0]
        assert read_command(example, moves_of(match.state)) is not None
        with pytest.raises(RulesError):
            rules.read_move(match.state.play.position, example, setup)


FORMS = ("{}", "12. {}", "{}!", "- *{}*.", "Move: {}")


@sampled(("game", "setup"), SETUPS)
def test_moves_are_read_as_they_are_displayed_and_with_what_people_write_around_them(game: str, setup: str) -> None:
    match = played(game, setup, 20)
    rules, position = find_ruleset(game, match.state.ruleset), match.state.play.position
    for text in match.legal_moves()[:20]:
        move = rules.parse_move(position, text)
        for form in FORMS:
            found = read_command(form.format(rules.display_move(position, move)), moves_of(match.state))
            assert found is not None, form
            (written,) = found.argument
            assert rules.read_move(position, written, setup) == move


def test_a_demand_of_the_rules_is_said_to_the_one_who_must_meet_it() -> None:
    match = started()
    match.move("alice", "c3-d4")
    match.move("bob", "f6-e5")
    said = [write_answer(MailReport(results=(SHOWN,)), view(match, seat))[1] for seat in (0, 1)]
    assert ["must capture" in text for text in said] == [True, False]


@sampled(("game", "setup"), SETUPS)
def test_an_answer_of_ours_does_nothing_when_it_comes_back(game: str, setup: str) -> None:
    plies = 9
    match = played(game, setup, plies)
    moves, legal = moves_of(match.state), match.legal_moves()
    rules = find_ruleset(game, match.state.ruleset)
    last = rules.to_move(match.state.play.position_after(plies - 1))
    match.do(RequestTakeback(player=match.state.seats[last].player))
    shown = [
        rules.display_move(match.state.play.position, move) for move in rules.legal_moves(match.state.play.position)
    ]
    orders = Lines(
        ply=plies, position="", first=tuple(Line(move=each, next=(Line(move=legal[0]),)) for each in legal[:12])
    )
    results = (
        result(legal[0], Effect.PLAYED, f'"{legal[0]}" was played.', 1),
        result("draw", Effect.DONE, "You have offered a draw."),
        result(legal[-1], Effect.REFUSED, f"It could be several moves: write {' or '.join(shown[:20])}, ..."),
        result("resign", Effect.SHOWN, f'To give the match up, answer with the line "resign {match.state.match_id}".'),
        result(f"if {' and '.join(legal[:5])} then {legal[0]}", Effect.DONE, "Added to your conditional moves."),
        result("queue", Effect.SHOWN, queue_text(ConditionalMoves(lines=orders))),
        UNKNOWN,
    )
    report = MailReport(results=results, gave_up=True, wants_help=True)
    for seat in (0, 1):
        _, text = write_answer(report, view(match, seat, lines=orders))
        assert lines_that_act(text, moves) == []
    for content in quotings(text):
        assert commands_in(content, moves) == []
        own = content.replace(b"\n\n", b"\n\nboard\n", 1)
        assert len(read_commands(read_body(own).lines, moves).commands) <= 1


@sampled(("game", "setup"), SETUPS)
def test_a_notice_of_ours_does_nothing_when_it_comes_back(game: str, setup: str) -> None:
    match = played(game, setup, 7)
    summary = summarise_fact("turn:7", GAMES[game].title)
    notice = Notice(
        id="n" * 24, player="alice", kind=NoticeKind.TURN, match=match.state.match_id, version=match.state.version,
        fact="turn:7", summary=summary, reason="You are told at once when it is your turn.", at=match.now,
        decided_at=match.now,
    )  # fmt: skip
    site = Site(domain="mail.example", page_url="https://play.example")
    to = Addressee(player="alice", name="b7", address="alice@home.example", zone="Europe/Rome", secret=bytes(20))
    subject = NoticeView(notice, replace(view(match), others=("draw", "cc4")), reply_to="r-abc@mail.example")
    for content in (notice_content(site, to, [subject], None), digest_content(site, to, [subject])):
        assert lines_that_act("\n\n".join(content.paragraphs), moves_of(match.state)) == []


def test_an_answer_about_no_match_does_nothing_when_it_comes_back() -> None:
    _, text = write_answer(MailReport(results=(UNKNOWN,)), None)
    for content in quotings(text):
        assert commands_in(content, NO_MOVES) == []


def test_quoting_is_told_from_writing() -> None:
    moves = moves_of(started_by_four().state)
    assert lines_that_act("b7\nwrite b7", moves) == ["b7"]
    assert any(commands_in(content, moves) for content in quotings("b7"))


def test_a_proposal_of_other_rules_is_answered_on_the_page() -> None:
    shown = view(started())
    proposed = replace(shown.state, cases=replace(shown.state.cases, proposal=Proposal(ruleset=9, agreed=(1,))))
    prompts = [" ".join(prompt_text(replace(shown, state=proposed, seat=seat)).split()) for seat in (0, 1)]
    assert ["answer that on the page of the match" in prompt for prompt in prompts] == [True, False]
