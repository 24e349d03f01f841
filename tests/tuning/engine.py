"""An engine in a process of its own: the search of any checkout, with any of its constants changed.

``python engine.py GAME [MODULE.CONSTANT=JSON ...]`` reads lines and answers ``go`` with a move:

    position TEXT      begin with this position
    move TEXT          the move that was played
    go NODES SEED      answered by "VALUE NODES MOVE"
"""

import json
import sys
from importlib import import_module
from typing import Any

from domain.games import GAMES
from domain.search import LEVELS, choose


def assign(setting: str) -> None:
    """Give a constant of a module the value that ``setting`` says."""
    path, _, value = setting.partition("=")
    module_name, _, name = path.rpartition(".")
    module = import_module(module_name)
    if not hasattr(module, name):
        raise SystemExit(f"{module_name} has no {name}")
    setattr(module, name, json.loads(value))


def answer(game_id: str) -> None:
    """Answer the lines of the standard input."""
    game = GAMES[game_id]
    position: Any = None
    history: list[Any] = []
    for line in sys.stdin:
        verb, _, rest = line.rstrip("\n").partition(" ")
        if verb == "position":
            position, history = game.parse_position(rest), []
        elif verb == "move":
            history.append(position)
            position = game.play(position, game.parse_move(position, rest))
        elif verb == "go":
            nodes, seed = map(int, rest.split())
            level = min((level for level in LEVELS if level >= 8 and LEVELS[level].nodes >= nodes), default=max(LEVELS))
            choice = choose(game, position, history, level, seed, min(nodes, LEVELS[level].nodes))
            sys.stdout.write(f"{choice.value} {choice.nodes} {game.format_move(position, choice.move)}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    for argument in sys.argv[2:]:
        assign(argument)
    answer(sys.argv[1])
