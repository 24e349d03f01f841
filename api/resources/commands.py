"""Acting on matches: create, join, move, resign, call off, draws, taking back: all through ``MatchService.execute``."""

from typing import Any

import marshmallow as ma
from flask import Response
from marshmallow import fields, validate

from api.access.admission import admit_match, refuse_blocked
from api.access.auth import channel, require_person, signed_in
from api.access.matches import visible_match
from api.http import representations as show
from api.http.conditions import ANSWER_HEADERS, KEY_HEADER, fingerprint, request_key
from api.http.ids import match_id
from api.http.messages import LARGEST_NUMBER
from api.http.openapi import PREFIX, Blueprint, json_response
from api.http.problems import Problem
from api.http.schemas import Either, Empty, Flag, Strict, Text, Whole
from api.http.timing import SECOND
from api.operations.commands import REFUSALS, acting, execute, executed_headers
from api.resources.matches import MatchShown
from api.resources.terms import TermsWanted, terms_of
from api.services import services
from domain.match import commands as c
from domain.match.evolve import replay
from domain.match.moves import LONGEST_MOVE, MAX_MOVES_PER_SUBMISSION
from domain.match.state import Seat
from domain.match.terms import HOUR
from domain.match.timekeeping import LARGEST_GIFT
from domain.search.levels import LEVELS
from events.people.person import Person
from events.service.matches import fresh_seed
from events.store.codec import event_of
from events.store.contract import Request

blueprint = Blueprint("commands", __name__, url_prefix=PREFIX, description="Acting on matches")

MOST_SEATS = 8


class Me(Strict):
    kind = Text(required=True)


class Open(Me):
    pass


class Invited(Me):
    name = Text(required=True, validate=validate.Length(1, 60))


class Opponent(Me):
    level = Whole(required=True, validate=validate.OneOf(list(LEVELS), error=f"must be 1 to {max(LEVELS)}"))


SEAT_KINDS: dict[str, Strict] = {"me": Me(), "open": Open(), "player": Invited(), "opponent": Opponent()}


def _seat_schema(kind: str, **properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {"kind": {"type": "string", "enum": [kind]}, **properties},
        "required": ["kind", *properties],
        "additionalProperties": False,
    }


class SeatWanted(fields.Field):  # type: ignore[type-arg]
    """Who is to sit on a seat: an object whose kind says which other fields it has."""

    ONE_OF = (
        _seat_schema("me"),
        _seat_schema("open"),
        _seat_schema("player", name={"type": "string", "minLength": 1, "maxLength": 60}),
        _seat_schema("opponent", level={"type": "integer", "enum": list(LEVELS)}),
    )

    def _deserialize(self, value: Any, *_: Any, **__: Any) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise ma.ValidationError("must be an object")
        kind = value.get("kind")
        if not isinstance(kind, str) or kind not in SEAT_KINDS:
            raise ma.ValidationError({"kind": [f"must be one of {', '.join(SEAT_KINDS)}"]})
        loaded: dict[str, Any] = SEAT_KINDS[kind].load(value)
        return loaded


class NewMatch(Strict):
    game = Text(required=True, validate=validate.Length(1, 60))
    setup = Text(
        validate=validate.Length(1, 60), metadata={"description": "May be left out where the game has a single one"}
    )
    ruleset = Whole(
        validate=validate.Range(0, LARGEST_NUMBER),
        metadata={"description": "A version of the rules of the game; the one that the game names when left out"},
    )
    seats = fields.List(
        SeatWanted(metadata={"oneOf": list(SeatWanted.ONE_OF)}),
        required=True,
        validate=validate.Length(1, MOST_SEATS),
        metadata={"description": "One entry per seat of the setup, in turn order"},
    )
    rated = Flag(load_default=False)
    private = Flag(
        load_default=False,
        metadata={
            "description": "Only the players see the match. If it is rated, their public ratings change when it ends, "
            "from which others may conclude that they have met"
        },
    )
    terms = fields.Nested(TermsWanted, load_default=None, allow_none=False)


class Join(Strict):
    seat = Whole(validate=validate.Range(0, MOST_SEATS - 1, error=f"must be 0 to {MOST_SEATS - 1}"))


def _move(description: str) -> Text:
    return Text(
        validate=validate.Length(1, LONGEST_MOVE, error=f"must have 1 to {LONGEST_MOVE} characters"),
        metadata={"description": description},
    )


class Move(Either):
    EITHER = ("move", "moves")

    move = _move("In the notation of the game, canonical or an alias")
    moves = fields.List(
        _move("As in move"),
        validate=validate.Length(1, MAX_MOVES_PER_SUBMISSION, error=f"must have 1 to {MAX_MOVES_PER_SUBMISSION} moves"),
        metadata={
            "description": "All moves of a turn that takes several, such as an army that is set up: all are played, or "
            "none"
        },
    )
    offer_draw = Flag(load_default=False, metadata={"description": "Offer a draw with the (last) move"})


class Gift(Strict):
    seat = Whole(required=True, validate=validate.Range(0, MOST_SEATS - 1, error=f"must be 0 to {MOST_SEATS - 1}"))
    seconds = Whole(
        required=True,
        validate=validate.Range(
            HOUR // SECOND, LARGEST_GIFT // SECOND, error=f"must be {HOUR // SECOND} to {LARGEST_GIFT // SECOND}"
        ),
        metadata={"description": "What the seat gets, beyond what its terms would let it save"},
    )


@blueprint.route("/matches", methods=["POST"])
@blueprint.documents(
    201,
    MatchShown,
    signed_in=True,
    problems=REFUSALS,
    headers={**ANSWER_HEADERS, "Location": "The match"},
    parameters=[KEY_HEADER],
)
@signed_in
@blueprint.arguments(NewMatch)
def create_match(arguments: dict[str, Any]) -> Response:
    """Create a match; the seats are in turn order, and it starts when all are taken"""
    person = require_person()
    key, seats = request_key(), _seats(arguments["seats"], person)
    # The id is made from the key, so that a repeated request meets the stream that the first one began.
    match = match_id(person, key)
    admit_match(match, seats, person)
    command = c.CreateMatch(
        match=match,
        creator=person.id,
        game=arguments["game"],
        setup=arguments.get("setup"),
        seats=seats,
        rated=arguments["rated"],
        private=arguments["private"],
        seed=fresh_seed(),
        guest=person.kind == "guest",
        ruleset=arguments.get("ruleset"),
        terms=terms_of(arguments["terms"], arguments["rated"]),
    )
    executed = services().match_service.execute(match, command, person.id, Request(f"{person.id}:{key}", fingerprint()))
    # As it was created, whatever has happened since: a repeated request gets the first answer.
    created = replay(match, map(event_of, executed.events))
    assert created is not None  # noqa: S101  (its first event is the creation)
    response = json_response(
        show.match(created, executed.head, now=created.updated_at), 201, executed_headers(executed)
    )
    response.headers["Location"] = f"{PREFIX}/matches/{match}"
    return response


@acting(blueprint, "moves", Move)
def submit_move(arguments: dict[str, Any], match: str) -> Response:
    """Play a move, or all moves of a turn that takes several, and offer a draw with it if wanted"""
    player, offer_draw = require_person().id, arguments["offer_draw"]
    if "moves" in arguments:
        moves = tuple(arguments["moves"])
        return execute(match, c.SubmitMoves(player=player, moves=moves, channel=channel(), offer_draw=offer_draw))
    return execute(match, c.SubmitMove(player=player, move=arguments["move"], channel=channel(), offer_draw=offer_draw))


@acting(blueprint, "joins", Join)
def join(arguments: dict[str, int], match: str) -> Response:
    """Take a free seat, or accept an invitation"""
    person = require_person()
    state = visible_match(match).state
    refuse_blocked(person, (*state.seats, Seat.taken(state.creator)))
    return execute(match, c.JoinMatch(player=person.id, seat=arguments.get("seat"), guest=person.kind == "guest"))


@acting(blueprint, "time-gifts", Gift)
def give_time(arguments: dict[str, int], match: str) -> Response:
    """Give another seat more time"""
    return execute(
        match, c.GiveTime(player=require_person().id, seat=arguments["seat"], time=arguments["seconds"] * SECOND)
    )


def _plain(name: str, summary: str, command: Any) -> None:
    def view(_: dict[str, Any], match: str) -> Response:
        return execute(match, command(player=require_person().id))

    view.__name__ = name.replace("-", "_")
    view.__doc__ = summary
    acting(blueprint, name, Empty)(view)


_plain("resignation", "Give the game up", c.Resign)
_plain("abortion", "Call the match off before its second ply, or decline an invitation", c.AbortMatch)
_plain("draw-offers", "Propose a draw", c.OfferDraw)
_plain("draw-acceptance", "Agree to the draw on offer", c.AcceptDraw)
_plain("draw-refusal", "Turn the draw on offer down", c.DeclineDraw)
_plain("takeback-requests", "Ask to take your last move, and all since, back", c.RequestTakeback)
_plain("takeback-acceptance", "Agree to taking moves back", c.AcceptTakeback)
_plain("takeback-refusal", "Do not agree to taking moves back, or withdraw your own request", c.DeclineTakeback)
_plain("time-claims", "Claim that the time of the seat to move is up", c.CallTime)
_plain("forgiveness", "Let a match go on that you have just won on time", c.ForgiveFlag)


def _seats(wanted: list[dict[str, Any]], person: Person) -> tuple[Seat, ...]:
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
