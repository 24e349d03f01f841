"""The Tower Game against a second, slow reading of its rules and against its rules document."""

import random
from dataclasses import replace
from itertools import product

import pytest

from domain.errors import IllegalMove, MalformedNotation, RulesError
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
from tests.support.draws import sampled
from tests.support.slow_tower_game.board import State, attacked, cube_of, in_check, name
from tests.support.slow_tower_game.moves import legal_moves, outcome
from tests.support.slow_tower_game.positions import (
    MAKERS,
    Maker,
    alike,
    bare,
    castling,
    cornered,
    en_passant,
    hemmed_in,
    lines_to_the_king,
    promoting,
    spoilt,
)
from tests.support.slow_tower_game.writing import RefusedError, read, read_san, san, write
from tests.support.tables import table

SIGNS_OF_POSITIONS = "KRBMNCJFPkrbmncjfp0123456789/| -,wbae"
SIGNS_OF_MOVES = "abcde1278-x=RBMNCJFKPO+#e.p "
HARDEST = (castling, en_passant, lines_to_the_king)


def reference(text: str) -> State | None:
    try:
        return read(text)
    except RefusedError:
        return None


def both_read(text: str) -> tuple[State, Position] | None:
    """Return ``text`` as both readings understand it, or None if both refuse it."""
    state = reference(text)
    if state is None:
        with pytest.raises(MalformedNotation):
            GAME.parse_position(text)
        return None
    position = GAME.parse_position(text)
    assert GAME.format_position(position) == write(state) == text
    return state, position


def same_ends(state: State, position: Position, history: list[State]) -> str | None:
    """Compare how the game has ended after ``history``; return the reason."""
    expected = outcome(state, history)
    found = GAME.outcome(position, [GAME.parse_position(write(earlier)) for earlier in history])
    assert (found and (list(found.scores), found.reason)) == expected, write(state)
    return expected and expected[1]


def same_moves(state: State, position: Position) -> dict[str, State]:
    """Compare the legal moves and the positions after them; return them as the slow reference has them."""
    expected = legal_moves(state)
    moves = list(GAME.legal_moves(position))
    found = {GAME.format_move(position, move): GAME.format_position(GAME.play(position, move)) for move in moves}
    assert found == {move: write(after) for move, after in expected.items()}, write(state)
    assert list(found) == sorted(expected)
    assert GAME.in_check(position) is in_check(state.board, state.white)
    return expected


def drawn_positions(rng: random.Random, maker: Maker, number: int) -> list[tuple[State, Position]]:
    """Return the readable ones of ``number`` positions; both readings refuse the others."""
    return [both for _ in range(number) if (both := both_read(maker(rng)))]


@sampled("seed", range(3))
@pytest.mark.parametrize("maker", MAKERS, ids=lambda maker: maker.__name__)
def test_positions_of_every_kind_are_read_played_and_ended_as_in_the_reference(maker: Maker, seed: int) -> None:
    drawn = drawn_positions(random.Random(31 + seed), maker, 12 if maker in HARDEST else 10)
    assert drawn
    for state, position in drawn:
        same_moves(state, position)
        same_ends(state, position, [])


def test_the_positions_by_chance_end_in_every_way_or_go_on() -> None:
    rng = random.Random(2)
    reasons = [
        same_ends(state, position, [])
        for maker in (bare, castling, cornered, hemmed_in)
        for state, position in drawn_positions(rng, maker, 16)
    ]
    assert set(reasons) == {None, "checkmate", "stalemate", "insufficient-material", "no-progress"}


@sampled("setup", ["original", "alternate"])
def test_random_games_go_as_in_the_reference(setup: str) -> None:
    rng = random.Random(setup)
    position = GAME.initial(setup)
    for ply in range(300):
        if ply % 100 == 10:
            both = both_read(GAME.format_position(position))
            assert both
            same_moves(*both)
        moves = list(GAME.legal_moves(position))
        if not moves:
            break
        position = GAME.play(position, rng.choice(moves))
    assert ply > 100


def test_repetition_is_counted_over_all_earlier_positions_as_in_the_reference() -> None:
    rng = random.Random(5)
    reasons = set()
    for maker in (castling, en_passant, bare):
        for state, position in drawn_positions(rng, maker, 12):
            others = [
                replace(state, halfmove_clock=rng.randrange(101)),
                replace(state, castling_rights=state.castling_rights[1:]),
            ]
            others = [replace(other, en_passant=None) if other.halfmove_clock else other for other in others]
            others += list(legal_moves(state).values())[:2]
            history = [rng.choice([state, *others]) for _ in range(rng.randrange(6))]
            reasons.add(same_ends(state, position, history))
    assert {None, "repetition"} <= reasons


def test_spoilt_position_strings_are_refused_exactly_as_in_the_reference() -> None:
    rng = random.Random(8)
    verdicts = [both_read(spoilt(rng, maker(rng), SIGNS_OF_POSITIONS)) is None for maker in MAKERS for _ in range(30)]
    assert any(verdicts)
    assert not all(verdicts)


def variants(rng: random.Random, state: State, move: str) -> list[str]:
    """Return texts that may or may not stand for ``move``: prefixes, marks, and signs changed by chance."""
    letter = state.board[cube_of(move[:3])].upper()
    prefix = rng.choice(["", move[:2], move[2], move[:3]])
    mark = rng.choice(["+", "#", "e.p.", "ep", "ep+", "+ep", " e. p. ", "=R", " "])
    return [prefix + letter + rng.choice(["", "x"]) + move[4:7], move + mark, spoilt(rng, move, SIGNS_OF_MOVES)]


@pytest.mark.parametrize("maker", [alike, en_passant, promoting, castling], ids=lambda maker: maker.__name__)
def test_moves_are_written_and_read_as_in_the_reference(maker: Maker) -> None:
    rng = random.Random(13)
    for state, position in drawn_positions(rng, maker, 14):
        legal = legal_moves(state)
        texts = ["O-B", "O-M", "O-C", "O-J", "Kaa1", "Kee8", "cc1-ea1", "cc8-ae8"]
        for move in rng.sample(sorted(legal), min(8, len(legal))):
            written = san(state, legal, move)
            assert GAME.san(position, GAME.parse_move(position, move)) == written
            assert read_san(state, legal, written) == move
            texts += [written, spoilt(rng, written, SIGNS_OF_MOVES), *variants(rng, state, move)]
        for text in texts:
            setup = rng.choice([None, "original", "alternate"])
            try:
                expected = read_san(state, legal, text, setup)
            except RefusedError:
                with pytest.raises(RulesError):
                    GAME.parse_san(position, text, setup)
            else:
                assert GAME.format_move(position, GAME.parse_san(position, text, setup)) == expected


RAYS = {"R": ROOK_RAYS, "B": BISHOP_RAYS, "M": MERCHANT_RAYS}
LEAPS = {"N": KNIGHT_LEAPS, "C": CAPTAIN_LEAPS, "J": JESTER_LEAPS, "F": KING_STEPS}


def goals(kind: str, cube: int) -> list[int]:
    """Return the cubes to which a man on an otherwise empty board can go."""
    return list(LEAPS[kind][cube]) if kind in LEAPS else [goal for ray in RAYS[kind][cube] for goal in ray]


def random_positions(setup: str, seed: int, every: int) -> list[Position]:
    """Return positions of one random game, with the final one."""
    rng = random.Random(seed)
    position = GAME.initial(setup)
    some = []
    ply = 0
    while moves := list(GAME.legal_moves(position)):
        if ply % every == 0:
            some.append(position)
        position = GAME.play(position, rng.choice(moves))
        ply += 1
    return [*some, position]


@sampled("setup", ["original", "alternate"])
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


@pytest.mark.parametrize(("text", "reason"), table(__file__, "an illegal move is refused with its reason"))
def test_an_illegal_move_is_refused_with_its_reason(text: str, reason: str) -> None:
    with pytest.raises(IllegalMove, match=reason):
        GAME.parse_move(GAME.initial("original"), text)


@pytest.mark.parametrize(("text", "reason"), table(__file__, "a malformed position is refused with place and reason"))
def test_a_malformed_position_is_refused_with_place_and_reason(text: str, reason: str) -> None:
    with pytest.raises(MalformedNotation, match=reason):
        GAME.parse_position(text)
