"""The rules of Towers: counts of sequences, endings and what always holds."""

import random

import pytest

from domain.errors import IllegalMove
from domain.game import Outcome
from domain.towers import GAME, Move
from domain.towers.position import Position

SETUPS = tuple(GAME.setups)
SQUARES = [file + rank for file in "abcdefg" for rank in "1234567"]


def random_game(setup: str, seed: int) -> tuple[list[Position], list[Move]]:
    rng = random.Random(seed)
    positions, moves = [GAME.initial(setup)], list[Move]()
    while legal := list(GAME.legal_moves(positions[-1])):
        moves.append(rng.choice(legal))
        positions.append(GAME.play(positions[-1], moves[-1]))
    return positions, moves


def test_a_push_undone_twice_is_the_third_occurrence_and_a_draw() -> None:
    position = GAME.parse_position("ww,wwww,bbbb,4/3,g,3/7/1,g,1,g,1,g,1/7/3,g,3/bb,bbbb,wwww,4 2 w 0")
    history: list[Position] = []
    for text in 2 * ["b7-a7", "b1-a1", "a7-b7", "a1-b1"]:
        assert GAME.outcome(position, history) is None
        history.append(position)
        position = GAME.play(position, GAME.parse_move(position, text))
    assert GAME.outcome(position, history) == Outcome((0.5, 0.5), "repetition")
    assert position.pushes == 8
    assert GAME.key(position) == GAME.key(history[0])


def test_the_same_board_with_another_side_to_move_or_number_of_players_is_another_position() -> None:
    board = "7/3,g,3/7/1,g,1,g,1,g,1/7/3,g,3/ww,5,bb"
    keys = {GAME.key(GAME.parse_position(f"{board} {rest}")) for rest in ("2 w 0", "2 b 0", "4 w 0", "4 b 0")}
    assert len(keys) == 4


def test_repetition_comes_before_no_progress() -> None:
    position = GAME.parse_position("ww,6/3,g,3/7/1,g,1,g,1,g,1/7/3,g,3/6,bb 2 w 50")
    assert GAME.outcome(position, [position, position]) == Outcome((0.5, 0.5), "repetition")
    assert GAME.outcome(position, [position]) == Outcome((0.5, 0.5), "no-progress")


def test_four_players_share_a_draw_in_quarters() -> None:
    position = GAME.parse_position("ww,6/3,g,3/7/1,g,1,g,1,g,1/7/3,g,3/bb,5,rr 4 w 50")
    assert GAME.outcome(position, []) == Outcome((0.25, 0.25, 0.25, 0.25), "no-progress")
    assert list(GAME.legal_moves(position)) == []


def accepted(position: Position, text: str) -> Move | None:
    """Return the move that ``text`` names, or None when it is refused as illegal."""
    try:
        return GAME.parse_move(position, text)
    except IllegalMove:
        return None


@pytest.mark.parametrize("setup", SETUPS)
def test_exactly_the_generated_moves_are_legal(setup: str) -> None:
    every_text = ["+" + square for square in SQUARES]
    every_text += [f"{start}-{last}" for start in SQUARES for last in SQUARES]
    positions, _ = random_game(setup, 3)
    for position in positions[::60]:
        generated = list(GAME.legal_moves(position))
        assert [move for move in range(-300, 1000) if GAME.is_legal(position, move)] == generated
        assert [move for text in every_text if (move := accepted(position, text)) is not None] == generated
