"""The engine's review of a finished match, and its answers about positions that are explored beside one."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from flask import Blueprint
from msgspec import Meta

from api.access.auth import require_person
from api.access.limits import address, spend
from api.access.matches import visible_match
from api.addresses import PREFIX
from api.endpoints import endpoint
from api.http.answers import Answer, one_of
from api.http.problems import Problem
from api.http.schemas import EmptyBody
from api.operations.exploration import PositionRequest, play_line
from api.representations.reviews import RequestedReview, represent_review
from api.services import services
from domain.match.enums import Status
from domain.match.guards import rules_of
from domain.search import ENGINE_VERSION
from domain.search.expectation import POINT
from events.matches import reviews
from events.matches.evaluations import EVALUATION, Evaluation, EvaluationQuery
from events.matches.matches import Loaded
from events.matches.reviews import ReviewState, digest_of, is_reviewable, query_of
from events.people.person import GUEST
from events.store.converter import pack, unpack

blueprint = Blueprint("reviews", __name__, url_prefix=PREFIX)


@blueprint.post("/matches/<match_id>/review")
@endpoint(202, answer=RequestedReview, body=EmptyBody, signed_in=True, costly=True, problems=[404, 409])
def request_review(_: object, match_id: str) -> RequestedReview:
    """Request a review

    The engine examines every move of a finished match, which takes minutes. Read the review for how far it has come.
    """
    loaded = _finished(match_id)
    of, query = services().reviews, query_of(loaded)
    if of.state(query) == ReviewState.NONE:
        _spend(loaded)
        of.request(query)
    return _represent(loaded)


@blueprint.get("/matches/<match_id>/review")
@endpoint(answer=RequestedReview, problems=[404, 409])
def show_review(match_id: str) -> RequestedReview:
    """Show a review

    Expected points at every ply, what each move cost, and the turning points. No accuracy proves that anybody cheated.
    """
    return _represent(_finished(match_id))


def _finished(match_id: str) -> Loaded:
    """Return a match that may be reviewed; raises the problem match-not-over while no engine may be asked."""
    loaded = visible_match(match_id)
    if not is_reviewable(loaded):
        if loaded.state.status == Status.FINISHED:
            raise Problem("not-reviewable", "This match has no moves that can be replayed.")
        raise Problem("match-not-over", "The engine is asked about a match once it is over, never before.")
    return loaded


def _spend(loaded: Loaded) -> None:
    """Count a review of the caller; guests, of whom anybody can be many, count by their address."""
    person = require_person()
    is_own = loaded.state.seat_of(person.id) is not None
    spend("own_reviews" if is_own else "other_reviews", address() if person.kind == GUEST else person.id)


def _represent(loaded: Loaded) -> RequestedReview:
    of, query = services().reviews, query_of(loaded)
    document = of.stored(query)
    if document is None:
        return RequestedReview(state=of.state(query), digest=None, review=None)
    game = rules_of(loaded.state)
    names = game.setups[loaded.state.setup].seat_names
    review = represent_review(document, game, names)
    return RequestedReview(state=ReviewState.FINISHED, digest=digest_of(document), review=review)


class EvaluatedPosition(Answer):
    """The judgement of the engine on a position of a line; moves in canonical notation."""

    state: Annotated[str, one_of(ReviewState, "asked: a worker searches; send the same again")]
    expected: Annotated[Sequence[float] | None, Meta(description="The points that each seat may expect there")]
    best: Annotated[Sequence[str], Meta(description="The best play")]


@blueprint.post("/matches/<match_id>/evaluations")
@endpoint(202, answer=EvaluatedPosition, body=PositionRequest, signed_in=True, costly=True, problems=[404, 409])
def evaluate_position(sent: Mapping[str, Any], match_id: str) -> EvaluatedPosition:
    """Ask the engine about a position

    After a line from any ply of a finished match. A position of a match of yours that goes on is refused. A worker
    searches: send the same again for the answer.
    """
    loaded, person = _finished(match_id), require_person()
    ply = sent.get("ply", len(loaded.state.play.moves))
    played = play_line(loaded.state, ply, sent["line"])
    if played.outcome is not None:
        raise Problem("illegal-move", "The game is over there.")
    head = query_of(loaded).head
    query = EvaluationQuery(head, person.id, ply, tuple(played.moves), ENGINE_VERSION, reviews.NODES)
    jobs = services().jobs
    stored = jobs.result(match_id, EVALUATION, query.basis)
    if stored is None:
        return _request_evaluation(match_id, query)
    answer = unpack(Evaluation, stored)
    if answer.refused:
        detail = "You have a match that goes on in this very position: the engine is not asked about it."
        raise Problem("own-match-goes-on", detail)
    return EvaluatedPosition(
        state=ReviewState.FINISHED, expected=[points / POINT for points in answer.expected], best=answer.best
    )


def _request_evaluation(match_id: str, query: EvaluationQuery) -> EvaluatedPosition:
    jobs, detail = services().jobs, pack(query).decode()
    pending = jobs.pending(match_id)
    if pending is None or pending.detail != detail:
        spend("jobs", query.person, cost=query.nodes)
    if not jobs.request(match_id, EVALUATION, 0, detail, requester=query.person, cost=query.nodes):
        raise Problem("job-running", "A worker is busy with another job of this match: ask again when it is done.")
    return EvaluatedPosition(state=ReviewState.ASKED, expected=None, best=())
