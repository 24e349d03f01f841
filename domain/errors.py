"""The errors of the rules."""

from collections.abc import Collection
from typing import Final

MAX_LISTED: Final = 4
"""How many moves a refusal names when a text fits several."""


class RulesError(ValueError):
    """A text or a move that the rules refuse. ``str(error)`` is the reason, in a player's words."""


class MalformedNotation(RulesError):
    """A text that is no position or no move at all, whatever stands on the board."""


class IllegalMove(RulesError):
    """A well-formed move that is not legal in this position."""


class GameOver(IllegalMove):
    """A move in a game that has already ended."""


class OutcomeUnknownError(Exception):
    """The outcome takes more steps to find than the budget allows."""


class StepBudget:
    """How many steps may be spent on finding out how games have ended; each takes well below a millisecond."""

    def __init__(self, steps: int) -> None:
        self._steps = steps

    def spend(self) -> None:
        """Count one step; raises OutcomeUnknownError when there is none left."""
        self._steps -= 1
        if self._steps < 0:
            raise OutcomeUnknownError


def ambiguous_move(text: str, moves: Collection[str]) -> IllegalMove:
    """Return the refusal of a ``text`` that fits several of the legal moves."""
    listed = sorted(moves)[:MAX_LISTED]
    more = ", ..." if len(moves) > MAX_LISTED else ""
    return IllegalMove(f"{text!r} could be several moves: write {' or '.join(listed)}{more}")
