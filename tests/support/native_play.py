"""Positions in machine integers beside those of the contract, in random games: ``python -m tests.support.native_play``.

It takes 100,000 positions of each ruleset, or as many as its argument says, and raises AssertionError at the first
difference. With a compiled build before the sources on PYTHONPATH it is the build that is checked.
"""

import random
import sys
from collections.abc import Callable, Iterator
from typing import Any

from domain.bashni.native import from_position as bashni_position
from domain.build import COMPILED
from domain.game import AnyGame
from domain.search.contract_position import ContractPosition
from domain.search_position import SearchPosition
from domain.towers.native import from_position as towers_position
from tests.support.rulesets import RULESETS

POSITIONS = 100_000

NATIVE: dict[str, Callable[[Any], SearchPosition[Any]]] = {
    "bashni-1": lambda position: bashni_position(position, again=False),
    "bashni-2": lambda position: bashni_position(position, again=True),
    "towers-1": towers_position,
}
"""By ruleset, what makes a position in machine integers of one of the contract."""


def played(game: AnyGame, chance: random.Random) -> Iterator[tuple[Any, SearchPosition[Any]]]:
    """Yield the positions of random games without end, each with the native one that the same moves have led to."""
    native = NATIVE[f"{game.id}-{game.ruleset}"]
    while True:
        position = game.initial(chance.choice(list(game.setups)))
        beside = native(position)
        while True:
            yield position, beside
            moves = list(game.legal_moves(position))
            if not moves:
                break
            # Random play alone seldom comes to an end by castles, or to tall columns.
            gains = game.gains(position, moves)
            move = moves[gains.index(max(gains))] if chance.random() < 0.2 else chance.choice(moves)
            position, beside = game.play(position, move), beside.play(move)


def facts(position: SearchPosition[Any], seats: int) -> dict[str, Any]:
    """Return all that a search learns from a position, its key excepted."""
    moves = position.legal_moves()
    return {
        "side": int(position.side),
        "moves": moves,
        "is_forced": position.is_forced(),
        "gains": position.gains(moves),
        "noisy_moves": position.noisy_moves(),
        "unlisted_candidates": position.unlisted_candidates(3),
        "evaluations": [position.evaluate(seat) for seat in range(seats)],
        "outcomes": [position.outcome(repeated) for repeated in (False, True)],
    }


def compare(ruleset: str, count: int, seed: int = 1) -> int:
    """Compare ``count`` positions, and return how many keys they had; AssertionError names the one that differs."""
    game, native = RULESETS[ruleset], NATIVE[ruleset]
    keys: dict[object, object] = {}
    for _, (position, beside) in zip(range(count), played(game, random.Random(seed)), strict=False):
        contract = ContractPosition(game, position)
        text = game.format_position(position)
        expected = facts(contract, game.seats_at(position))
        assert facts(beside, game.seats_at(position)) == expected, text
        anew = native(position)
        assert (beside.key(), facts(anew, game.seats_at(position))) == (anew.key(), expected), text
        assert keys.setdefault(beside.key(), contract.key()) == contract.key(), text
    assert len(keys) == len(set(keys.values())), "two keys for the same position"
    return len(keys)


def main() -> None:
    count = int(sys.argv[1]) if sys.argv[1:] else POSITIONS
    for ruleset in NATIVE:
        build = "compiled" if COMPILED else "plain"
        print(f"{ruleset}, {build}: {count} positions alike, {compare(ruleset, count)} different ones", flush=True)


if __name__ == "__main__":
    main()
