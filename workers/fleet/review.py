"""The review of a finished match: every slice examines some of its plies, and the last one judges them all."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from domain.match.guards import rules_of
from domain.match.state import MatchState
from domain.review import Finding, examine, judge
from events.matches.fleet_jobs import FleetJobs, Parameters, PlannedSlice
from events.matches.matches import Matches
from events.matches.reviews import NODES, REVIEW, ReviewQuery, Reviews, load_reviewed, write_review
from events.store.converter import unpack
from workers.fleet.puzzles import PUZZLES

PLIES_PER_SLICE = 4
JUDGE: list[int] = []
"""The content of the last slice."""


class ExaminedPlies(NamedTuple):
    """The findings of a slice."""

    findings: tuple[Finding, ...] = ()


class MatchReview(NamedTuple):
    """Reviews finished matches. Crash-safe: a slice always has the same findings, and the review is stored last.

    The last slice also requests the search for puzzles, if none runs; done again, it finds the same ones.
    """

    matches: Matches
    fleet_jobs: FleetJobs
    reviews: Reviews

    def plan(self, parameters: Parameters) -> list[list[PlannedSlice]]:
        """Return slices of some plies each, and one that judges them."""
        state = load_reviewed(self.matches, ReviewQuery(**parameters))
        plies = range(1, len(state.play.moves) + 1)
        parts = [list(plies[first : first + PLIES_PER_SLICE]) for first in range(0, len(plies), PLIES_PER_SLICE)]
        examined = [PlannedSlice(part, len(part), f"plies {part[0]} to {part[-1]}") for part in parts]
        return [examined, [PlannedSlice(JUDGE, 1, "the judgement")]]

    def do(self, parameters: Parameters, plies: Sequence[int]) -> ExaminedPlies:
        """Examine ``plies``, or judge what has been found."""
        query = ReviewQuery(**parameters)
        state = load_reviewed(self.matches, query)
        if plies:
            return ExaminedPlies(tuple(_examine(state, ply) for ply in plies))
        job = self.fleet_jobs.find_running(REVIEW, parameters)
        if job is not None and self.reviews.stored(query) is None and state.result.scores is not None:
            results = [unpack(ExaminedPlies, packed) for _, packed in self.fleet_jobs.results(job.id)]
            findings = [finding for examined in results for finding in examined.findings]
            review = judge(state.game, findings, state.result.scores)
            self.reviews.store(query, write_review(query, state.game, state.ruleset, review))
        # One search at a time: people wait for reviews, nobody for puzzles.
        if all(running.kind != PUZZLES for running in self.fleet_jobs.running()):
            self.fleet_jobs.start(PUZZLES, parameters)
        return ExaminedPlies()


def _examine(state: MatchState, ply: int) -> Finding:
    game, before = rules_of(state), state.play.position_after(ply - 1)
    played: Any = game.parse_move(before, state.play.moves[ply - 1])
    history = state.play.history[: ply - 1]
    # Compiled code gives other threads, which renew the lease, a turn only where it calls a function of Python.
    return examine(game, before, history, played, NODES, lambda _: None)
