"""The closed language of mail: which lines are commands, and where reading ends."""

import pytest
from hypothesis import given, strategies as st

from domain.errors import MalformedNotation, RulesError
from domain.games import GAMES
from events.notify.mail.language import (
    MARKER,
    MAX_COMMANDS,
    NO_MOVES,
    Command,
    LineStep,
    Moves,
    UnknownLine,
    Unread,
    Verb,
    read_command,
    read_commands,
)
from tests.support.tables import table

BASHNI = GAMES["bashni"]
START = BASHNI.initial("start")


def is_move(text: str) -> bool:
    try:
        BASHNI.read_move(START, text, "start")
    except MalformedNotation:
        return False
    except RulesError:
        return True
    return True


MOVES = Moves(is_move)


def command(line: str) -> Command | None:
    return read_command(line, MOVES)


def verbs(text: str, moves: Moves = MOVES) -> list[str]:
    return [found.line for found in read_commands(text.splitlines(), moves).commands]


@pytest.mark.parametrize("line", ["a3-b4", "A3B4", "a3 b4", "move a3-b4", "Play a3-b4", "a3:b4", "c1-d2"])
def test_a_line_with_the_form_of_a_move_is_a_move_legal_or_not(line: str) -> None:
    found = command(line)
    assert found is not None
    assert found.verb == Verb.MOVE


@pytest.mark.parametrize("line", table(__file__, "what people write around a move is no part of it"))
def test_what_people_write_around_a_move_is_no_part_of_it(line: str) -> None:
    found = command(line)
    assert found is not None
    assert found.argument == ("a3-b4",)


@pytest.mark.parametrize("line", ['"a3-b4"', "'a3-b4'", "\u201ca3-b4\u201d", "\u201ea3-b4\u201c.", "`a3-b4`"])
def test_a_move_in_quotation_marks_is_none_and_is_answered_with_how_to_write_it(line: str) -> None:
    reading = read_commands(["Here it is:", line], MOVES)
    assert reading.items == (UnknownLine(line, Unread.QUOTED_MOVE),)
    assert reading.passed_over == ("Here it is:",)


@pytest.mark.parametrize("line", ["done+", "pass", "e5xd6 e.p.", "E5xD6 E.P.", "O-B+"])
def test_moves_are_read_as_the_games_write_them(line: str) -> None:
    found = read_command(line, Moves(lambda _: True))
    assert found is not None
    assert found.argument == (line,)


@pytest.mark.parametrize(
    "line",
    [
        *("I play a3-b4", "a3-b4 or c3-d4?", "a3-b4?", "Move: to a3-b4", "*a3-b4", '"a3-b4"', "| a3-b4", "(a3-b4)"),
        *("", "move", "play", "42", "if", "if a3-b4", "if a3-b4 then", "then a3-b4", "if a3-b4 then we see", "draw?"),
        *(
            "accept it",
            "please resign",
            "resign!",
            "stop the mail",
            "say",
            "forced",
            "forced maybe",
            "boards",
            "x" * 5000,
        ),
        *("if a3-b4 then c3-d4 if", "if if a3-b4 then c3-d4", "if a3-b4 then c3-d4 then e3-f4", "a3-b4 " * 40),
    ],
)
def test_prose_is_no_command(line: str) -> None:
    assert command(line) is None


@pytest.mark.parametrize(("line", "verb", "argument"), table(__file__, "commands are words in any case"))
def test_commands_are_words_in_any_case(line: str, verb: str, argument: list[str]) -> None:
    assert command(line) == Command(line=line, verb=Verb(verb), argument=tuple(argument))


def test_conditional_lines_have_one_or_more_steps() -> None:
    found = command("If f6-e5 then c3-d4, if any, then e3-f4 if b6-a5 and d6-c5 then a3-b4")
    assert found is not None
    assert found.steps == (
        LineStep(("f6-e5",), "c3-d4"),
        LineStep(("*",), "e3-f4"),
        LineStep(("b6-a5", "d6-c5"), "a3-b4"),
    )


def test_a_turn_of_several_moves_may_stand_on_one_line() -> None:
    fourplay = GAMES["fourplay"]
    start = fourplay.initial("draft")

    def is_placement(text: str) -> bool:
        try:
            fourplay.read_move(start, text, "draft")
        except MalformedNotation:
            return False
        except RulesError:
            return True
        return True

    several = Moves(is_placement, several=True)
    found = read_command("K@b2 ,@c4 done", several)
    assert found is not None
    assert found.argument == ("K@b2", ",@c4", "done")
    assert read_command("K@b2 and then some", several) is None
    assert read_command("K@b2 ,@c4 done", Moves(is_placement)) is None


@pytest.mark.parametrize("end", table(__file__, "reading ends at quoted text and signatures"))
def test_reading_ends_at_quoted_text_and_signatures(end: str) -> None:
    assert verbs(f"a3-b4\n{end}\nc3-d4\nboard") == ["a3-b4"]


def test_a_command_right_above_the_quoted_text_counts() -> None:
    for end in (MARKER, "On Sunday Rookery <r-abc@play.example>\nwrote:", "> quoted"):
        assert verbs(f"board\na3-b4\n{end}\nc3-d4") == ["board", "a3-b4"]


def test_closing_words_end_reading_only_after_a_command() -> None:
    assert verbs("Thanks!\nDanke\na3-b4\nRegards\nc3-d4") == ["a3-b4"]
    assert verbs("stop\na3-b4") == []


def test_an_introduction_never_takes_the_move_above_it() -> None:
    for introduction in ("On Sunday at 17:00 Rookery wrote:", "Rookery <r-abc@play.example> wrote:", MARKER):
        assert verbs(f"My move:\na3-b4\n{introduction}\nc3-d4") == ["a3-b4"]


QUOTED = "On Sunday Rookery <r-abc@play.example> wrote:\n\n> It is your turn\n"


def test_below_a_quotation_marked_line_by_line_only_a_move_and_what_follows_it_count() -> None:
    assert verbs(f"Hm.\n{QUOTED}Let me see\n> c3-d4\nfine\na3-b4\ndraw\n> c5-d6") == ["a3-b4", "draw"]
    reading = read_commands(f"{QUOTED}resign\n".splitlines(), MOVES)
    assert reading.items == (UnknownLine("resign", Unread.BELOW_QUOTATION),)
    assert verbs(f"a3-b4\n{QUOTED}c3-d4") == ["a3-b4"], "the one above counts"
    assert verbs(f"{QUOTED}a3-b4\n> more\nc3-d4") == ["a3-b4", "c3-d4"], "of which none is played"


def test_an_earlier_mail_that_is_quoted_without_marks_is_not_read_below_what_it_quotes_itself() -> None:
    fields = "Kutoka: Alice\nIlitumwa: 22.11.2026\nKwa: Rookery"
    for earlier in ("Nice move!\n\n> your turn\n\nc3-d4", "c3-d4\n\n> your turn\n\nc3-d4"):
        assert verbs(f"{fields}\n\n{earlier}") == []


def test_below_a_quotation_that_goes_on_without_marks_nothing_is_read() -> None:
    for unmarked in (
        MARKER,
        "| 8   b   b",
        "From: Alice\nSent: today\nTo: Rookery",
        "Alice <alice@home.example>:",
        "-- ",
        "On Sunday at 17:00 Alice wrote:",
    ):
        assert verbs(f"{QUOTED}{unmarked}\na3-b4") == []


def test_moves_that_look_like_quoting_are_read() -> None:
    anything = Moves(lambda _: True)
    for move in ("g7>g8", "e8<>i4", "a1>>b2", ",@c4", "@R:e5", "*@e4"):
        assert verbs(move, anything) == [move]


def test_a_few_words_may_come_before_the_commands() -> None:
    assert verbs("Dear server,\n\nthat was a surprise.\n\na3-b4\n") == ["a3-b4"]
    reading = read_commands(["one", "two", "three", "four", "five", "six", "a3-b4"], MOVES)
    assert reading.items == ()
    assert reading.gave_up


def test_lines_between_commands_are_listed_and_reading_ends_after_five() -> None:
    reading = read_commands(["a3-b4", "well", "board", *("and", "so", "it", "goes", "on", "and on"), "help"], MOVES)
    assert [item.line for item in reading.items if isinstance(item, UnknownLine)][:2] == ["well", "and"]
    assert [found.verb for found in reading.commands] == [Verb.MOVE, Verb.BOARD]
    assert reading.gave_up


def test_a_mail_has_so_many_commands_at_most() -> None:
    reading = read_commands(["board"] * (MAX_COMMANDS + 1), MOVES)
    assert len(reading.commands) == MAX_COMMANDS
    assert reading.gave_up


def test_words_without_a_digit_are_moves_in_few_forms_only() -> None:
    anything = Moves(lambda _: True)
    assert [word for word in ("pass", "done", "O-B", "0-m", "oj", "well", "a-b") if verbs(word, anything)] == [
        *("pass", "done", "O-B", "0-m")
    ]


def test_mail_about_no_match_has_no_moves() -> None:
    assert verbs("a3-b4\nboard\nstop mail", NO_MOVES) == ["board", "stop mail"]


@given(st.lists(st.text("ab34-> if then wrote:@<>*_move\u0130ß", max_size=60), max_size=8))
def test_any_lines_are_read(lines: list[str]) -> None:
    assert set(verbs("\n".join(lines))) <= {line for each in lines for line in each.splitlines()}
