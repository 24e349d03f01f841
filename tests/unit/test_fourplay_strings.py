"""The position strings and the move strings of Fourplay (rules, section 9; E45): what is one, and what is not."""

import pytest

from domain.errors import IllegalMove, MalformedNotation, RulesError
from domain.fourplay import GAME
from tests.support.slow_fourplay.board import read
from tests.support.slow_fourplay.placing import placed
from tests.support.tables import named_cases, table

BOARD = "15/bK13yK/15/15/15/15/15/7*7/15/15/3rQ11/2rDg8g,3/15/14gK/rK14"
EMPTY = "15/15/15/15/15/15/15/7*7/15/15/15/15/15/15/15"
ARMY = "rKa7 rAa2 rAa3 rQa4 rDga5 rDga6 "
"""A finished Red army: 49 points, with two points more 51."""


def refused(text: str, reason: str) -> None:
    with pytest.raises(MalformedNotation, match=reason):
        GAME.parse_position(text)
    with pytest.raises(ValueError, match=r"\w"):
        read(text)


@pytest.mark.parametrize(("rest", "reason"), table(__file__, "the fields after the board are refused with the reason"))
def test_the_fields_after_the_board_are_refused_with_the_reason(rest: str, reason: str) -> None:
    assert GAME.format_position(GAME.parse_position(f"{BOARD} r play - c4>a1 100")) == f"{BOARD} r play - c4>a1 100"
    refused(f"{BOARD} {rest}", reason)


@pytest.mark.parametrize(("old", "new", "reason"), table(__file__, "a board is refused with the reason"))
def test_a_board_is_refused_with_the_reason(old: str, new: str, reason: str) -> None:
    assert old in BOARD
    refused(f"{BOARD.replace(old, new, 1)} r play - - 0", reason)


@pytest.mark.parametrize(("pieces", "rest", "reason"), table(__file__, "a set up is refused with the reason"))
def test_a_set_up_is_refused_with_the_reason(pieces: str, rest: str, reason: str) -> None:
    refused(placed(pieces, rest), reason)


@pytest.mark.parametrize(("pieces", "rest"), named_cases(__file__, "strange positions are positions"))
def test_strange_positions_are_positions(pieces: str, rest: str) -> None:
    text = placed(pieces, rest)
    assert GAME.format_position(GAME.parse_position(text)) == text


@pytest.mark.parametrize("variant", table(__file__, "nothing stands before or after a move"))
def test_nothing_stands_before_or_after_a_move(variant: str) -> None:
    position = GAME.parse_position(f"{BOARD} r play - c4>a1 0")
    for move in ("d5-d6", "d5-d12", "c4<a1", "a1-a2", "c4-c3"):
        assert GAME.parse_move(position, move) == move
        with pytest.raises(RulesError):
            GAME.parse_move(position, variant.format(move, move))


@pytest.mark.parametrize("text", table(__file__, "what is not written as a move is malformed"))
def test_what_is_not_written_as_a_move_is_malformed(text: str) -> None:
    for position in (GAME.parse_position(f"{BOARD} r play - - 0"), GAME.parse_position(f"{EMPTY} r setup - - 0")):
        with pytest.raises(MalformedNotation):
            GAME.parse_move(position, text)
        assert not GAME.is_legal(position, text)


@pytest.mark.parametrize(("text", "reason"), table(__file__, "a set up begins with the king at home"))
def test_a_set_up_begins_with_the_king_at_home(text: str, reason: str) -> None:
    with pytest.raises(IllegalMove, match=reason):
        GAME.parse_move(GAME.initial("draft"), text)


@pytest.mark.parametrize(("text", "reason"), table(__file__, "a placement is refused with the limit that it breaks"))
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
