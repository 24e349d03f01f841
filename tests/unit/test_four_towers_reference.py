"""Four Towers against a second, slow reference of its rules."""

import random
from dataclasses import replace

import pytest

from domain.four_towers import GAME
from domain.game import MalformedNotation
from tests.support.slow_four_towers.board import read, write
from tests.support.slow_four_towers.composed import multi_moves, rearrangements
from tests.support.slow_four_towers.moves import successors
from tests.support.slow_four_towers.positions import crowded_position, sparse_position
from tests.support.slow_four_towers.reach import in_check


def compared(text: str) -> None:
    expected = successors(read(text))
    position = GAME.parse_position(text)
    moves = list(GAME.legal_moves(position))
    actual = {GAME.format_move(position, move): GAME.format_position(GAME.play(position, move)) for move in moves}
    assert list(actual) == sorted(expected), text
    assert actual == expected, text
    assert GAME.in_check(position) is in_check(read(text), read(text).white), text


@pytest.mark.parametrize("seed", range(12))
def test_crowded_positions_have_the_moves_of_the_reference(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(6):
        compared(crowded_position(rng))


@pytest.mark.parametrize("seed", range(3))
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


@pytest.mark.parametrize("seed", range(8))
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
