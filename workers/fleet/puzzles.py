"""Puzzles from the review of a public match: every slice searches one position in which a single move mattered."""

import json
from typing import Any, Final, NamedTuple

from domain.games import GAMES
from domain.match.guards import rules_of
from domain.match.state import MatchState
from domain.puzzles.lines import confirm, count_solved, may_be_puzzle, solve
from domain.puzzles.puzzle import Puzzle
from domain.review import MoveLabel
from domain.search import node_budget
from domain.search.budgets import thinking_time_s
from events.matches.fleet_jobs import Parameters, PlannedSlice
from events.matches.matches import Matches
from events.matches.reviews import ReviewQuery, Reviews, load_reviewed
from events.people.puzzles import Puzzles

PUZZLES: Final = "puzzles"
"""The kind of the fleet job."""

FACTOR: Final = 10
"""A puzzle is kept if searches with this many times the nodes of level 8 confirm it, as in the tables."""

MAX_POSITIONS: Final = 6
"""Positions of a match that are searched."""

SEARCHES: Final = 50
"""Searches of level 8 that take as long as a slice with all that its position may need."""

MAX_SEARCH_S: Final = 150
"""Seconds of an idle core for a slice: a quarter of the time after which it counts as one that kills its worker."""


class SearchedPosition(NamedTuple):
    """The result of a slice: the id of the puzzle of a position, None where there is none."""

    puzzle: str | None


class PuzzleSearch(NamedTuple):
    """Looks for puzzles in reviewed matches. Crash-safe: a position yields the same puzzle again, under the same id."""

    matches: Matches
    reviews: Reviews
    puzzles: Puzzles

    def plan(self, parameters: Parameters) -> list[list[PlannedSlice]]:
        """Return a slice for each position to search.

        There are none of a private match, when the game has enough puzzles, or where this build is too slow for it.
        """
        query = ReviewQuery(**parameters)
        state, document = load_reviewed(self.matches, query), self.reviews.stored(query)
        is_current = state.ruleset == GAMES[state.game].ruleset
        is_fast = thinking_time_s(state.game, SEARCHES * node_budget(state.game, 8)) <= MAX_SEARCH_S
        if document is None or state.private or not (is_current and is_fast):
            return []
        plies = [move["ply"] for move in json.loads(document)["moves"] if _mattered(move) and _is_open(state, move)]
        chosen = plies[: min(MAX_POSITIONS, self.puzzles.room(state.game))]
        return [[PlannedSlice(ply, 1, f"the position before ply {ply}") for ply in chosen]]

    def do(self, parameters: Parameters, ply: int) -> SearchedPosition:
        """Search the position before ``ply``, and store its puzzle if there is one."""
        state = load_reviewed(self.matches, ReviewQuery(**parameters))
        game = rules_of(state)
        solution = solve(game, game.format_position(state.play.position_after(ply - 1)), 1)
        confirmed = solution and confirm(game, solution, FACTOR)
        if confirmed is None:
            return SearchedPosition(None)
        puzzle = Puzzle(state.game, *confirmed, count_solved(game, confirmed), state.match_id, ply)
        self.puzzles.add(puzzle)
        return SearchedPosition(puzzle.id)


def _mattered(move: dict[str, Any]) -> bool:
    """Return whether a move of a review was the only good one, or a mistake at least."""
    return move["only"] or move["label"] in (MoveLabel.MISTAKE, MoveLabel.BLUNDER)


def _is_open(state: MatchState, move: dict[str, Any]) -> bool:
    return may_be_puzzle(rules_of(state), state.play.position_after(move["ply"] - 1))
