"""The operations of a game: methods of its class, or functions of its modules with their names."""

from collections.abc import Callable
from types import ModuleType
from typing import TypeVar

G = TypeVar("G")

_OPERATIONS: set[str] = set()
"""The names of the operations of a game."""


def contract(declared: type[G]) -> type[G]:
    """Note the public methods of ``declared`` as the operations that modules may define.

    A class with a decorator remains an ordinary Python class when mypyc compiles it: its subclasses get static methods.
    """
    methods = {name for name, value in vars(declared).items() if callable(value) and not name.startswith("_")}
    _OPERATIONS.update(methods)
    return declared


def operations_from(*modules: ModuleType) -> Callable[[type[G]], type[G]]:
    """Return a decorator that gives a game the functions of ``modules`` that have the names of operations.

    A method of the class itself comes before them, and a later module before an earlier one.
    """

    def decorate(game: type[G]) -> type[G]:
        operations = _OPERATIONS - vars(game).keys()
        for module in modules:
            for name in operations:
                function = getattr(module, name, None)
                if callable(function) and function.__module__ == module.__name__:
                    setattr(game, name, staticmethod(function))
        return game

    return decorate
