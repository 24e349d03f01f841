"""Commands on a match that is played: join, move, resign, cancel, draws, taking back, time."""

from collections.abc import Mapping
from typing import Any

from flask import Blueprint, Response
from marshmallow import fields, validate

from api.access.admission import refuse_blocked
from api.access.auth import channel, require_person
from api.access.matches import visible_match
from api.addresses import PREFIX
from api.http.schemas import EmptyBody, ExactlyOne, StrictBoolean, StrictInteger, StrictSchema, StrictString
from api.operations.commands import MAX_SEATS, command_endpoint, execute
from api.operations.signed_acts import ActRequest, ActSignature, Signed, checked_signature
from api.representations.clocks import SECOND_MS
from api.services import services
from domain.match import commands as c
from domain.match.decisions.moves import MAX_MOVE_CHARACTERS, MAX_MOVES_PER_SUBMISSION
from domain.match.decisions.timekeeping import MAX_GIFT_MS
from domain.match.state import Seat
from domain.match.terms import HOUR
from events.proof.player_signatures import MOVE

blueprint = Blueprint("commands", __name__, url_prefix=PREFIX)

MIN_GIFT_S, MAX_GIFT_S = HOUR // SECOND_MS, MAX_GIFT_MS // SECOND_MS


def _seat(**options: Any) -> StrictInteger:
    return StrictInteger(validate=validate.Range(0, MAX_SEATS - 1, error=f"must be 0 to {MAX_SEATS - 1}"), **options)


def _move(description: str) -> StrictString:
    return StrictString(1, MAX_MOVE_CHARACTERS, about=description)


class JoinRequest(StrictSchema):
    seat = _seat()


class MoveRequest(ExactlyOne):
    FIELDS = ("move", "moves")

    move = _move("In the notation of the game, canonical or an alias")
    moves = fields.List(
        _move("As in move"),
        validate=validate.Length(1, MAX_MOVES_PER_SUBMISSION, error=f"must have 1 to {MAX_MOVES_PER_SUBMISSION} moves"),
        metadata={
            "description": "All moves of a turn that takes several, such as an army that is set up: all are played, or "
            "none"
        },
    )
    offer_draw = StrictBoolean(load_default=False, about="Offer a draw with the (last) move")
    signed = fields.Nested(
        ActSignature,
        metadata={"description": "One signature of the caller's own key under the moves in canonical form, if wanted"},
    )


class GiftRequest(StrictSchema):
    seat = _seat(required=True)
    seconds = StrictInteger(
        MIN_GIFT_S, MAX_GIFT_S, required=True, about="What the seat gets, beyond what its terms would let it save"
    )


@blueprint.post("/matches/<match_id>/moves")
@command_endpoint(MoveRequest)
def submit_move(sent: Mapping[str, Any], match_id: str) -> Response:
    """Submit a move

    Or all moves of a turn that takes several, all or none. `offer_draw` adds a draw offer, `signed` a signature by
    a key of the caller. With an Idempotency-Key a repeated request acts once.
    """
    player, offer_draw = require_person().id, sent["offer_draw"]
    moves = tuple(sent.get("moves", ())) or (sent["move"],)
    signed, version = checked_signature(sent["signed"], match_id, MOVE, moves) if "signed" in sent else Signed()
    command = (
        c.SubmitMoves(player=player, moves=moves, channel=channel(), offer_draw=offer_draw, signed=signed)
        if "moves" in sent
        else c.SubmitMove(player=player, move=moves[0], channel=channel(), offer_draw=offer_draw, signed=signed)
    )
    return execute(match_id, command, expected=version)


@blueprint.post("/matches/<match_id>/joins")
@command_endpoint(JoinRequest)
def join(sent: Mapping[str, int], match_id: str) -> Response:
    """Take a seat

    A free one of an open match, or the one that the caller is invited to. The match starts when all seats are
    taken.
    """
    person, state = require_person(), visible_match(match_id).state
    refuse_blocked(person, (*state.seats, Seat.taken(state.creator)))
    with services().bot_admission.joining_place(state, person):
        return execute(match_id, c.JoinMatch(player=person.id, seat=sent.get("seat"), guest=person.kind == "guest"))


@blueprint.post("/matches/<match_id>/time-gifts")
@command_endpoint(GiftRequest)
def give_time(sent: Mapping[str, int], match_id: str) -> Response:
    """Give another seat more time

    The seconds are added to its clock. They cannot be taken back.
    """
    command = c.GiveTime(player=require_person().id, seat=sent["seat"], time=sent["seconds"] * SECOND_MS)
    return execute(match_id, command)


@blueprint.post("/matches/<match_id>/resignation")
@command_endpoint(ActRequest)
def resign(sent: Mapping[str, Any], match_id: str) -> Response:
    """Resign

    The seat loses. With two seats the match is over.
    """
    signed, version = checked_signature(sent.get("signed"), match_id, "player-resigned")
    return execute(match_id, c.Resign(player=require_person().id, signed=signed), expected=version)


@blueprint.post("/matches/<match_id>/abortion")
@command_endpoint(EmptyBody)
def abort(_: object, match_id: str) -> Response:
    """Cancel a match or decline an invitation

    Possible before the second ply. The match ends without a result.
    """
    return execute(match_id, c.AbortMatch(player=require_person().id))


@blueprint.post("/matches/<match_id>/draw-offers")
@command_endpoint(ActRequest)
def offer_draw(sent: Mapping[str, Any], match_id: str) -> Response:
    """Offer a draw

    The match is drawn when all other seats agree. An offer lapses when it is declined, or when a seat
    that has not agreed moves.
    """
    signed, version = checked_signature(sent.get("signed"), match_id, "draw-offered")
    return execute(match_id, c.OfferDraw(player=require_person().id, signed=signed), expected=version)


@blueprint.post("/matches/<match_id>/draw-acceptance")
@command_endpoint(ActRequest)
def accept_draw(sent: Mapping[str, Any], match_id: str) -> Response:
    """Accept a draw offer

    The match is drawn when all seats have agreed.
    """
    signed, version = checked_signature(sent.get("signed"), match_id, "draw-accepted")
    return execute(match_id, c.AcceptDraw(player=require_person().id, signed=signed), expected=version)


@blueprint.post("/matches/<match_id>/draw-refusal")
@command_endpoint(EmptyBody)
def decline_draw(_: object, match_id: str) -> Response:
    """Decline a draw offer

    The offer is gone for everybody.
    """
    return execute(match_id, c.DeclineDraw(player=require_person().id))


@blueprint.post("/matches/<match_id>/takeback-requests")
@command_endpoint(EmptyBody)
def request_takeback(_: object, match_id: str) -> Response:
    """Ask for a takeback

    Asks to take back the caller's last move and all moves since. All other players have to agree.
    """
    return execute(match_id, c.RequestTakeback(player=require_person().id))


@blueprint.post("/matches/<match_id>/takeback-acceptance")
@command_endpoint(EmptyBody)
def accept_takeback(_: object, match_id: str) -> Response:
    """Accept a takeback

    The moves are taken back when all other players have agreed.
    """
    return execute(match_id, c.AcceptTakeback(player=require_person().id))


@blueprint.post("/matches/<match_id>/takeback-refusal")
@command_endpoint(EmptyBody)
def decline_takeback(_: object, match_id: str) -> Response:
    """Decline a takeback

    Or withdraw the caller's own request.
    """
    return execute(match_id, c.DeclineTakeback(player=require_person().id))


@blueprint.post("/matches/<match_id>/time-claims")
@command_endpoint(EmptyBody)
def claim_time(_: object, match_id: str) -> Response:
    """Claim a flag

    Claims that the time of the seat to move is up. Flags also fall without a claim, a little later.
    """
    return execute(match_id, c.CallTime(player=require_person().id))


@blueprint.post("/matches/<match_id>/forgiveness")
@command_endpoint(EmptyBody)
def forgive_flag(_: object, match_id: str) -> Response:
    """Continue a match won on time

    Within 72 hours of the flag the winner may let the match go on.
    """
    return execute(match_id, c.ForgiveFlag(player=require_person().id))
