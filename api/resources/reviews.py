"""The engine's review of a finished match."""

from flask import Blueprint

from api.access.auth import require_person
from api.access.limits import address, spend
from api.access.matches import visible_match
from api.addresses import PREFIX
from api.endpoints import endpoint
from api.http.problems import Problem
from api.http.schemas import EmptyBody
from api.representations.reviews import RequestedReview, represent_review
from api.services import services
from domain.match.enums import Status
from domain.match.guards import rules_of
from events.matches.matches import Loaded
from events.matches.reviews import ReviewState, digest_of, is_reviewable, query_of

blueprint = Blueprint("reviews", __name__, url_prefix=PREFIX)

GUEST = "guest"


@blueprint.post("/matches/<match_id>/review")
@endpoint(202, answer=RequestedReview, body=EmptyBody, signed_in=True, costly=True, problems=[404, 409])
def request_review(_: object, match_id: str) -> RequestedReview:
    """Request a review

    The engine examines every move of a finished match, which takes minutes. Read the review for how far it has come.
    """
    loaded = _finished(match_id)
    reviews, query = services().reviews, query_of(loaded)
    if reviews.state(query) == ReviewState.NONE:
        _spend(loaded)
        reviews.request(query)
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
    reviews, query = services().reviews, query_of(loaded)
    document = reviews.stored(query)
    if document is None:
        return RequestedReview(state=reviews.state(query), digest=None, review=None)
    game = rules_of(loaded.state)
    names = game.setups[loaded.state.setup].seat_names
    review = represent_review(document, game, names)
    return RequestedReview(state=ReviewState.FINISHED, digest=digest_of(document), review=review)
