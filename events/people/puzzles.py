"""The puzzles that were found in reviews of matches. They stay: attempts of people refer to them."""

from domain.puzzles.puzzle import Puzzle
from events.runtime.connections import StoreClient
from events.runtime.keys import PeopleKeys
from events.store.converter import pack, unpack

MAX_PUZZLES = 100
"""Of a game, as many as its table may have: all are listed on one page."""


class Puzzles:
    """The puzzles found on an installation."""

    def __init__(self, client: StoreClient, prefix: str) -> None:
        self._client = client
        self._keys = PeopleKeys(prefix)

    def room(self, game: str) -> int:
        """Return how many more a game may have."""
        return max(0, MAX_PUZZLES - int(self._client.hlen(self._keys.puzzles(game))))

    def add(self, puzzle: Puzzle) -> None:
        """Store a puzzle. Crash-safe: once more changes nothing."""
        self._client.hsetnx(self._keys.puzzles(puzzle.game_id), puzzle.id, pack(puzzle))

    def of(self, game: str) -> list[Puzzle]:
        """Return the puzzles of a game."""
        return [unpack(Puzzle, packed) for packed in self._client.hvals(self._keys.puzzles(game))]

    def puzzle(self, game: str, puzzle: str) -> Puzzle | None:
        """Return a puzzle by its id; None if there is none."""
        packed = self._client.hget(self._keys.puzzles(game), puzzle)
        return None if packed is None else unpack(Puzzle, packed)
