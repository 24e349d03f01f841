"""A player's own time: zone, free days, preferences and vacations. What changes reaches all matches of the player."""

from typing import Any

from flask import Response
from marshmallow import fields, validate

from api.access.auth import require_person, signed_in
from api.access.limits import spend
from api.http.openapi import PREFIX, Blueprint, json_response
from api.http.schemas import Flag, Instant, Shown, Strict, Text, Whole, read_instant
from api.http.timing import SECOND
from api.services import services
from domain.match import vacation
from domain.match.calendar import MOST_FREE_DAYS
from domain.match.refusals import Refused
from domain.match.vacation import year_of
from events.private.availability import Availability, Change, refuse_early_change, with_calendar
from events.runtime.wall_clock import rfc3339

blueprint = Blueprint("calendars", __name__, url_prefix=PREFIX, description="Your own time: calendar and vacations")

WRITTEN = (415, 422)


class CalendarWanted(Strict):
    zone = Text(
        required=True, validate=validate.Length(1, 60), metadata={"description": "An IANA name, such as Europe/Berlin"}
    )
    free_days = fields.List(
        Whole(validate=validate.Range(0, 6, error="must be 0 (Monday) to 6 (Sunday)")),
        required=True,
        validate=validate.Length(0, MOST_FREE_DAYS, error=f"must be at most {MOST_FREE_DAYS} days"),
        metadata={
            "description": "Days of the week, 0 is Monday, on which your clocks stand still",
            "uniqueItems": True,
        },
    )
    auto_vacation = Flag(
        required=True,
        metadata={"description": "Take a day of vacation where a flag of yours would fall, as long as one is left"},
    )
    plays_forced = Flag(
        required=True, metadata={"description": "Play your only legal move for you, in all matches that allow it"}
    )


class CalendarShown(Shown):
    zone = fields.String()
    free_days = fields.List(fields.Integer())
    auto_vacation = fields.Boolean()
    plays_forced = fields.Boolean()


class VacationWanted(Strict):
    since = Instant(metadata={"description": "Not sent: now"})
    until = Instant(required=True)


class VacationShown(Shown):
    since = fields.DateTime()
    until = fields.DateTime()
    automatic = fields.Boolean(metadata={"description": "Taken because a flag would have fallen"})


class VacationsShown(Shown):
    items = fields.List(fields.Nested(VacationShown), metadata={"description": "All of them, in the order of time"})
    left = fields.Integer(metadata={"description": "Seconds that are left for vacations that begin in this year"})
    year = fields.Integer()


@blueprint.route("/me/calendar")
@blueprint.documents(200, CalendarShown, signed_in=True)
@signed_in
def my_calendar() -> Response:
    """The time zone of the caller, the free days of the week, and what is done automatically"""
    return _calendar(_diary())


@blueprint.route("/me/calendar", methods=["PUT"])
@blueprint.documents(200, CalendarShown, signed_in=True, problems=WRITTEN)
@signed_in
@blueprint.arguments(CalendarWanted)
def set_my_calendar(arguments: dict[str, Any]) -> Response:
    """Set time zone, free days and what is done automatically; free days change once in 7 days, from now on"""
    now = services().now()

    def change(availability: Availability) -> Availability:
        after = with_calendar(availability, arguments["zone"], arguments["free_days"], now)
        refuse_early_change(availability, after, now)
        return after._replace(auto_vacation=arguments["auto_vacation"], plays_forced=arguments["plays_forced"])

    return _calendar(_changed(change, now))


@blueprint.route("/me/vacations")
@blueprint.documents(200, VacationsShown, signed_in=True)
@signed_in
def my_vacations() -> Response:
    """The vacations of the caller, past ones too, and what is left of them this year"""
    return _vacations(_diary(), services().now())


@blueprint.route("/me/vacations", methods=["POST"])
@blueprint.documents(201, VacationsShown, signed_in=True, problems=(409, *WRITTEN))
@signed_in
@blueprint.arguments(VacationWanted)
def take_vacation(arguments: dict[str, int]) -> Response:
    """Take a vacation, now or later; your clocks stand still then in all matches whose terms allow it"""
    now = services().now()
    since, until = arguments.get("since", now), arguments["until"]

    def change(availability: Availability) -> Availability:
        if any((each.since, each.until) == (since, until) for each in availability.book):
            return availability  # the same request again
        return availability._replace(book=vacation.booked(availability.book, since, until, now))

    return _vacations(_changed(change, now), now, 201)


@blueprint.route("/me/vacations/current", methods=["DELETE"])
@blueprint.documents(204, signed_in=True, problems=[404])
@signed_in
def come_back() -> Response:
    """Come back early from a vacation; what is left of it is kept for later"""
    now = services().now()
    _changed(lambda own: own._replace(book=vacation.ended(own.book, now)), now)
    return Response(status=204)


@blueprint.route("/me/vacations/<since>", methods=["DELETE"])
@blueprint.documents(204, signed_in=True, problems=[404])
@signed_in
def cancel_vacation(since: str) -> Response:
    """Cancel a vacation that lies ahead, named by the instant at which it would begin"""
    now, begin = services().now(), read_instant(since)
    if begin is None:
        raise Refused("no-vacation", "a vacation is named by the instant at which it begins, as it is listed")
    _changed(lambda own: own._replace(book=vacation.cancelled(own.book, begin, now)), now)
    return Response(status=204)


def _diary() -> Availability:
    player = require_person().id
    return services().availability.read([player])[player]


def _changed(change: Change, now: int) -> Availability:
    """Change the availability of the caller as often as the limit allows: all matches follow each change."""
    player = require_person().id
    spend("calendars", player)
    return services().timekeeper.change(player, change, now)


def _calendar(availability: Availability) -> Response:
    return json_response(
        {
            "zone": availability.zone,
            "free_days": list(availability.free_days),
            "auto_vacation": availability.auto_vacation,
            "plays_forced": availability.plays_forced,
        }
    )


def _vacations(availability: Availability, now: int, status: int = 200) -> Response:
    year = year_of(now)
    items = [
        {"since": rfc3339(each.since), "until": rfc3339(each.until), "automatic": each.automatic}
        for each in availability.book
    ]
    payload = {"items": items, "left": vacation.left(availability.book, year) // SECOND, "year": year}
    return json_response(payload, status)
