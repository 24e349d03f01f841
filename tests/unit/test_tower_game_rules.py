"""The Tower Game against its rules document: counts of sequences, laws on random games, refusals."""

import random
from itertools import product

import pytest

from domain.game import GameOver, IllegalMove, MalformedNotation, RulesError
from domain.tower_game import GAME
from domain.tower_game.board import (
    BISHOP_RAYS,
    CAPTAIN_LEAPS,
    JESTER_LEAPS,
    KING_STEPS,
    KNIGHT_LEAPS,
    MERCHANT_RAYS,
    NAMES,
    ROOK_RAYS,
)
from domain.tower_game.moves import encode
from domain.tower_game.position import Position, occupied
from tests.support.slow_tower_game.board import attacked, cube_of, name
from tests.support.slow_tower_game.writing import read
from tests.support.tables import table

LONE_KINGS = "5/5/5/5/4k|5/5/5/5/5|5/5/5/5/5|5/5/5/5/5|5/5/5/5/5|5/5/5/5/5|5/5/5/5/5|K4/5/5/5/5"

RAYS = {"R": ROOK_RAYS, "B": BISHOP_RAYS, "M": MERCHANT_RAYS}
LEAPS = {"N": KNIGHT_LEAPS, "C": CAPTAIN_LEAPS, "J": JESTER_LEAPS, "F": KING_STEPS}


def goals(kind: str, cube: int) -> list[int]:
    """Return the cubes to which a man on an otherwise empty board can go."""
    return list(LEAPS[kind][cube]) if kind in LEAPS else [goal for ray in RAYS[kind][cube] for goal in ray]


def random_positions(setup: str, seed: int, every: int) -> list[Position]:
    """Return positions of one random game, with the final one."""
    rng = random.Random(seed)
    position = GAME.initial(setup)
    sampled = []
    ply = 0
    while moves := list(GAME.legal_moves(position)):
        if ply % every == 0:
            sampled.append(position)
        position = GAME.play(position, rng.choice(moves))
        ply += 1
    return [*sampled, position]


@pytest.mark.parametrize("setup", ["original", "alternate"])
def test_a_move_is_legal_exactly_when_it_is_generated(setup: str) -> None:
    rng = random.Random(2)
    for position in random_positions(setup, seed=11, every=400):
        generated = set(GAME.legal_moves(position))
        own = occupied(position.men, position.side)
        origins = [origin for origin in range(200) if own >> origin & 1 or rng.random() < 0.1]
        wrong = [
            move
            for origin, target, capture, promotion in product(origins, range(200), (False, True), (0, 3))
            if GAME.is_legal(position, move := encode(origin, target, capture, promotion)) != (move in generated)
        ]
        assert [GAME.format_move(position, move) for move in wrong] == []


@pytest.mark.parametrize(("setup", "hanging"), [("original", ["ac7", "ec2"]), ("alternate", [])])
def test_only_two_pawns_of_the_original_setup_are_unprotected(setup: str, hanging: list[str]) -> None:
    board = read(GAME.format_position(GAME.initial(setup))).board
    pawns = [(cube, letter.isupper()) for cube, letter in board.items() if letter in "Pp"]
    assert sorted(name(cube) for cube, white in pawns if not attacked(board, cube, white)) == hanging


@pytest.mark.parametrize("setup", ["original", "alternate"])
def test_four_merchants_share_out_the_board_and_bishops_stand_two_on_each_shade(setup: str) -> None:
    board = read(GAME.format_position(GAME.initial(setup))).board
    for side in (str.upper, str.lower):
        merchants = [cube for cube, letter in board.items() if letter == side("M")]
        bishops = [cube for cube, letter in board.items() if letter == side("B")]
        assert {((x + y) % 2, (y + z) % 2) for x, y, z in merchants} == set(product((0, 1), repeat=2))
        assert sorted(sum(cube) % 2 for cube in bishops) == [0, 0, 1, 1]


@pytest.mark.parametrize(
    ("kind", "counts"),
    [("R", {200}), ("N", {200}), ("J", {200}), ("F", {200}), ("B", {100}), ("C", {100}), ("M", {48, 52})],
)
def test_each_man_can_come_to_as_many_cubes_as_the_rules_count(kind: str, counts: set[int]) -> None:
    def region(cube: int) -> frozenset[int]:
        found, fresh = {cube}, {cube}
        while fresh:
            fresh = {goal for start in fresh for goal in goals(kind, start)} - found
            found |= fresh
        return frozenset(found)

    regions = set(map(region, range(200)))
    assert {len(cubes) for cubes in regions} == counts
    assert sum(len(cubes) for cubes in regions) == 200


def test_leaps_and_doubled_steps_are_together_all_vectors_of_length_two() -> None:
    def ways(kind: str) -> list[tuple[int, ...]]:
        """Return the vectors of a man in the middle of the board."""
        ends = [cube_of(NAMES[goal]) for goal in goals(kind, NAMES.index("cc4"))]
        return [(x - 2, y - 2, z - 4) for x, y, z in ends]

    leaps = [vector for kind in "NCJ" for vector in ways(kind)]
    doubled = [(2 * x, 2 * y, 2 * z) for x, y, z in ways("F")]
    everything = [vector for vector in product(range(-2, 3), repeat=3) if max(map(abs, vector)) == 2]
    assert len(everything) == 98
    assert sorted([*leaps, *doubled]) == everything


def test_a_drawn_position_has_no_moves_and_refuses_all() -> None:
    position = GAME.parse_position(f"{LONE_KINGS} w - - 0")
    assert list(GAME.legal_moves(position)) == []
    with pytest.raises(GameOver, match="insufficient-material"):
        GAME.parse_move(position, "ae1-ae2")


@pytest.mark.parametrize(("text", "reason"), table(__file__, "an illegal move is refused with its reason"))
def test_an_illegal_move_is_refused_with_its_reason(text: str, reason: str) -> None:
    with pytest.raises(IllegalMove, match=reason):
        GAME.parse_move(GAME.initial("original"), text)


@pytest.mark.parametrize("text", ["", "  ", "cc2", "hello", "O-X", "cc2–cc4", "Cc2-cc4", "x" * 10_000, "cc9", "=R"])
def test_what_is_no_move_at_all_is_refused(text: str) -> None:
    with pytest.raises(RulesError):
        GAME.parse_move(GAME.initial("original"), text)


@pytest.mark.parametrize(("text", "reason"), table(__file__, "a malformed position is refused with place and reason"))
def test_a_malformed_position_is_refused_with_place_and_reason(text: str, reason: str) -> None:
    with pytest.raises(MalformedNotation, match=reason):
        GAME.parse_position(text)
