"""What every game says to its players beside its moves, and how it reads what they write: over all rulesets."""

import random
import re
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from typing import Any

import pytest

from domain.errors import IllegalMove, MalformedNotation, RulesError
from domain.game import AnyGame
from domain.history import History
from tests.support.rulesets import WITH_TINY

SETUPS = {f"{name}-{setup}": (game, setup) for name, game in WITH_TINY.items() for setup in game.setups}
every_setup = pytest.mark.parametrize(("game", "setup"), SETUPS.values(), ids=SETUPS)

PLIES = 160
MOVES_EACH = 12
"""Of the legal moves of a position, how many are written loosely."""


@cache
def visited(game: AnyGame, setup: str) -> tuple[tuple[Any, tuple[Any, ...]], ...]:
    """Return positions spread over a random game, each with those before it."""
    rng = random.Random(f"{game.id} {setup} words")
    positions = [game.initial(setup)]
    while len(positions) < PLIES and (moves := list(game.legal_moves(positions[-1]))):
        positions.append(game.play(positions[-1], rng.choice(moves)))
    plies = sorted({*range(0, len(positions), max(1, len(positions) // 8)), len(positions) - 1})
    return tuple((positions[ply], tuple(positions[:ply])) for ply in plies)


def loose_forms(canonical: str, spelled: str) -> Iterator[str]:
    """Yield the ways in which a player may write a move."""
    for text in (canonical, spelled):
        yield " ".join(text)
        yield text.upper()
        yield text.lower()
        yield text.rstrip("+#") + "+"
        yield re.sub("(?<=[0-9])[-x:](?=[a-z])", " ", text)
        yield re.sub("(?<=[0-9])[-x](?=[a-z])", "", text).upper()
        yield text.replace("=", "")
    yield re.sub("(?<=[0-9])-(?=[a-z])", "x", canonical)
    yield re.sub("(?<=[0-9])x(?=[a-z])", "-", canonical)
    yield re.sub("(?<=[0-9])x(?=[a-z])", ":", canonical)


@every_setup
def test_a_loose_spelling_is_read_as_its_move_or_refused_as_one_of_several(game: AnyGame, setup: str) -> None:
    rng = random.Random(f"{game.id} {setup}")
    read, refusals = 0, list[str]()
    for position, _ in visited(game, setup):
        written = {game.format_move(position, move): move for move in game.legal_moves(position)}
        for canonical in rng.sample(sorted(written), min(MOVES_EACH, len(written))):
            for form in loose_forms(canonical, game.display_move(position, written[canonical])):
                if form in written and form != canonical:
                    continue
                try:
                    assert game.read_move(position, form, setup) == written[canonical], form
                    read += 1
                except IllegalMove as refusal:
                    refusals.append(str(refusal))
    assert read > 0
    assert [refusal for refusal in refusals if "could be several moves" not in refusal] == []


@every_setup
def test_what_parse_move_reads_is_read_the_same_and_nothing_illegal_is_read(game: AnyGame, setup: str) -> None:
    rng = random.Random(f"{game.id} {setup} marks")
    for position, _ in visited(game, setup):
        legal = set(game.legal_moves(position))
        squares = [cell.square for cell in game.scene(position).cells]
        for move in rng.sample(sorted(legal, key=repr), min(MOVES_EACH, len(legal))):
            assert game.read_move(position, game.format_move(position, move), setup) == move
        for mark in ("", "-", "x", " ", "X", "+", "@"):
            with suppress(RulesError):
                assert game.read_move(position, mark.join(rng.sample(squares, min(2, len(squares)))), setup) in legal


@every_setup
def test_the_spelling_of_a_move_reads_back(game: AnyGame, setup: str) -> None:
    for position, _ in visited(game, setup):
        for move in game.legal_moves(position):
            assert game.read_move(position, game.display_move(position, move), setup) == move


@every_setup
def test_every_square_on_which_no_move_begins_says_why(game: AnyGame, setup: str) -> None:
    for position, _ in visited(game, setup):
        hints, compositions = game.hints(position), game.compositions(position)
        for cell in game.scene(position).cells:
            assert re.fullmatch("[a-z]{1,2}[0-9]{1,2}", cell.square)
            reason = game.why_not(position, cell.square)
            assert (reason is None) == (cell.square in hints)
            if reason is not None:
                assert not reason.endswith(".")
                assert any(cell.square in each.pieces for each in compositions) == ("can only take part" in reason)
    for square in ("", "zz9", "a0", "a1 ", "é1", "a" * 10_000):
        with pytest.raises(MalformedNotation):
            game.why_not(game.initial(setup), square)


@every_setup
def test_facts_name_seats_of_the_game_and_are_the_same_for_a_history(game: AnyGame, setup: str) -> None:
    seats = range(len(game.setups[setup].seat_names))
    for position, earlier in visited(game, setup):
        facts = game.facts(position, earlier)
        assert facts == game.facts(position, History(game, earlier))
        assert len({(fact.title, fact.seat) for fact in facts}) == len(facts) > 0
        assert all(fact.title and fact.value and (fact.seat is None or fact.seat in seats) for fact in facts)
        assert not game.standing or (game.standing, 0) in {(fact.title, fact.seat) for fact in facts}
        for title in {fact.title for fact in facts if fact.seat is not None}:
            assert [fact.seat for fact in facts if fact.title == title] == list(seats)


@every_setup
def test_a_position_that_has_stood_before_is_counted(game: AnyGame, setup: str) -> None:
    position, earlier = visited(game, setup)[-2]
    assert "This position" not in {fact.title for fact in game.facts(position, earlier)}
    (fact,) = (fact for fact in game.facts(position, (*earlier, position)) if fact.title == "This position")
    assert fact.value == "2 of 3 times"


@every_setup
def test_a_demand_is_a_sentence_that_holds_for_the_legal_moves(game: AnyGame, setup: str) -> None:
    for position, _ in visited(game, setup):
        demand = game.demand(position)
        assert not demand or demand.endswith(".")


@every_setup
def test_kings_in_check_stand_on_the_picture_and_are_said(game: AnyGame, setup: str) -> None:
    for position, _ in visited(game, setup):
        scene = game.scene(position)
        for square in scene.columns:
            assert (square in scene.checked) == scene.contents(square).endswith(", in check")
        assert set(scene.checked) <= set(scene.columns)
