"""Positions in which a single feature of an evaluation decides who stands better: ``python -m tests.tuning.deciding``.

It looks through random games, and prints the table for ``tests/unit/test_evaluation.py``.
"""

import json
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from random import Random
from typing import Any

from domain.game import AnyGame
from domain.games import GAMES
from domain.history import History
from tests.tuning.variants import evaluation_with, package_of, weights_of

FADING = ("FADING_PLIES", "FADING_PUSHES")
"""These make an advantage smaller, but never turn it."""
GAMES_PLAYED = 40


def names_of(game_id: str) -> list[str]:
    """Return the names of the features of a game; none when it has no weights."""
    if find_spec(f"{package_of(game_id)}.weights") is None:
        return []
    constants = vars(import_module(f"{package_of(game_id)}.weights"))
    return [name for name in constants if name.isupper() and name not in FADING]


def without(game_id: str, name: str) -> dict[str, int]:
    """Return the changed weights of an evaluation that disregards a feature."""
    return {weight: 0 for weight in weights_of(game_id) if weight.split(".")[0] == name}


def positions(game: AnyGame, setup: str, seed: int) -> Iterator[Any]:
    """Yield positions of a random game in which good moves are likelier than bad ones."""
    chance = Random(f"{game.id}/{setup}/{seed}")
    position, history = game.initial(setup), History(game)
    for _ in range(120):
        if game.outcome(position, history) is not None:
            return
        yield position
        moves = game.order(position, game.legal_moves(position))
        history = history.with_position(position)
        position = game.play(position, moves[int(len(moves) * chance.random() ** 3)])


def deciding_positions(game: AnyGame) -> dict[str, str]:
    """Return by feature a position in which it decides who stands better; the shortest string that was found."""
    candidates = [
        position
        for setup in game.setups
        if setup != "draft"
        for seed in range(GAMES_PLAYED // len(game.setups))
        for position in positions(game, setup, seed)
    ]
    standings = [game.evaluate(position, 0) for position in candidates]
    table = {}
    for name in names_of(game.id):
        evaluate = evaluation_with(game.id, without(game.id, name))
        deciding = [
            game.format_position(position)
            for position, standing in zip(candidates, standings, strict=True)
            if standing * evaluate(position, 0) < 0
        ]
        if deciding:
            table[name] = min(deciding, key=len)
        else:
            print(f"{game.id}: no position for {name}")
    return table


if __name__ == "__main__":
    rows = [[game.id, name, text] for game in GAMES.values() for name, text in deciding_positions(game).items()]
    lines = ",\n".join(json.dumps([f"{game_id}: {name}", game_id, name, text]) for game_id, name, text in rows)
    print('{\n"a feature decides": [\n' + lines + "\n]\n}")
