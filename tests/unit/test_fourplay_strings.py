"""The position strings and the move strings of Fourplay (rules, section 9; E45): what is one, and what is not."""

import pytest

from domain.fourplay import GAME
from domain.game import IllegalMove, MalformedNotation, RulesError
from tests.support.slow_fourplay.board import read
from tests.support.slow_fourplay.placing import KINGS, placed

BOARD = "15/bK13yK/15/15/15/15/15/7*7/15/15/3rQ11/2rDg8g,3/15/14gK/rK14"
EMPTY = "15/15/15/15/15/15/15/7*7/15/15/15/15/15/15/15"
ARMY = "rKa7 rAa2 rAa3 rQa4 rDga5 rDga6 "
"""A finished Red army: 49 points, with two points more 51."""


def refused(text: str, reason: str) -> None:
    with pytest.raises(MalformedNotation, match=reason):
        GAME.parse_position(text)
    with pytest.raises(ValueError, match=r"\w"):
        read(text)


@pytest.mark.parametrize(
    ("rest", "reason"),
    [
        ("r play - - 0 0", "6 fields"),
        ("r play - -", "6 fields"),
        ("r  play - - 0", "6 fields"),
        ("r play - - 0 ", "6 fields"),
        ("r\tplay\t-\t-\t0", "6 fields"),
        ("w play - - 0", "side to move"),
        ("R play - - 0", "side to move"),
        ("rb play - - 0", "side to move"),
        (" play - - 0", "side to move"),
        ("r begin - - 0", "phase"),
        ("r Play - - 0", "phase"),
        ("r play  - 0", "eliminated players"),
        ("r play bb - 0", "eliminated players"),
        ("r play rbyg - 0", "eliminated players"),
        ("r play b- - 0", "eliminated players"),
        ("r play w - 0", "eliminated players"),
        ("r play B - 0", "eliminated players"),
        ("r play r - 0", "side to move, r, is eliminated"),
        ("r play b - 0", "b is eliminated but has a King"),
        ("r play -  0", "attachments"),
        ("r play - c4>a1; 0", "attachments"),
        ("r play - c4>a1,c4>d5 0", "attachments"),
        ("r play - c4-a1 0", "attachments"),
        ("r play - c4> 0", "attachments"),
        ("r play - c04>a1 0", "attachments"),
        ("r play - c4>p1 0", "attachments"),
        ("r play - c4>a16 0", "attachments"),
        ("r play - C4>a1 0", "attachments"),
        ("r play - d5>a1 0", "no Little Dog stands on d5"),
        ("r play - e9>a1 0", "no Little Dog stands on e9"),
        ("r play - c4>c5 0", "no piece stands on c5"),
        ("r play - c4>h8 0", "no piece stands on h8"),
        ("r play - c4>c4 0", "own host"),
        ("r play - c4>a1;c4>d5 0", "repeated or out of order"),
        ("r play - - 101", "from 0 to 100"),
        ("r play - - 1000", "from 0 to 100"),
        ("r play - - 007", "from 0 to 100"),
        ("r play - - 00", "from 0 to 100"),
        ("r play - - -1", "from 0 to 100"),
        ("r play - - +1", "from 0 to 100"),
        ("r play - - 1.0", "from 0 to 100"),
        ("r play - - -", "from 0 to 100"),
        ("r play - - ", "from 0 to 100"),
        ("r play - - 0\n", "from 0 to 100"),
    ],
)  # fmt: skip
def test_the_fields_after_the_board_are_refused_with_the_reason(rest: str, reason: str) -> None:
    assert GAME.format_position(GAME.parse_position(f"{BOARD} r play - c4>a1 100")) == f"{BOARD} r play - c4>a1 100"
    refused(f"{BOARD} {rest}", reason)


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("3rQ11", "3rQ10", "row 5: has 14 squares"),
        ("3rQ11", "3rQ12", "row 5: has more than 15 squares"),
        ("3rQ11", "15rQ", "row 5: has more than 15 squares"),
        ("3rQ11", "3rQ0011", "row 5: bad run"),
        ("3rQ11", "3rQ011", "row 5: bad run"),
        ("3rQ11", "0003rQ11", "row 5: bad run"),
        ("3rQ11", "3rQ56", "row 5: bad run"),
        ("3rQ11", "3rQ10rG0", "row 5: bad run"),
        ("15/bK", "16/bK", "row 15: bad run"),
        ("15/bK", "114/bK", "row 15: bad run"),
        ("15/bK", "bK", "expected 15 rows"),
        ("15/bK", "15/15/bK", "expected 15 rows"),
        ("rK14", "rK14/", "expected 15 rows"),
        ("15/bK", "/bK", "row 15: has 0 squares"),
        ("7*7", "15", "Neutron"),
        ("7*7", "6*8", "Neutron"),
        ("7*7", "7*6*", "Neutron"),
        ("rQ", "Q1", "unknown piece"),
        ("rQ", "wQ", "unknown piece"),
        ("rQ", "rN", "unknown piece"),
        ("rQ", "rq", "unknown piece"),
        ("rQ", "RQ", "unknown piece"),
        ("rQ", "rV", "unknown piece"),
        ("rQ", "rDG", "unknown piece"),
        ("rQ", "r*", "unknown piece"),
        ("3rQ11", "3rQ11 ", "fields"),
        ("3rQ11", "3rQ-11", "unknown piece"),
        ("rK14", "15", "r is not eliminated and must have exactly one King"),
        ("3rQ11", "3rK11", "r has more than 1 of King"),
        ("3rQ11", "rQ2rQ11", "r has more than 1 of Queen"),
        ("3rQ11", "3rA1rA1rA7", "r has more than 2 of Archer"),
        ("3rQ11", "3yR1yR1yR7", "y has more than 2 of Rook"),
        ("3rQ11", "3yB1yB1yB7", "y has more than 2 of Bishop"),
        ("3rQ11", "3rDg1rDg9", "r has more than 2 of Little Dog"),
        ("3rQ11", "bMubMubMubMubMubMubMubMu7", "b has more than 7 of Mutator"),
        ("3rQ11", "bGbGbGbGbGbGbG8", "b has more than 6 of Giraffe"),
        ("3rQ11", "g,g,g,g,11", "g has more than 4 of Ant"),
        ("3rQ11", "yVMyVMyVMyVMyVM10", "y has more than 4 of Vertical Mover"),
        ("3rQ11", "yHMyHMyHMyHMyHM10", "y has more than 4 of Horizontal Mover"),
        ("3rQ11", "7rA7", "the Archer on h5 stands outside"),
        ("3rQ11", "3bA11", "the Archer on d5 stands outside"),
        ("3rQ11", "8yA6", "the Archer on i5 stands outside"),
    ],
)  # fmt: skip
def test_a_board_is_refused_with_the_reason(old: str, new: str, reason: str) -> None:
    assert old in BOARD
    refused(f"{BOARD.replace(old, new, 1)} r play - - 0", reason)


@pytest.mark.parametrize(
    ("pieces", "rest", "reason"),
    [
        (ARMY + "rVMb1", "b setup b - 0", "eliminated"),
        (ARMY + "rVMb1", "b setup y - 0", "'- - 0'"),
        (ARMY + "rVMb1", "b setup - a5>a6 0", "'- - 0'"),
        (ARMY + "rVMb1", "b setup - - 1", "'- - 0'"),
        (ARMY + "rVMb1 bQb9", "b setup - - 0", "b has pieces but no King"),
        (ARMY + "rGb1", "b setup - - 0", "r has finished its set-up .* less than 51"),
        ("bKa9", "b setup - - 0", "r has finished its set-up without a King"),
        ("rQa4", "r setup - - 0", "r has pieces but no King"),
        (ARMY.replace("rK", "rMu") + "rVMb1", "b setup - - 0", "r has pieces but no King"),
        (ARMY + "rVMb1 yKo15", "b setup - - 0", "y has pieces before its turn"),
        (ARMY + "rMub1 rRb2", "b setup - - 0", "r has spent 61"),
        (ARMY + "rVMh1", "b setup - - 0", "h1 stands outside"),
        (ARMY + "rVMa8", "b setup - - 0", "a8 stands outside"),
        (ARMY + "rVMb9", "b setup - - 0", "b9 stands outside"),
        ("rKb2 r,a1", "r setup - - 0", "Ant .* a1"),
        (KINGS, "r setup - - 0", "before its turn"),
    ],
)  # fmt: skip
def test_a_set_up_is_refused_with_the_reason(pieces: str, rest: str, reason: str) -> None:
    refused(placed(pieces, rest), reason)


@pytest.mark.parametrize(
    ("pieces", "rest"),
    [
        (ARMY + "rVMb1", "b setup - - 0"),
        (ARMY + "rVMb1", "r setup - - 0"),
        (ARMY + "rRb1 rRb2 rGb3", "b setup - - 0"),
        ("rKa1", "r setup - - 0"),
        # Attachments of any length, to any piece, to each other, of frozen Dogs; sorted by column, then row.
        (KINGS + "rDgb2 gDgo13", "r play - b2>o13;o13>b2 0"),
        (KINGS + "rDga9 rDga10 yDga2", "g play - a2>o2;a9>o14;a10>a14 99"),
        ("rKa1 yKo14 bDgb2 bDgo1", "y play gb b2>a1;o1>b2 7"),
        # Ants on corners, Kings side by side, a frozen Archer at home, whoever is in check.
        (KINGS + "r,o1 b,a15", "r play - - 3"),
        ("rKg7 bKg9 yKh9 gKh7", "y play - - 0"),
        ("rKa1 yKo14 bAb9 gGa2", "r play bg - 100"),
        ("yKo14 rQa1", "y play gbr - 100"),
    ],
)  # fmt: skip
def test_strange_positions_are_positions(pieces: str, rest: str) -> None:
    text = placed(pieces, rest)
    assert GAME.format_position(GAME.parse_position(text)) == text


@pytest.mark.parametrize(
    "variant",
    [
        " {}",
        "{} ",
        "{}\n",
        "{}+",
        "{}#",
        "{}!",
        "{}=",
        "{}=Q",
        "{}=q",
        "{}==Q",
        "K{}",
        "rQ{}",
        "({})",
        "{};{}",
        "{} {}",
    ],
)
def test_nothing_stands_before_or_after_a_move(variant: str) -> None:
    position = GAME.parse_position(f"{BOARD} r play - c4>a1 0")
    for move in ("d5-d6", "d5-d12", "c4<a1", "a1-a2", "c4-c3"):
        assert GAME.parse_move(position, move) == move
        with pytest.raises(RulesError):
            GAME.parse_move(position, variant.format(move, move))


@pytest.mark.parametrize(
    "text",
    [
        "", "-", "d5", "d5-", "-d6", "d5d6", "d5--d6", "d5_d6", "d5–d6", "d5:d6", "d5Xd6", "d5×d6", "D5-D6", "d05-d6",
        "d5-d06", "d5-d16", "d5-d0", "d5-p5", "d5 - d6", "d5><d6", "d5=Q", "d5-d6=X", "d5-d6=K", "d5-d6=A", "d5-d6=,",
        "d5<>a1=Q", "d5*d6=Q", "d5>d6=Q", "Q@", "@a1", "q@a1", "N@a1", "rQ@a1", "Q@a16", "Q@h0", "Q-a1", "A@a1=Q",
        "done ", "Done", "DONE", "pass ", "PASS", "pass=Q", "0000", "resign", "٠", "d5-d٦",
    ],
)  # fmt: skip
def test_what_is_not_written_as_a_move_is_malformed(text: str) -> None:
    for position in (GAME.parse_position(f"{BOARD} r play - - 0"), GAME.parse_position(f"{EMPTY} r setup - - 0")):
        with pytest.raises(MalformedNotation):
            GAME.parse_move(position, text)
        assert not GAME.is_legal(position, text)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Q@a1", "the King must be placed first"),
        ("K@a8", "a8 is outside your quadrant"),
        ("K@h1", "h1 is outside your quadrant"),
        ("K@h8", "h8 is outside your quadrant"),
        ("K@a9", "a9 is outside your quadrant"),
        ("done", "place your King first"),
        ("a1-a2", "still being set up"),
        ("pass", "still being set up"),
    ],
)
def test_a_set_up_begins_with_the_king_at_home(text: str, reason: str) -> None:
    with pytest.raises(IllegalMove, match=reason):
        GAME.parse_move(GAME.initial("draft"), text)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("R@b2", "a Rook costs 5, and only 2 of 60 is left"),
        ("Q@b2", "1 of Queen already"),
        ("K@b2", "1 of King already"),
        ("A@b2", "2 of Archer already"),
        (",@a1", "an Ant may not be set up on a corner"),
        ("G@a4", "a4 is occupied"),
        ("G@o1", "o1 is outside your quadrant"),
    ],
)
def test_a_placement_is_refused_with_the_limit_that_it_breaks(text: str, reason: str) -> None:
    position = GAME.parse_position(placed(ARMY + "rMub1 rVMb3", "r setup - - 0"))
    with pytest.raises(IllegalMove, match=reason):
        GAME.parse_move(position, text)


def test_a_move_with_its_mark_of_check_is_read_where_another_mark_between_the_squares_is_legal_too() -> None:
    position = GAME.parse_position(
        "bRbHM1bG7yGyHMyKyR/1bKbQbB1b,3y,1yB3/bVM2bDgb,5y,1yDg1yVM/bGbB9gMu1yByG/2b,7yA2rQ1/11y,1y,1/b,1bMu3bA7yMu/7*7/"
        "15/1r,11g,1/2r,1rA5gA1g,2/rGrB10gQgBgG/rVM1rDgyQr,3g,1g,1gDg1gVM/1rK3r,7gK1/rR1rHMrGrB5gBgGgHM1gR "
        "g play - m13>l12 11"
    )
    for move in ("l12xn12", "l12*n12"):
        assert GAME.read_move(position, f"{move}+", "standard") == move
