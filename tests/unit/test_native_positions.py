"""A position in machine integers is, to the search, the same as the contract's."""

import random
from itertools import islice

import pytest

from domain.build import COMPILED
from domain.search.contract_position import ContractPosition
from tests.support.native_play import NATIVE, compare, facts, played
from tests.support.rulesets import RULESETS

POSITIONS = 300


@pytest.mark.parametrize("ruleset", NATIVE)
def test_native_positions_have_the_moves_values_outcomes_and_keys_of_the_contract(ruleset: str) -> None:
    assert compare(ruleset, POSITIONS) > POSITIONS * 0.8


@pytest.mark.parametrize("ruleset", NATIVE)
def test_a_difference_is_noticed(ruleset: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ContractPosition, "gains", lambda position, moves: [1 for _ in moves])
    with pytest.raises(AssertionError):
        compare(ruleset, POSITIONS)


@pytest.mark.parametrize("ruleset", NATIVE)
def test_playing_on_does_not_change_a_position(ruleset: str) -> None:
    game = RULESETS[ruleset]
    for position, native in islice(played(game, random.Random(2)), 0, 200, 20):
        seats = game.seats_at(position)
        before = facts(native, seats), native.key()
        for move in native.legal_moves():
            native.play(move)
        assert (facts(native, seats), native.key()) == before


def test_plain_python_searches_the_positions_of_the_contract() -> None:
    assert not COMPILED
    assert all(game.search_position(game.initial(next(iter(game.setups)))) is None for game in RULESETS.values())
