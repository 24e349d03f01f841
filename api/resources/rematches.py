"""Playing again: both players' proposals meet in one match, because its id is made from the match before it."""

from dataclasses import replace

from flask import Blueprint, Response

from api.access.admission import admit_match, match_places
from api.access.auth import require_person
from api.access.matches import visible_match
from api.addresses import PREFIX, match_path, rematch_id
from api.endpoints import endpoint
from api.http.answers import json_response
from api.http.conditions import KEY_PARAMETER, VERSION_HEADER, etag, idempotent_request
from api.http.schemas import EmptyBody
from api.operations.commands import REFUSALS
from api.representations.matches import MatchWithReceipt, represent_match, with_receipt
from api.representations.receipts import represent_receipt
from api.services import services
from domain.match.commands import JoinMatch
from domain.match.refusals import CommandError
from domain.match.rematch import rematch
from events.service.matches import fresh_seed

blueprint = Blueprint("rematches", __name__, url_prefix=PREFIX)


@blueprint.post("/matches/<match_id>/rematches")
@endpoint(
    201,
    answer=MatchWithReceipt,
    body=EmptyBody,
    signed_in=True,
    problems=REFUSALS,
    headers={**VERSION_HEADER, "Location": "The rematch"},
    parameters=[KEY_PARAMETER],
)
def propose_rematch(_: object, match_id: str) -> Response:
    """Propose or accept a rematch

    The same terms, everybody one seat on. Mutual proposals become one match.
    """
    person, before = require_person(), visible_match(match_id).state
    following, guest = rematch_id(match_id), person.kind == "guest"
    admit_match(following, before.seats, person)
    proposal = rematch(before, person.id, following, fresh_seed(), guest)
    asked, execute = idempotent_request(person), services().match_service.execute
    try:
        with match_places(proposal, person) as accepting:
            execute(following, replace(proposal, accepting=accepting), person.id, asked)
    except CommandError as refusal:
        if refusal.code != "match-exists":
            raise
        proposed = services().matches.load(following).state
        seat = proposed.seat_of(person.id)
        if seat is None or not proposed.seats[seat].joined:
            if proposed.ended:
                raise CommandError(
                    "match-over", "the rematch was called off: create a new match to play again"
                ) from None
            with services().bot_admission.joining_place(proposed, person):
                execute(following, JoinMatch(player=person.id, guest=guest), person.id, asked)
    state, head, *_ = services().matches.load(following)
    receipt = represent_receipt(services().receipts, following, head, state.updated_at)
    answer = with_receipt(represent_match(state, head), receipt)
    return json_response(answer, 201, {**etag(head), "Location": match_path(following)})
