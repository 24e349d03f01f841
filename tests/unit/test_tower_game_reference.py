"""The Tower Game against a second, slow reference of its rules."""

import random
from dataclasses import replace

import pytest

from domain.game import MalformedNotation, RulesError
from domain.tower_game import GAME
from domain.tower_game.position import Position
from tests.support.slow_tower_game.board import State, cube_of, in_check
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


@pytest.mark.parametrize("maker", MAKERS, ids=lambda maker: maker.__name__)
def test_positions_of_every_kind_are_read_played_and_ended_as_in_the_reference(maker: Maker) -> None:
    drawn = drawn_positions(random.Random(31), maker, 36 if maker in HARDEST else 10)
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


@pytest.mark.parametrize("setup", ["original", "alternate"])
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
