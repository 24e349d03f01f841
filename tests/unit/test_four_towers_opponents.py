"""The opponents of Four Towers play what is never listed, rearrangements and multi-moves, and put pieces back."""

import json
from pathlib import Path

import pytest

from domain.four_towers import GAME
from domain.four_towers.moves import Move, MultiMove, Rearrangement
from domain.four_towers.position import Position
from domain.game import Outcome
from domain.search import choose

CASES = json.loads((Path(__file__).parents[1] / "vectors" / "four-towers.public.json").read_text("utf-8"))
COMPOSABLE = [
    case["position"]
    for case in CASES
    if "malformed" not in case and (case.get("multi_moves") or case.get("rearrangements"))
]


def mates(position: Position, move: Move) -> bool:
    outcome = GAME.outcome(GAME.play(position, move), ())
    return outcome is not None and outcome.reason == "checkmate"


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("3/4k1/2K6/10/10/4MB3/4r5/3M2W3/9/3N2/3 w - -/- - 0 1", Rearrangement),
        ("3/4B1/9/4kn4/1K6p1/QM7/3W6/10/9/1M4/3 w - -/- - 0 1", Rearrangement),
        ("3/5M/9/3D6/10/2C6/8M1/10/rk6C/6/2K w - -/- - 0 1", MultiMove),
        ("3/6/R6C1/10/6D3/9/6N3/10/2K6/1k4/3 w - -/- - 0 1", MultiMove),
        ("3/6/5K3/10/10/9/10/6b1B1/9/3N1k/3 w - -/- M@g4 0 1", int),
        ("3/3R2/9/10/10/9/10/3k2n3/1K1N5/6/3 w - -/- Q@g4 0 1", int),
    ],
)
def test_the_only_mating_kind_is_found(text: str, kind: type[int | MultiMove | Rearrangement], seed: int) -> None:
    position = GAME.parse_position(text)
    moves = GAME.legal_moves(position)
    assert all(GAME.format_move(position, move).startswith("@") for move in moves if mates(position, move))
    move = choose(GAME, position, (), 8, seed).move
    assert mates(position, move)
    assert isinstance(move, kind)


def test_a_piece_that_may_return_is_put_back_rather_than_lost() -> None:
    position = GAME.parse_position("k2/6/9/10/10/2q6/3r6/9R/9/6/K2 w - -/- Q@d5 8 5")
    assert GAME.format_move(position, choose(GAME, position, (), 4, 1).move).startswith("@Q:")


def test_of_two_attacked_pieces_a_rearrangement_saves_both() -> None:
    position = GAME.parse_position("3/6/8k/4n5/10/3R1R3/3W6/10/9/6/K2 w - -/- - 0 1")
    forks = [GAME.format_move(position, move) for move in GAME.unlisted.candidates(position, 8)]
    assert len(forks) == 8
    assert not any("Re6" in text or "Rg6" in text for text in forks)


@pytest.mark.parametrize("most", [1, 3, 32])
@pytest.mark.parametrize("text", COMPOSABLE)
def test_candidates_are_few_legal_different_and_never_listed(text: str, most: int) -> None:
    position = GAME.parse_position(text)
    candidates = GAME.unlisted.candidates(position, most)
    assert 1 <= len(candidates) <= most
    assert len(set(candidates)) == len(candidates)
    assert all(not isinstance(move, int) and GAME.is_legal(position, move) for move in candidates)
    assert sorted(GAME.order(position, candidates), key=repr) == sorted(candidates, key=repr)


@pytest.mark.parametrize(
    "text",
    [
        "3/6/8k/10/10/9/p2W6/1NN7/9/6/K2 w - -/- - 150 99",
        "3/6/8k/10/10/9/p2w6/1NN7/9/6/K2 w - -/- - 0 1",
        "3/6/8k/10/10/9/p2N6/1WD7/9/6/K2 w - -/- - 0 1",
    ],
)
def test_there_are_none_when_the_game_is_over_or_no_tower_allows_any(text: str) -> None:
    assert GAME.unlisted.candidates(GAME.parse_position(text), 32) == []


def test_in_check_an_answer_is_among_the_candidates() -> None:
    position = GAME.parse_position("3/6/9/9k/10/9/r2D6/1P8/K7r/P5/3 w - -/- - 0 1")
    assert [GAME.format_move(position, move) for move in GAME.unlisted.candidates(position, 1)] == ["a3-b3;d2-d3"]


def test_the_fast_outcome_misses_an_end_that_takes_long_to_prove_and_no_other() -> None:
    long_ = GAME.parse_position("1k1/MC4/2M4K1/10/3N2d3/p1r2r3/5rn3/br4d3/9/2b3/3 b - RN/- - 1 1")
    assert GAME.fast_outcome(long_, ()) is None
    assert GAME.outcome(long_, ()) == Outcome((1.0, 0.0), "checkmate")
    for case in CASES:
        if "malformed" not in case:
            position = GAME.parse_position(case["position"])
            assert GAME.fast_outcome(position, ()) == GAME.outcome(position, ())
