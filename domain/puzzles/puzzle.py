"""Puzzles as they are offered: a solution, and the trials of the levels from which its first rating follows."""

from collections.abc import Sequence
from functools import lru_cache
from hashlib import sha256
from typing import Final, NamedTuple

from domain.games import GAMES
from domain.puzzles.attempts import prior_rating
from domain.rating import Rating

TRIALS: Final = (4, 4, 4, 4, 4, 1, 1, 1)
"""The trials of each level, from 1 on: the strongest ones nearly always choose the same."""


class Puzzle(NamedTuple):
    """A position and its solution in canonical notation, replies included.

    ``alternatives`` are as good as the last move of the line that is to be found, ``choices`` counts those, and
    ``factor`` is the nodes of the search that has confirmed them, by those of level 8. ``solved`` counts the trials by
    level in which an opponent has found all. ``match`` and ``ply`` say before which ply of a match the position was,
    None where the opponents have played against themselves.
    """

    game_id: str
    position: str
    line: tuple[str, ...]
    alternatives: tuple[str, ...]
    choices: int
    factor: int
    solved: tuple[int, ...]
    match: str | None = None
    ply: int | None = None

    @property
    def id(self) -> str:
        """The id in addresses, which follows from the position."""
        return sha256(f"{self.game_id} {self.position}".encode()).hexdigest()[:8]

    @property
    def level(self) -> int | None:
        """The weakest level from which on all solve it in at least half of their trials; None: not even level 8."""
        fails = [level for level, (won, of) in enumerate(zip(self.solved, TRIALS, strict=True), 1) if 2 * won < of]
        hardest = max(fails, default=0)
        return hardest + 1 if hardest < len(TRIALS) else None

    @property
    def difficulty(self) -> tuple[int, int, str]:
        """The place of the puzzle among those of its game, the easiest first."""
        return self.level or len(TRIALS) + 1, -sum(self.solved), self.id

    @property
    def solver_moves(self) -> tuple[str, ...]:
        """The moves that the solver has to play."""
        return self.line[::2]

    @property
    def prior(self) -> Rating:
        """The rating before any person has tried it, which follows from the trials of the levels."""
        return _prior(self.solved)

    def is_solved_by(self, moves: Sequence[str]) -> bool:
        """Return whether the solver's ``moves``, in canonical notation, are the solution.

        Raises RulesError for a move that is not legal where it stands, after the ones before it were the right ones.
        """
        game = GAMES[self.game_id]
        position = game.parse_position(self.position)
        for number, text in enumerate(moves[: len(self.solver_moves)]):
            move = game.format_move(position, game.parse_move(position, text))
            last = number == len(self.solver_moves) - 1
            if move != self.solver_moves[number]:
                return last and move in self.alternatives
            for played in self.line[2 * number : 2 * number + 2]:
                position = game.play(position, game.parse_move(position, played))
        return len(moves) == len(self.solver_moves)


@lru_cache(maxsize=1000)
def _prior(solved: tuple[int, ...]) -> Rating:
    return prior_rating(solved, TRIALS)
