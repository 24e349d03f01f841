"""The evaluation of a position that is explored beside a finished match, unless it is one of a match that goes on."""

from typing import Any, NamedTuple

from domain.errors import GameOver
from domain.game import AnyGame
from domain.match.enums import Status
from domain.match.guards import rules_of
from domain.review.findings import analyse_position
from events.matches.evaluations import EVALUATION, Evaluation, EvaluationQuery
from events.matches.jobs import Job, Jobs
from events.matches.matches import Matches
from events.matches.readmodels import ReadModels
from events.matches.reviews import is_reviewable
from events.store.converter import pack, unpack


class Evaluations(NamedTuple):
    """Evaluates positions. Crash-safe: for the same question the stored answer is the same."""

    jobs: Jobs
    matches: Matches
    readmodels: ReadModels

    def do(self, match_id: str, job: Job) -> None:
        """Answer the question of ``job`` about the match, if that is over."""
        loaded, query = self.matches.load(match_id), unpack(EvaluationQuery, job.detail)
        if not is_reviewable(loaded):
            return
        game, play = rules_of(loaded.state), loaded.state.play
        position, history = play.position_after(query.ply), list(play.history[: query.ply])
        for text in query.line:
            history.append(position)
            position = game.play(position, game.parse_move(position, text))
        refused = self._own_match_at(game, position, query.person)
        answer = Evaluation(refused) if refused else self._evaluate(game, position, history, query.nodes)
        self.jobs.store_result(match_id, EVALUATION, query.basis, pack(answer))

    def _evaluate(self, game: AnyGame, position: Any, history: list[Any], nodes: int) -> Evaluation:
        try:
            expected, best = analyse_position(game, position, history, nodes)
        except GameOver:
            return Evaluation()
        return Evaluation("", expected, best)

    def _own_match_at(self, game: AnyGame, position: Any, person: str) -> str:
        """Return the match of ``person`` that goes on and stands in ``position``, empty without one."""
        key = game.key(position)
        for projected in self.readmodels.projected(self.readmodels.active(person)):
            if projected is None or (projected.summary.game, projected.summary.status) != (game.id, Status.PLAYING):
                continue
            play = self.matches.load(projected.summary.match).state.play
            if play.broken is None and game.key(play.position) == key:
                return projected.summary.match
        return ""
