"""Games whose evaluation has other weights, and the weights of a game by name.

The weights of a game are the constants of its module ``weights``: numbers and tuples of numbers. A single weight is
called ``MAN`` or ``ADVANCE.2``.
"""

import importlib.util
import sys
from collections.abc import Callable, Mapping
from copy import copy
from importlib import import_module
from types import ModuleType
from typing import Any

from domain.game import AnyGame
from domain.games import GAMES

Weights = dict[str, int]


def package_of(game_id: str) -> str:
    """Return the name of the package of a game."""
    return f"domain.{game_id.replace('-', '_')}"


def weights_of(game_id: str) -> Weights:
    """Return the weights of the product."""
    weights: Weights = {}
    for name, value in vars(import_module(f"{package_of(game_id)}.weights")).items():
        if name.isupper():
            entries = enumerate(value) if isinstance(value, tuple) else [(None, value)]
            weights |= {name if index is None else f"{name}.{index}": entry for index, entry in entries}
    return weights


def evaluation_with(game_id: str, changed: Mapping[str, int]) -> Callable[[Any, int], int]:
    """Return the evaluation of a game, in plain Python, with some weights ``changed``."""
    package = package_of(game_id)
    name = f"{package}.weights"
    original = import_module(name)
    weights = ModuleType(name)
    for constant, value in vars(original).items():
        if constant.isupper():
            if isinstance(value, tuple):
                value = tuple(changed.get(f"{constant}.{index}", entry) for index, entry in enumerate(value))
            setattr(weights, constant, changed.get(constant, value))
    parent = import_module(package)
    try:
        # A module is looked up by its name or as an attribute of its package.
        sys.modules[name] = weights
        setattr(parent, "weights", weights)  # noqa: B010 - no module is known to have it
        source = parent.__path__[0] + "/evaluate.py"
        specification = importlib.util.spec_from_file_location(f"{package}.evaluate_changed", source)
        evaluate = importlib.util.module_from_spec(specification)
        specification.loader.exec_module(evaluate)
    finally:
        sys.modules[name] = original
        setattr(parent, "weights", original)  # noqa: B010
    changed_evaluation: Callable[[Any, int], int] = evaluate.evaluate
    return changed_evaluation


def game_with(game_id: str, changed: Mapping[str, int]) -> AnyGame:
    """Return the game with some weights of its evaluation ``changed``."""
    game = copy(GAMES[game_id])
    setattr(game, "evaluate", evaluation_with(game_id, changed))  # noqa: B010 - a method to type checkers
    return game
