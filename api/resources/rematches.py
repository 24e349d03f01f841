"""Playing again: both players' proposals meet in one match, because its id is made from the match before it."""

from typing import Any

from flask import Response

from api.access.admission import admit_match
from api.access.auth import require_person, signed_in
from api.access.matches import visible_match
from api.http import representations as show
from api.http.conditions import KEY_HEADER, VERSION_HEADER, fingerprint, request_key
from api.http.ids import rematch_id
from api.http.openapi import PREFIX, Blueprint, json_response
from api.http.schemas import Empty
from api.operations.commands import REFUSALS
from api.resources.matches import MatchShown
from api.services import services
from domain.match.commands import JoinMatch
from domain.match.refusals import Refused
from domain.match.rematch import rematch
from events.service.matches import fresh_seed
from events.store.contract import Request

blueprint = Blueprint("rematches", __name__, url_prefix=PREFIX, description="Playing again")


@blueprint.route("/matches/<match>/rematches", methods=["POST"])
@blueprint.documents(
    201,
    MatchShown,
    signed_in=True,
    problems=REFUSALS,
    headers={**VERSION_HEADER, "Location": "The rematch"},
    parameters=[KEY_HEADER],
)
@signed_in
@blueprint.arguments(Empty)
def propose_rematch(_: dict[str, Any], match: str) -> Response:
    """Propose a rematch, or accept the one that is proposed: the same terms, everybody one seat on"""
    person, over = require_person(), visible_match(match).state
    following, guest = rematch_id(match), person.kind == "guest"
    admit_match(following, over.seats, person)
    proposal = rematch(over, person.id, following, fresh_seed(), guest)
    asked = Request(f"{person.id}:{request_key()}", fingerprint())
    execute = services().match_service.execute
    try:
        execute(following, proposal, person.id, asked)
    except Refused as refused:
        if refused.code != "match-exists":
            raise
        proposed = services().matches.load(following).state
        seat = proposed.seat_of(person.id)
        if seat is None or not proposed.seats[seat].joined:
            if proposed.ended:
                raise Refused("match-over", "the rematch was called off: create a new match to play again") from None
            execute(following, JoinMatch(player=person.id, guest=guest), person.id, asked)
    created = services().matches.load(following)
    response = json_response(show.match(created.state, created.head), 201, {"ETag": f'"{created.head.tag}"'})
    response.headers["Location"] = f"{PREFIX}/matches/{following}"
    return response
