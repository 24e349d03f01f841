"""Creating a match: its seats and its terms, or a rematch."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from flask import Blueprint, Response
from marshmallow import fields, validate

from api.access.admission import admit_match, match_places
from api.access.auth import require_person
from api.access.matches import visible_match
from api.addresses import PREFIX, match_id_for, rematch_id
from api.endpoints import endpoint
from api.http.answers import json_response
from api.http.conditions import COMMAND_HEADERS, KEY_PARAMETER, VERSION_HEADER, etag, idempotent_request, request_key
from api.http.problems import Problem
from api.http.schemas import MAX_NUMBER, EmptyBody, KindField, StrictBoolean, StrictInteger, StrictSchema, StrictString
from api.operations.commands import MAX_SEATS, REFUSALS, executed_headers
from api.operations.terms_request import TermsRequest, terms_of
from api.representations.matches import MatchWithReceipt, represent_match, represent_receipt, with_receipt
from api.services import services
from domain.match.commands import CreateMatch, JoinMatch
from domain.match.decisions.creation import rematch
from domain.match.evolve import replay
from domain.match.refusals import CommandError
from domain.match.state import Seat
from domain.search.choose import LEVELS
from events.matches.matches import fresh_seed
from events.people.person import Person
from events.store.codec import event_of

blueprint = Blueprint("new_matches", __name__, url_prefix=PREFIX)


def _kind(kind: str) -> StrictString:
    return StrictString(required=True, validate=validate.OneOf([kind]))


class OwnSeat(StrictSchema):
    kind = _kind("me")


class OpenSeat(StrictSchema):
    kind = _kind("open")


class InvitedSeat(StrictSchema):
    kind = _kind("player")
    name = StrictString(1, 60, required=True)


class OpponentSeat(StrictSchema):
    kind = _kind("opponent")
    level = StrictInteger(required=True, validate=validate.OneOf(list(LEVELS), error=f"must be 1 to {max(LEVELS)}"))


SEAT_KINDS = {"me": OwnSeat(), "open": OpenSeat(), "player": InvitedSeat(), "opponent": OpponentSeat()}


class MatchRequest(StrictSchema):
    game = StrictString(1, 60, required=True)
    setup = StrictString(1, 60, about="May be left out where the game has a single one")
    ruleset = StrictInteger(
        0, MAX_NUMBER, about="A version of the rules of the game; the one that the game names when left out"
    )
    seats = fields.List(
        KindField(SEAT_KINDS),
        required=True,
        validate=validate.Length(1, MAX_SEATS),
        metadata={"description": "One entry per seat of the setup, in turn order"},
    )
    rated = StrictBoolean(load_default=False)
    private = StrictBoolean(
        load_default=False,
        about="Only the players see the match. If it is rated, their public ratings change when it ends, "
        "from which others may conclude that they have met",
    )
    terms = fields.Nested(TermsRequest, load_default=None, allow_none=False)


@blueprint.post("/matches")
@endpoint(
    201,
    answer=MatchWithReceipt,
    body=MatchRequest,
    signed_in=True,
    problems=REFUSALS,
    headers={**COMMAND_HEADERS, "Location": "The match"},
    parameters=[KEY_PARAMETER],
)
def create_match(wanted: Mapping[str, Any]) -> Response:
    """Create a match

    The seats are in turn order, and the match starts when all are taken. Invited players are notified.
    """
    person = require_person()
    # The id is made from the key, so that a repeated request meets the stream that the first one began.
    match_id = match_id_for(person, request_key())
    seats = _seats(wanted["seats"], person)
    admit_match(match_id, seats, person)
    command = CreateMatch(
        match=match_id,
        creator=person.id,
        game=wanted["game"],
        setup=wanted.get("setup"),
        seats=seats,
        rated=wanted["rated"],
        private=wanted["private"],
        seed=fresh_seed(),
        guest=person.kind == "guest",
        ruleset=wanted.get("ruleset"),
        terms=terms_of(wanted["terms"], rated=wanted["rated"]),
    )
    with match_places(command, person) as accepting:
        command = replace(command, accepting=accepting)
        executed = services().match_service.execute(match_id, command, person.id, idempotent_request(person))
    # As it was created, whatever has happened since: a repeated request gets the first answer.
    created = replay(match_id, map(event_of, executed.events))
    assert created is not None  # noqa: S101  (its first event is the creation)
    match = represent_match(created, executed.head, now=created.updated_at)
    answer = with_receipt(match, represent_receipt(services().receipts, match_id, executed.head, executed.at))
    return json_response(answer, 201, {**executed_headers(executed), "Location": f"{PREFIX}/matches/{match_id}"})


def _seats(wanted: Sequence[Mapping[str, Any]], person: Person) -> tuple[Seat, ...]:
    seats, errors = [], {}
    for number, seat in enumerate(wanted):
        if seat["kind"] == "me":
            seats.append(Seat.taken(person.id))
        elif seat["kind"] == "open":
            seats.append(Seat.open())
        elif seat["kind"] == "opponent":
            seats.append(Seat.opponent(seat["level"]))
        elif (invited := services().people.find(seat["name"])) is None:
            errors[f"seats.{number}.name"] = ["nobody has this name"]
        else:
            seats.append(Seat.invited(invited.id))
    if errors:
        raise Problem("unknown-player", "Nobody has the name of a player you invite.", errors)
    return tuple(seats)


rematches = Blueprint("rematches", __name__, url_prefix=PREFIX)


@rematches.post("/matches/<match_id>/rematches")
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

    The same terms in other seats: each seat once in as many matches. Mutual proposals become one match.
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
                    "match-over", "the rematch was cancelled: create a new match to play again"
                ) from None
            with services().bot_admission.joining_place(proposed, person):
                execute(following, JoinMatch(player=person.id, guest=guest), person.id, asked)
    state, head, *_ = services().matches.load(following)
    receipt = represent_receipt(services().receipts, following, head, state.updated_at)
    answer = with_receipt(represent_match(state, head), receipt)
    return json_response(answer, 201, {**etag(head), "Location": f"{PREFIX}/matches/{following}"})
