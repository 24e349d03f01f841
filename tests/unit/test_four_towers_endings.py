"""Four Towers is over when no move of any kind is left; the look for the rarest ones against the slow reference."""

import random

import pytest

from domain.four_towers import GAME
from domain.four_towers.attacks import BLACK, KING, king_in_check
from domain.four_towers.board import SQUARES
from domain.four_towers.multi_move_search import find_multi_move
from domain.four_towers.position import Position, occupied_by, sets_of
from domain.game import Outcome, OutcomeUnknownError, StepBudget
from tests.bench.endings import CROWDED
from tests.support.slow_four_towers.board import read
from tests.support.slow_four_towers.composed import multi_moves, rearrangements
from tests.support.slow_four_towers.moves import successors
from tests.support.slow_four_towers.reach import in_check as slowly_in_check
from tests.support.tables import table

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


@pytest.mark.parametrize("text", [*(text for text, _ in ALONE.values()), *AMONG_OTHERS, *NONE])
def test_the_game_is_over_exactly_when_the_reference_finds_no_move_of_any_kind(text: str) -> None:
    position, state = GAME.parse_position(text), read(text)
    assert list(GAME.legal_moves(position)) == list(successors(state)) == []
    rare = {**multi_moves(state), **rearrangements(state)}
    outcome = GAME.outcome(position, ())
    if rare:
        assert outcome is None
        move = GAME.unlisted.any_move(position)
        assert move is not None
        assert GAME.format_position(GAME.play(position, move)) == rare[GAME.format_move(position, move)]
    else:
        assert outcome is not None
        assert outcome.reason == ("checkmate" if slowly_in_check(state, state.white) else "stalemate")


@pytest.mark.parametrize(("text", "rescue"), ALONE.values(), ids=ALONE)
def test_a_single_unlisted_move_is_found_when_it_is_the_only_legal_one(text: str, rescue: str) -> None:
    position = GAME.parse_position(text)
    move = GAME.unlisted.any_move(position)
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


@pytest.mark.parametrize("text", [*(text for text, _ in ALONE.values()), *AMONG_OTHERS, *IN_FOUR_STEPS])
def test_what_is_pruned_holds_no_multi_move(text: str) -> None:
    positions = drifting(text, seed=4)
    assert positions
    for position in positions:
        assert find_multi_move(position) == find_multi_move(position, UNLIMITED), GAME.format_position(position)


@pytest.mark.parametrize("text", CROWDED)
def test_in_crowded_positions_a_mate_is_one_although_so_much_could_be_tried(text: str) -> None:
    outcome = GAME.outcome(GAME.parse_position(text), ())
    assert outcome is not None
    assert outcome.reason == "checkmate"


def test_a_position_stands_for_the_third_time_whatever_the_clocks_are() -> None:
    start = GAME.initial("standard")
    later = GAME.parse_position(GAME.format_position(start).replace(" 0 1", " 7 30"))
    assert GAME.outcome(start, (later, GAME.play(start, next(iter(GAME.legal_moves(start)))))) is None
    assert GAME.outcome(start, (later, start)) == Outcome((0.5, 0.5), "repetition")


@pytest.mark.parametrize("text", [*(text for text, _ in ALONE.values()), *NONE])
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
