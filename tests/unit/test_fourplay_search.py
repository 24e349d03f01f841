"""Fourplay as the search sees it: the worth of captures, and the moves that it expects of the others."""

import pytest

from domain.fourplay.evaluate import expected_move, gains, noisy_moves
from domain.fourplay.moves import legal_moves
from domain.fourplay.outcome import outcome
from domain.fourplay.position import Position, parse_position
from domain.fourplay.weights import PLACE
from domain.game import NOISY_GAIN
from domain.search.values import value_of_scores
from tests.tuning.variants import evaluation_with


def board(rank_9: str, rank_6: str, rank_3: str, eliminated: str = "-") -> Position:
    """Return a position with Red to move, the Kings of those still in in their corners, and pieces on three ranks."""
    blue = "14" if "b" in eliminated else "bK13"
    text = f"{blue}yK/15/15/15/15/15/{rank_9}/7*7/15/{rank_6}/15/15/{rank_3}/15/rK13gK r play {eliminated} - 0"
    return parse_position(text)


def expected(position: Position) -> str:
    moves = list(legal_moves(position))
    return expected_move(position, moves, gains(position, moves))


def test_the_pieces_of_a_player_who_is_out_are_no_gain() -> None:
    position = board("15", "2bQ12", "2rR12", eliminated="b")
    moves = list(legal_moves(position))
    assert "c3xc6" in moves
    assert "c3xc6" not in noisy_moves(position)
    assert max(gains(position, moves)) < NOISY_GAIN
    assert expected(position) != "c3xc6"


@pytest.mark.parametrize(
    ("rank_9", "rank_6", "rank_3", "is_expected"),
    [
        ("15", "2b,12", "2rR12", True),
        ("2bR12", "2b,12", "2rR12", False),
        ("2bR12", "2bR12", "2rR12", True),
        ("2bR12", "2bQ12", "2rR12", True),
        ("2rR12", "2b,12", "2rR12", True),
    ],
    ids=["alone", "protected", "as dear", "dearer", "protected by an own piece"],
)
def test_others_are_expected_to_capture_unless_they_lose_more(
    rank_9: str, rank_6: str, rank_3: str, is_expected: bool
) -> None:
    position = board(rank_9, rank_6, rank_3)
    assert expected(position).endswith("xc6") == is_expected


@pytest.mark.parametrize("seat", [1, 2, 3])
def test_an_end_is_worth_what_the_evaluation_gives_for_the_places_without_armies(seat: int) -> None:
    """Bare Kings: what their safety counts is disregarded."""
    evaluate = evaluation_with("fourplay", {"OPEN_LINE": 0, "KING_ATTACKED.0": 0, "KING_ATTACKED.1": 0})
    position = parse_position("14yK/15/15/15/15/15/15/7*7/15/15/15/15/15/15/rK13gK r play b - 0")
    end = outcome(position, ())
    assert end is not None
    assert evaluate(position, seat) == pytest.approx(value_of_scores(end.scores, seat, 3, PLACE), abs=2)


def test_a_king_is_not_expected_to_capture_where_it_is_captured() -> None:
    def with_king(rank_9: str) -> Position:
        text = f"bK13yK/15/15/15/15/15/{rank_9}/7*7/15/2b,12/2rK12/15/15/15/14gK r play - - 0"
        return parse_position(text)

    assert expected(with_king("15")) == "c5xc6"
    assert expected(with_king("2bR12")) != "c5xc6"
