"""Fourplay sentence by sentence: cases for what the examples of the rules (section 11) leave open."""

import pytest

from domain.errors import GameOver, RulesError
from domain.fourplay import GAME
from tests.support.slow_fourplay.placing import KINGS, placed
from tests.support.tables import named_cases, table


@pytest.mark.parametrize(
    ("pieces", "rest", "legal", "refused"), named_cases(__file__, "moves are listed and accepted or refused")
)
def test_moves_are_listed_and_accepted_or_refused(pieces: str, rest: str, legal: str, refused: str) -> None:
    position = GAME.parse_position(placed(pieces, rest))
    listed = list(GAME.legal_moves(position))
    for move in legal.split():
        assert move in listed
        assert GAME.parse_move(position, move) == move
    for move in refused.split():
        assert move not in listed
        with pytest.raises(RulesError):
            GAME.parse_move(position, move)


@pytest.mark.parametrize(
    ("pieces", "rest", "move", "pieces_after", "rest_after"), named_cases(__file__, "a move leads to its position")
)
def test_a_move_leads_to_its_position(pieces: str, rest: str, move: str, pieces_after: str, rest_after: str) -> None:
    position = GAME.parse_position(placed(pieces, rest))
    reached = GAME.play(position, GAME.parse_move(position, move))
    assert GAME.format_position(reached) == placed(pieces_after, rest_after)
    assert GAME.parse_position(placed(pieces_after, rest_after)) == reached


@pytest.mark.parametrize(
    ("pieces", "rest", "scores", "reason"), table(__file__, "the first end in the order of 8 counts")
)
def test_the_first_end_in_the_order_of_8_counts(pieces: str, rest: str, scores: list[float], reason: str) -> None:
    position = GAME.parse_position(placed(pieces, rest))
    ended = GAME.outcome(position, [position, position])
    assert ended is not None
    assert (list(ended.scores), ended.reason) == (scores, reason)
    assert list(GAME.legal_moves(position)) == []
    with pytest.raises(GameOver, match=reason):
        GAME.parse_move(position, "a1-a2")


@pytest.mark.parametrize(
    ("pieces", "rest"),
    [
        (KINGS + "rDgb2", "r play - - 99"),
        ("rKa1 yKo14 bRb2 rDgd4", "r play gb - 0"),
        ("rKa1 yKo14 bRb2 y,o15", "r play bg - 0"),
    ],
)
def test_a_single_piece_of_a_survivor_keeps_the_game_going(pieces: str, rest: str) -> None:
    position = GAME.parse_position(placed(pieces, rest))
    assert GAME.outcome(position, [position]) is None
    assert list(GAME.legal_moves(position)) != []


def test_a_repeated_position_has_the_same_side_attachments_and_order_of_the_eliminated() -> None:
    pieces = "rKa1 yKo14 rDgb2"
    position = GAME.parse_position(placed(pieces, "r play bg b2>a1 8"))
    same = GAME.parse_position(placed(pieces, "r play bg b2>a1 4"))
    for rest in ("y play bg b2>a1 0", "r play gb b2>a1 0", "r play bg - 0", "r play bg b2>o14 0"):
        other = GAME.parse_position(placed(pieces, rest))
        assert GAME.outcome(position, [same, other, other]) is None
        ended = GAME.outcome(position, [same, other, same])
        assert ended is not None
        assert ended.reason == "repetition"


@pytest.mark.parametrize(("pieces", "rest", "checked"), table(__file__, "a king is in check by every survivor not on"))
def test_a_king_is_in_check_by_every_survivor_not_on_turn(pieces: str, rest: str, *, checked: bool) -> None:
    assert GAME.in_check(GAME.parse_position(placed(pieces, rest))) is checked


def test_a_player_who_has_bought_all_that_money_and_limits_allow_can_only_finish() -> None:
    dear = "rKa1 rAa2 rAa3 rQa4 rDga5 rDga6 "
    cheap = "rGb1 rGb2 rGb3 rGb4 rGb5 rGb6 r,c1 r,c2 r,c3"
    position = GAME.parse_position(placed(dear + cheap, "r setup - - 0"))
    assert {move.partition("@")[0] for move in GAME.legal_moves(position)} == {",", "VM", "HM", "done"}
    position = GAME.play(position, ",@c4")
    assert list(GAME.legal_moves(position)) == ["done"]
    assert GAME.format_position(GAME.play(position, "done")) == placed(dear + cheap + " r,c4", "b setup - - 0")
