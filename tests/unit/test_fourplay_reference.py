"""Fourplay against a second, slow reference of its rules, which joins pieces by attachments and tries all squares.

The slow reference takes and gives strings only, and shares nothing with the rules that are played.
"""

import random
from collections.abc import Iterator
from dataclasses import replace

import pytest

from domain.errors import MalformedNotation, RulesError
from domain.fourplay import GAME
from domain.fourplay.position import Position
from tests.support.draws import sampled
from tests.support.slow_fourplay.board import LIMITS, SQUARES, State, name, read, write
from tests.support.slow_fourplay.moves import in_check, outcome, resigned, successors
from tests.support.slow_fourplay.positions import random_position, random_set_up

SIGNS = "0123456789rbygKADgQMuGRB,VMH*/ -;>\n٣"


def compared(text: str) -> tuple[Position, State]:
    """Check that both readings give ``text`` the same moves, in order, with the same positions after them."""
    state, position = read(text), GAME.parse_position(text)
    assert GAME.format_position(position) == write(state) == text
    expected = successors(state)
    actual = {move: GAME.format_position(GAME.play(position, move)) for move in GAME.legal_moves(position)}
    assert list(actual) == list(expected), text
    assert actual == expected, text
    return position, state


def ended(position: Position, history: list[str]) -> tuple[list[float], str] | None:
    found = GAME.outcome(position, [GAME.parse_position(text) for text in history])
    return found and (list(found.scores), found.reason)


@sampled("seed", range(12))
def test_random_positions_have_the_moves_the_checks_and_the_end_of_the_reference(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(3):
        position, state = compared(random_position(rng))
        assert ended(position, []) == outcome(state, []), write(state)
        for owner in state.survivors():
            turn = replace(state, side=owner)
            assert GAME.in_check(GAME.parse_position(write(turn))) is in_check(turn, owner), write(turn)
            after = GAME.without_seat(position, "rbyg".index(owner)) if len(state.survivors()) > 1 else None
            assert after is None or GAME.format_position(after) == write(resigned(state, owner)), (write(state), owner)


@sampled("seed", range(4))
def test_random_set_ups_have_the_placements_of_the_reference(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(3):
        position, _ = compared(random_set_up(rng))
        assert not GAME.in_check(position)
        assert GAME.outcome(position, [position, position]) is None


@sampled(("setup", "seed"), [("draft", 3), ("standard", 1), ("standard", 2)])
def test_a_random_game_goes_as_the_reference_has_it(setup: str, seed: int) -> None:
    rng = random.Random(seed)
    position = GAME.initial(setup)
    compared_positions = 0
    while moves := list(GAME.legal_moves(position)):
        if rng.random() < 0.02:
            compared(GAME.format_position(position))
            compared_positions += 1
        captures = [move for move in moves if "x" in move or "*" in move]
        position = GAME.play(position, rng.choice(captures if captures and rng.random() < 0.2 else moves))
    _, state = compared(GAME.format_position(position))
    assert ended(position, []) == outcome(state, [])
    assert compared_positions > 3


@sampled("seed", range(4))
def test_a_move_is_accepted_exactly_when_the_reference_lists_it(seed: int) -> None:
    rng = random.Random(seed)
    accepted = 0
    for text in (random_position(rng), random_position(rng), random_set_up(rng)):
        position, state = GAME.parse_position(text), read(text)
        expected = successors(state)
        for move in sorted({*tries(state, rng), *(other for legal in expected for other in twins(legal))}):
            try:
                accepted += GAME.parse_move(position, move) == move
            except RulesError:
                assert move not in expected, (text, move)
            else:
                assert move in expected, (text, move)
            assert GAME.is_legal(position, move) is (move in expected)
    assert accepted > 0


def tries(state: State, rng: random.Random) -> Iterator[str]:
    """Yield texts of the form of a move, from pieces of every colour to squares anywhere."""
    yield from ("pass", "done")
    starts = [piece.square for piece in state.pieces.values()] or SQUARES
    for _ in range(250):
        start, target = rng.choice(starts), rng.choice(rng.choice((SQUARES, starts)))
        yield name(start) + rng.choice(("-", "x", "*", ">", "<", "<>")) + name(target)
        yield f"{rng.choice(list(LIMITS))}@{name(target)}"


def twins(move: str) -> Iterator[str]:
    """Yield a move as it is, and with another sign or ending."""
    for sign in ("-", "x", "*", ">", "<", "<>"):
        for ending in ("", "=Q", "=Mu", "=A", "=K", "=,"):
            yield move.replace("-", sign).partition("=")[0] + ending
    yield move
    yield move.lower()


@sampled("seed", range(8))
def test_the_same_strings_are_positions_for_both_readings(seed: int) -> None:
    rng = random.Random(seed)
    accepted = 0
    texts = [random_position(rng), random_set_up(rng)]
    for text in [changed(rng.choice(texts), rng) for _ in range(150)]:
        try:
            written = write(read(text))
        except ValueError:
            with pytest.raises(MalformedNotation):
                GAME.parse_position(text)
        else:
            assert GAME.format_position(GAME.parse_position(text)) == written == text
            accepted += 1
    assert accepted > 0


def changed(text: str, rng: random.Random) -> str:
    """Return ``text`` with a sign or a field put in, taken out or exchanged."""
    if rng.random() < 0.4:
        fields = text.split(" ")
        field = rng.randrange(len(fields))
        words = ["", "r", "b", "y", "g", "-", "rb", "bgy", "rbyg", "rr", "0", "00", "99", "100", "101", "setup", "play"]
        fields[field] = rng.choice([*words, "a1>a2", ";".join(fields[4].split(";")[::-1]), fields[field] * 2])
        return " ".join(fields)
    place = rng.randrange(len(text))
    return text[:place] + rng.choice(("", rng.choice(SIGNS))) + text[place + rng.randrange(2) :]


@sampled("seed", range(6))
def test_a_position_that_came_before_counts_with_any_clock(seed: int) -> None:
    rng = random.Random(seed)
    reasons = set()
    for _ in range(12):
        text = random_position(rng)
        same, _ = text.rsplit(" ", 1)
        board, side, phase, out, dogs, _ = text.split(" ")
        other = next((letter for letter in read(text).survivors() if letter != side), side)
        choices = (
            f"{same} {rng.randrange(101)}",
            f"{board} {side} {phase} {out} - 1",
            f"{board} {other} play {out} {dogs} 1",
        )
        history = [rng.choice(choices) for _ in range(rng.randrange(8))]
        found = ended(GAME.parse_position(text), history)
        assert found == outcome(read(text), history), (text, history)
        reasons.add(found and found[1])
    assert {None, "repetition"} <= reasons
