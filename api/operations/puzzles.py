"""The puzzles of each game: tables that come with the product, and those that were found in reviews.

``python -m tests.mining`` finds the first in games of the opponents against themselves, and writes the tables.
"""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

from api.services import services
from domain.games import GAMES
from domain.puzzles.puzzle import Puzzle

FOLDER = Path(__file__).parents[1] / "pages" / "learning" / "puzzles"


@lru_cache(maxsize=16)
def puzzles_of(game_id: str) -> Mapping[str, Puzzle]:
    """Return the puzzles in the table of a game by id, the easiest first."""
    path = FOLDER / f"{game_id}.tsv"
    if game_id not in GAMES or not path.is_file():
        return {}
    return _by_id(_read(game_id, line.split("\t")) for line in path.read_text().splitlines())


def all_puzzles_of(game_id: str) -> Mapping[str, Puzzle]:
    """Return all puzzles of a game by id, the easiest first."""
    from_reviews, table = services().puzzles.of(game_id), puzzles_of(game_id)
    return _by_id([*(puzzle for puzzle in from_reviews if puzzle.id not in table), *table.values()])


def puzzle_with(game_id: str, puzzle_id: str) -> Puzzle | None:
    """Return the puzzle of a game with an id; None if there is none."""
    return puzzles_of(game_id).get(puzzle_id) or services().puzzles.puzzle(game_id, puzzle_id)


def _by_id(puzzles: Iterable[Puzzle]) -> Mapping[str, Puzzle]:
    return {puzzle.id: puzzle for puzzle in sorted(puzzles, key=lambda puzzle: puzzle.difficulty)}


def _read(game_id: str, fields: list[str]) -> Puzzle:
    position, line, alternatives, numbers, solved = fields
    choices, factor = map(int, numbers.split())
    trials = tuple(map(int, solved.split()))
    return Puzzle(game_id, position, tuple(line.split()), tuple(alternatives.split()), choices, factor, trials)


def of_the_day(game_id: str, day: int) -> Puzzle | None:
    """Return the puzzle of a day, counted from 1970: all in the table of a game in turn, in a mixed order.

    Those found in reviews are not among them: one more would change the order on the same day.
    """
    puzzles = list(puzzles_of(game_id).values())
    if not puzzles:
        return None
    puzzles.sort(key=lambda puzzle: sha256(f"day {puzzle.id}".encode()).digest())
    return puzzles[day % len(puzzles)]
