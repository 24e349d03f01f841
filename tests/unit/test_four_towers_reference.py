"""Four Towers against a slow reference: moves, endings without a move of any kind, and what opponents play."""

import json
import random
from dataclasses import replace
from pathlib import Path

import pytest

from domain.errors import MalformedNotation, OutcomeUnknownError, StepBudget
from domain.four_towers import GAME
from domain.four_towers.attacks import BLACK, KING, king_in_check
from domain.four_towers.board import SQUARES
from domain.four_towers.moves import Move, MultiMove, Rearrangement
from domain.four_towers.multi_move_search import find_multi_move
from domain.four_towers.position import Position, occupied_by, sets_of
from domain.game import Outcome
from domain.search import choose
from tests.bench.endings import CROWDED
from tests.support.draws import sampled
from tests.support.slow_four_towers.board import read, write
from tests.support.slow_four_towers.composed import multi_moves, rearrangements
from tests.support.slow_four_towers.moves import successors
from tests.support.slow_four_towers.positions import crowded_position, sparse_position
from tests.support.slow_four_towers.reach import in_check, in_check as slowly_in_check
from tests.support.tables import table


def compared(text: str) -> None:
    expected = successors(read(text))
    position = GAME.parse_position(text)
    moves = list(GAME.legal_moves(position))
    actual = {GAME.format_move(position, move): GAME.format_position(GAME.play(position, move)) for move in moves}
    assert list(actual) == sorted(expected), text
    assert actual == expected, text
    assert GAME.in_check(position) is in_check(read(text), read(text).white), text


@sampled("seed", range(12))
def test_crowded_positions_have_the_moves_of_the_reference(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(6):
        compared(crowded_position(rng))


@sampled("seed", range(3))
def test_random_games_have_the_moves_of_the_reference(seed: int) -> None:
    rng = random.Random(seed)
    position = GAME.initial("standard")
    for ply in range(240):
        moves = list(GAME.legal_moves(position))
        if not moves:
            break
        if ply % 20 == seed:
            compared(GAME.format_position(position))
        position = GAME.play(position, rng.choice(moves))
    assert ply > 20


def test_a_position_is_refused_exactly_when_the_side_not_to_move_is_in_check() -> None:
    rng = random.Random(5)
    refused = 0
    for _ in range(200):
        state = read(crowded_position(rng))
        turned = write(replace(state, white=not state.white, passed=(), returning=None))
        try:
            GAME.parse_position(turned)
        except MalformedNotation:
            refused += 1
            assert in_check(state, state.white)
        else:
            assert not in_check(state, state.white)
    assert refused > 20


@sampled("seed", range(8))
def test_multi_moves_and_rearrangements_are_those_of_the_reference(seed: int) -> None:
    text = sparse_position(random.Random(seed))
    position = GAME.parse_position(text)
    for expected, moves in (
        (multi_moves(read(text)), GAME.multi_moves(position)),
        (rearrangements(read(text)), GAME.rearrangements(position)),
    ):
        actual = {GAME.format_move(position, move): GAME.format_position(GAME.play(position, move)) for move in moves}
        assert actual == expected, text
        assert list(actual) == sorted(expected)


UNLIMITED = 10**9
"""More trials than any position takes. A search with a limit prunes nothing."""

ALONE: dict[str, list[str]] = table(__file__, "only one move is left")
AMONG_OTHERS = [
    "2n/2P1dM/2K2PN2/2dD2cd2/2k1dqBC2/Dl5rc/c4P1mRp/6PB1q/m1d1d4/3P1C/p2 w - -/- - 93 7",
    "2M/2P2M/2KP2d2/2dD2cL2/1lk1dq3D/D6rc/7m1C/6PB1R/2N1d4/2P3/3 w - -/- - 55 7",
]
IN_FOUR_STEPS = ["2L/3d2/1w1Pw2n1/9R/2n2K2D1/8r/10/3k2D2q/2NN3N1/6/3 w - B/- - 0 1"]
NONE = [
    "b1l/3bB1/9/1nbW1lwdd1/7P2/1Pq3D1B/1ck2d3K/10/1P7/2qb1m/3 w - RNK/RBK - 80 7",
    "1p1/l4K/2Pd2nN1/2kw6/1d1r6/4l4/qD1mrPM3/2bW2W2p/3b5/pR1n2/3 w - -/RBNK - 138 7",
    "3/kl3n/9/3D3B2/6C2W/9/3b1c1q2/P9/1KB1r4/6/3 w - RN/R - 49 7",
    "k2/4mM/2PmMq3/mN4r3/2w4WN1/RB6N/1PbD6/KpdP2Bl2/Pddl4Q/3R2/2L w - RBNK/RN - 95 7",
]


@sampled("text", [*(text for text, _ in ALONE.values()), *AMONG_OTHERS, *NONE])
def test_the_game_is_over_exactly_when_the_reference_finds_no_move_of_any_kind(text: str) -> None:
    position, state = GAME.parse_position(text), read(text)
    assert list(GAME.legal_moves(position)) == list(successors(state)) == []
    rare = {**multi_moves(state), **rearrangements(state)}
    outcome = GAME.outcome(position, ())
    if rare:
        assert outcome is None
        move = GAME.any_unlisted_move(position)
        assert move is not None
        assert GAME.format_position(GAME.play(position, move)) == rare[GAME.format_move(position, move)]
    else:
        assert outcome is not None
        assert outcome.reason == ("checkmate" if slowly_in_check(state, state.white) else "stalemate")


@pytest.mark.parametrize(("text", "rescue"), ALONE.values(), ids=ALONE)
def test_a_single_unlisted_move_is_found_when_it_is_the_only_legal_one(text: str, rescue: str) -> None:
    position = GAME.parse_position(text)
    move = GAME.any_unlisted_move(position)
    assert move is not None
    assert GAME.is_legal(position, move)
    assert GAME.format_move(position, move) == rescue or ":" in rescue
    assert GAME.is_legal(position, GAME.parse_move(position, rescue))


def drifting(text: str, seed: int) -> list[Position]:
    """Return positions like that of ``text``, step by step further from it, in which ordinary moves stay away."""
    rng = random.Random(seed)
    position = GAME.parse_position(text)
    found = []
    for _ in range(12):
        board = bytearray(position.board)
        here, there = rng.randrange(SQUARES), rng.randrange(SQUARES)
        if rng.random() < 0.6:
            board[here], board[there] = board[there], board[here]
        elif board[here] & 15 != KING:
            board[here] = rng.choice((0, rng.randrange(1, KING), rng.randrange(1, KING) + BLACK))
        changed = position._replace(board=bytes(board), men=sets_of(bytes(board)))
        occupied = occupied_by(changed.men, 0) | occupied_by(changed.men, 1)
        imitated = changed.memories[0] | changed.memories[1]
        if not king_in_check(changed.men, 1 - changed.side, imitated, occupied) and not list(GAME.legal_moves(changed)):
            position = changed
            found.append(position)
    return found


@sampled("text", [*(text for text, _ in ALONE.values()), *AMONG_OTHERS, *IN_FOUR_STEPS])
def test_what_is_pruned_holds_no_multi_move(text: str) -> None:
    positions = drifting(text, seed=4)
    assert positions
    for position in positions:
        assert find_multi_move(position) == find_multi_move(position, UNLIMITED), GAME.format_position(position)


@sampled("text", CROWDED)
def test_in_crowded_positions_a_mate_is_one_although_so_much_could_be_tried(text: str) -> None:
    outcome = GAME.outcome(GAME.parse_position(text), ())
    assert outcome is not None
    assert outcome.reason == "checkmate"


def test_a_position_stands_for_the_third_time_whatever_the_clocks_are() -> None:
    start = GAME.initial("standard")
    later = GAME.parse_position(GAME.format_position(start).replace(" 0 1", " 7 30"))
    assert GAME.outcome(start, (later, GAME.play(start, next(iter(GAME.legal_moves(start)))))) is None
    assert GAME.outcome(start, (later, start)) == Outcome((0.5, 0.5), "repetition")


@sampled("text", [*(text for text, _ in ALONE.values()), *NONE])
def test_a_sufficient_budget_finds_the_end_by_the_rules(text: str) -> None:
    position = GAME.parse_position(text)
    assert GAME.bounded_outcome(position, (), StepBudget(10**6)) == GAME.outcome(position, ())


def test_an_end_that_takes_more_effort_than_is_left_is_not_known() -> None:
    position = GAME.parse_position(CROWDED[-1])
    budget = StepBudget(10)
    with pytest.raises(OutcomeUnknownError):
        GAME.bounded_outcome(position, (), budget)
    with pytest.raises(OutcomeUnknownError):
        GAME.bounded_outcome(position, (), budget)
    start = GAME.initial("standard")
    assert GAME.bounded_outcome(start, (), budget) is None, "where a piece can move nothing need be searched"


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
    forks = [GAME.format_move(position, move) for move in GAME.unlisted_candidates(position, 8)]
    assert len(forks) == 8
    assert not any("Re6" in text or "Rg6" in text for text in forks)


@pytest.mark.parametrize("most", [1, 3, 32])
@sampled("text", COMPOSABLE)
def test_candidates_are_few_legal_different_and_never_listed(text: str, most: int) -> None:
    position = GAME.parse_position(text)
    candidates = GAME.unlisted_candidates(position, most)
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
    assert GAME.unlisted_candidates(GAME.parse_position(text), 32) == []


def test_in_check_an_answer_is_among_the_candidates() -> None:
    position = GAME.parse_position("3/6/9/9k/10/9/r2D6/1P8/K7r/P5/3 w - -/- - 0 1")
    assert [GAME.format_move(position, move) for move in GAME.unlisted_candidates(position, 1)] == ["a3-b3;d2-d3"]


def test_the_fast_outcome_misses_an_end_that_takes_long_to_prove_and_no_other() -> None:
    long_ = GAME.parse_position("1k1/MC4/2M4K1/10/3N2d3/p1r2r3/5rn3/br4d3/9/2b3/3 b - RN/- - 1 1")
    assert GAME.fast_outcome(long_, ()) is None
    assert GAME.outcome(long_, ()) == Outcome((1.0, 0.0), "checkmate")
    for case in CASES:
        if "malformed" not in case:
            position = GAME.parse_position(case["position"])
            assert GAME.fast_outcome(position, ()) == GAME.outcome(position, ())
