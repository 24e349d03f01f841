"""Whatever somebody writes as a position or a move is read or refused in words, and nothing else ever happens."""

import random
from collections.abc import Sequence
from functools import cache
from typing import Any

import pytest
from hypothesis import HealthCheck, given, strategies as st

from domain.errors import MalformedNotation, RulesError
from domain.game import AnyGame
from tests.support.draws import draws
from tests.support.rulesets import WITH_TINY

MAX_TEXT_CHARACTERS = 10_000
MAX_REASON_CHARACTERS = 400
PLIES = 240
"""How far the random games are followed."""

SIGNS = "abcdefghijklmno0123456789-x*+<>=@;:,/|(). \t\nwbrygRBNQMCWKDPLJFAGVHuOI#٣é²\x00\ud800"

every_game = pytest.mark.parametrize("game", WITH_TINY.values(), ids=WITH_TINY)
thorough = draws(120, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


@cache
def visited(game: AnyGame) -> tuple[tuple[Any, str], ...]:
    """Return positions of random games of all setups, the last ones too, each with its setup."""
    found: list[tuple[Any, str]] = []
    for setup in game.setups:
        rng = random.Random(f"{game.id} {setup}")
        positions = [game.initial(setup)]
        while len(positions) < PLIES and (moves := list(game.legal_moves(positions[-1]))):
            positions.append(game.play(positions[-1], rng.choice(moves)))
        found += [(position, setup) for position in (*positions[::24], positions[-1])]
    return tuple(found)


@cache
def visited_texts(game: AnyGame) -> tuple[str, ...]:
    return tuple(game.format_position(position) for position, _ in visited(game))


@cache
def moves_at(game: AnyGame, number: int) -> tuple[str, ...]:
    """Return the legal moves of a visited position as text, or those of the first one when there are none."""
    position, _ = visited(game)[number]
    moves = [game.format_move(position, move) for move in game.legal_moves(position)]
    return tuple(moves) or moves_at(game, 0)


@st.composite
def mutated(draw: st.DrawFn, texts: Sequence[str]) -> str:
    """Draw one of ``texts`` with some places changed."""
    text = draw(st.sampled_from(texts))
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text)))
        end = draw(st.integers(start, min(len(text), start + 3)))
        text = text[:start] + draw(st.text(SIGNS, max_size=3)) + text[end:]
    return text


@st.composite
def stretched(draw: st.DrawFn, texts: Sequence[str]) -> str:
    """Draw one of ``texts`` in which a part is repeated until it is as long as a request may be."""
    text = draw(st.sampled_from(texts))
    start = draw(st.integers(0, len(text)))
    end = draw(st.integers(start, len(text)))
    part = text[start:end] + draw(st.text(SIGNS, max_size=2)) or " "
    return (text[:start] + part * (MAX_TEXT_CHARACTERS // len(part)))[: MAX_TEXT_CHARACTERS - len(text) + end] + text[
        end:
    ]


@cache
def anything(texts: tuple[str, ...]) -> st.SearchStrategy[str]:
    """Return texts of any kind, most of them close to ``texts``."""
    signs = st.text(st.characters(exclude_categories=()), max_size=80)
    return st.one_of(mutated(texts), signs, st.text(SIGNS, max_size=80), stretched(texts), mutated(texts))


def assert_says_why(refusal: RulesError) -> None:
    """Check that the reason is a reason: there, and not as long as what it refuses."""
    assert 0 < len(str(refusal)) <= MAX_REASON_CHARACTERS


@every_game
@thorough
@given(chance=st.data())
def test_any_text_is_a_position_that_reads_back_or_is_refused_in_words(game: AnyGame, chance: st.DataObject) -> None:
    text = chance.draw(anything(visited_texts(game)))
    try:
        position = game.parse_position(text)
    except MalformedNotation as refusal:
        assert_says_why(refusal)
    else:
        assert game.format_position(position) == text
        assert game.parse_position(game.format_position(position)) == position


@every_game
def test_a_position_without_one_of_its_signs_reads_back_or_is_refused(game: AnyGame) -> None:
    refused = 0
    for position, _ in visited(game)[::4]:
        text = game.format_position(position)
        for place in range(len(text)):
            lacking = text[:place] + text[place + 1 :]
            try:
                assert game.format_position(game.parse_position(lacking)) == lacking
            except MalformedNotation:
                refused += 1
    assert refused > 0


@every_game
@thorough
@given(chance=st.data())
def test_any_text_is_a_legal_move_or_is_refused_in_words(game: AnyGame, chance: st.DataObject) -> None:
    number = chance.draw(st.integers(0, len(visited(game)) - 1))
    position, setup = visited(game)[number]
    text = chance.draw(anything(moves_at(game, number)))
    for read in (game.parse_move, lambda place, words: game.read_move(place, words, setup)):
        try:
            move = read(position, text)
        except RulesError as refusal:
            assert_says_why(refusal)
        else:
            assert game.is_legal(position, move)
            assert game.parse_move(position, game.format_move(position, move)) == move


@every_game
@thorough
@given(chance=st.data())
def test_the_moves_of_one_position_are_read_or_refused_in_all_others(game: AnyGame, chance: st.DataObject) -> None:
    here, there = (chance.draw(st.integers(0, len(visited(game)) - 1)) for _ in range(2))
    text = chance.draw(st.sampled_from(moves_at(game, here)))
    position, _ = visited(game)[there]
    try:
        move = game.parse_move(position, text)
    except RulesError as refusal:
        assert_says_why(refusal)
    else:
        assert move in list(game.legal_moves(position))


@every_game
def test_digits_of_other_scripts_are_no_digits(game: AnyGame) -> None:
    for number, (position, _) in enumerate(visited(game)):
        text, move = game.format_position(position), moves_at(game, number)[0]
        for digit, foreign in zip("0123456789", "٠١٢٣٤٥٦٧٨٩", strict=True):
            for place in (place for place, sign in enumerate(text) if sign == digit):
                with pytest.raises(MalformedNotation):
                    game.parse_position(text[:place] + foreign + text[place + 1 :])
            if digit in move:
                with pytest.raises(MalformedNotation):
                    game.parse_move(position, move.replace(digit, foreign))
