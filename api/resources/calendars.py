"""The caller's availability: time zone, free days, preferences and vacations. Changes reach all their matches."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from flask import Blueprint
from marshmallow import fields, validate
from msgspec import Meta

from api.access.auth import require_person
from api.access.limits import spend
from api.addresses import PREFIX
from api.endpoints import endpoint
from api.http.answers import Answer, Instant
from api.http.schemas import InstantField, StrictBoolean, StrictInteger, StrictSchema, StrictString, read_instant
from api.representations.clocks import SECOND_MS
from api.services import services
from domain.match import vacation
from domain.match.calendar import MAX_FREE_DAYS
from domain.match.due import Availability
from domain.match.refusals import CommandError
from domain.match.vacation import year_of
from events.people.availability import Change, refuse_early_change, with_calendar

blueprint = Blueprint("calendars", __name__, url_prefix=PREFIX)


class CalendarRequest(StrictSchema):
    time_zone = StrictString(1, 60, required=True, about="An IANA name, such as Europe/Berlin")
    free_days = fields.List(
        StrictInteger(validate=validate.Range(0, 6, error="must be 0 (Monday) to 6 (Sunday)")),
        required=True,
        validate=validate.Length(0, MAX_FREE_DAYS, error=f"must be at most {MAX_FREE_DAYS} days"),
        metadata={
            "description": "Days of the week, 0 is Monday, on which your clocks stand still",
            "uniqueItems": True,
        },
    )
    auto_vacation = StrictBoolean(
        required=True, about="Take a day of vacation where a flag of yours would fall, as long as one is left"
    )
    plays_forced = StrictBoolean(required=True, about="Play your only legal move for you, in all matches that allow it")


class Calendar(Answer):
    time_zone: str
    free_days: Sequence[int]
    auto_vacation: bool
    plays_forced: bool


class VacationRequest(StrictSchema):
    since = InstantField(about="Now if left out")
    until = InstantField(required=True)


class Vacation(Answer):
    since: Instant
    until: Instant
    automatic: Annotated[bool, Meta(description="Taken because a flag would have fallen")]


class VacationList(Answer):
    items: Annotated[Sequence[Vacation], Meta(description="All of them, in the order of time")]
    left: Annotated[int, Meta(description="Seconds that are left for vacations that begin in this year")]
    year: int


@blueprint.get("/me/calendar")
@endpoint(answer=Calendar, signed_in=True)
def show_calendar() -> Calendar:
    """Show the caller's calendar

    Time zone, free days of the week, automatic vacation and forced moves.
    """
    return _represent_calendar(_availability())


@blueprint.put("/me/calendar")
@endpoint(answer=Calendar, body=CalendarRequest, signed_in=True)
def set_calendar(sent: Mapping[str, Any]) -> Calendar:
    """Set the caller's calendar

    Free days change once in 7 days, from now on. All matches of the caller follow.
    """
    now = services().now()

    def change(availability: Availability) -> Availability:
        after = with_calendar(availability, sent["time_zone"], sent["free_days"], now)
        refuse_early_change(availability, after, now)
        return after._replace(auto_vacation=sent["auto_vacation"], plays_forced=sent["plays_forced"])

    return _represent_calendar(_change(change, now))


@blueprint.get("/me/vacations")
@endpoint(answer=VacationList, signed_in=True)
def list_vacations() -> VacationList:
    """List the caller's vacations

    Past ones too, and the time that is left for vacations this year.
    """
    return _represent_vacations(_availability(), services().now())


@blueprint.post("/me/vacations")
@endpoint(201, answer=VacationList, body=VacationRequest, signed_in=True, problems=[409])
def take_vacation(sent: Mapping[str, int]) -> VacationList:
    """Take a vacation

    Now or later. The caller's clocks stand still then in all matches whose terms allow it.
    """
    now = services().now()
    since, until = sent.get("since", now), sent["until"]

    def change(availability: Availability) -> Availability:
        if any((taken.since, taken.until) == (since, until) for taken in availability.book):
            return availability  # a repeated request
        return availability._replace(book=vacation.booked(availability.book, since, until, now))

    return _represent_vacations(_change(change, now), now)


@blueprint.delete("/me/vacations/current")
@endpoint(204, signed_in=True, problems=[404])
def end_vacation() -> None:
    """End the current vacation

    The rest of it remains available.
    """
    now = services().now()
    _change(lambda own: own._replace(book=vacation.ended(own.book, now)), now)


@blueprint.delete("/me/vacations/<since>")
@endpoint(204, signed_in=True, problems=[404])
def cancel_vacation(since: str) -> None:
    """Cancel a future vacation

    It is named by the instant at which it would begin.
    """
    now, begin = services().now(), read_instant(since)
    if begin is None:
        raise CommandError("no-vacation", "a vacation is named by the instant at which it begins, as it is listed")
    _change(lambda own: own._replace(book=vacation.cancelled(own.book, begin, now)), now)


def _availability() -> Availability:
    player = require_person().id
    return services().availability.read([player])[player]


def _change(change: Change, now: int) -> Availability:
    """Change the caller's availability as often as the limit allows: all matches follow each change."""
    player = require_person().id
    spend("calendars", player)
    return services().timekeeper.change(player, change, now)


def _represent_calendar(availability: Availability) -> Calendar:
    return Calendar.of(availability, time_zone=availability.zone)


def _represent_vacations(availability: Availability, now: int) -> VacationList:
    year = year_of(now)
    return VacationList(
        items=list(map(Vacation.of, availability.book)),
        left=vacation.left(availability.book, year) // SECOND_MS,
        year=year,
    )
