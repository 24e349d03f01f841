"""Answers in the manner of many mail programs, with quotations introduced in many languages: nothing quoted plays."""

import pytest

from events.notify.mail.body import read_body
from events.notify.mail.language import MARKER, read_commands
from tests.support.draws import sampled
from tests.support.mail_programs import ALICE, LANGUAGES, PROGRAMS, ROOKERY, Program, Quoted
from tests.unit.test_mail_language import MOVES

NOTICE = (
    f"{MARKER}\n\nIt is your turn in a match of Bashni.\n\nTo move, write the move alone on a line at the top.\n\n"
    "| 8    b   b   b   b\n| 1  w   w   w   w\n|    a b c d e f g h\n\nThe match: https://play.example/matches/m1\n"
)
MARKED_NOTICE = "\n".join(f"> {line}" for line in NOTICE.splitlines())
EARLIER = [
    Quoted(ALICE, ROOKERY, text)
    for text in (
        "c3-d4",
        "c3-d4\n\nThanks\nAlice",
        "Good morning,\n\nc3-d4\ndraw\n",
        f"c3-d4\n\nOn Sun, Nov 22, 2026 at 4:00 PM {ROOKERY[0]} <{ROOKERY[1]}> wrote:\n\n{MARKED_NOTICE}",
    )
]
QUOTED = [Quoted(ROOKERY, ALICE, NOTICE), *EARLIER]

WITHOUT_MOVE = ("", "Thanks!\nLet me think about it.\n\nAlice")
WITH_MOVE = ("a3-b4", "Danke! Here it is:\n\n1. a3-b4!\n\nViele Grüße\nAlice")
MARKING = [program for program in PROGRAMS if program.marks_lines]


def moves_in(mail: bytes) -> list[str]:
    return [" ".join(found.argument) for found in read_commands(read_body(mail).lines, MOVES).commands]


every_language = sampled("column", range(len(LANGUAGES)), ids=lambda column: LANGUAGES[column].name)


def wrong(
    programs: list[Program], column: int, top: str, expected: list[str], below: str = "", after: int = 10**6
) -> list[str]:
    """Return the mails that are not read as ``expected``, of each program in a language."""
    language = LANGUAGES[column]
    return [
        f"{program.name} / {language.name} / {quoted.text[:30]!r}: {found}"
        for row, program in enumerate(programs)
        for quoted in (QUOTED if not top and not below else [QUOTED[(row + column) % len(QUOTED)]])
        if (found := moves_in(program.answer(top, quoted, language, below=below, after=after))) != expected
    ]


@every_language
@pytest.mark.parametrize("top", WITHOUT_MOVE)
def test_where_nothing_is_written_above_a_quotation_nothing_is_played(top: str, column: int) -> None:
    assert wrong(PROGRAMS, column, top, []) == []


@every_language
@pytest.mark.parametrize("top", WITH_MOVE)
def test_a_move_above_a_quotation_is_read_once(top: str, column: int) -> None:
    assert wrong(PROGRAMS, column, top, ["a3-b4"]) == []


@every_language
@pytest.mark.parametrize("after", [3, 10**6])
def test_a_move_between_or_below_lines_marked_one_by_one_is_read_once(after: int, column: int) -> None:
    assert wrong(MARKING, column, "", ["a3-b4"], "a3-b4", after) == []
