"""The terms of matches: those to choose from, as they are asked for, and as they and their clocks are shown."""

from dataclasses import replace
from typing import Any

from flask import Response
from marshmallow import fields, validate

from api.http import timing
from api.http.openapi import PREFIX, Blueprint, json_response
from api.http.schemas import Flag, Shown, Strict, Text, Whole
from api.http.timing import SECOND
from domain.match.enums import Control, FlagRule, Limit, PauseReason
from domain.match.terms import (
    LONGEST,
    LONGEST_INCREMENT,
    PRESETS,
    SHORTEST,
    STANDARD,
    Terms,
    duration,
)

blueprint = Blueprint("terms", __name__, url_prefix=PREFIX, description="Terms of matches")

DURATIONS = ("bank", "increment", "cap", "ceiling", "first_move")


def _seconds(least: int, most: int, description: str, **options: Any) -> Whole:
    said = f"must be {least // SECOND} to {most // SECOND} seconds ({duration(least)} to {duration(most)})"
    return Whole(
        validate=validate.Range(least // SECOND, most // SECOND, error=said),
        metadata={"description": f"Seconds. {description}"},
        **options,
    )


class TermsWanted(Strict):
    control = Text(required=True, validate=validate.OneOf(list(Control)))
    bank = _seconds(SHORTEST, LONGEST, "The time at the start, or for every move", required=True)
    increment = _seconds(0, LONGEST_INCREMENT, "Added after every move; 1 day if not said. Not with days-per-move")
    cap = _seconds(SHORTEST, LONGEST, "What can be saved up; 20 days, or the bank, if not said. Not with days-per-move")
    ceiling = _seconds(
        SHORTEST, LONGEST, "The longest that one move may take; null: as long as there is time", allow_none=True
    )
    first_move = _seconds(SHORTEST, LONGEST, "Within which each first move must come; 7 days if not said")
    flag = Text(validate=validate.OneOf(list(FlagRule)), metadata={"description": "Whether a flag falls by itself"})
    vacations = Flag(metadata={"description": "Whether vacation stops a clock"})
    weekends = Flag(metadata={"description": "Whether free days of the week stop a clock"})
    takebacks = Flag(metadata={"description": "Whether moves can be taken back; if not said, in unrated matches"})
    lines = Flag(metadata={"description": "Whether conditional lines and forced moves are allowed"})


class TermsShown(Shown):
    control = fields.String(validate=validate.OneOf(list(Control)))
    bank = fields.Integer(metadata={"description": "Seconds"})
    increment = fields.Integer(metadata={"description": "Seconds"})
    cap = fields.Integer(metadata={"description": "Seconds"})
    ceiling = fields.Integer(allow_none=True, metadata={"description": "Seconds"})
    first_move = fields.Integer(metadata={"description": "Seconds"})
    flag = fields.String(validate=validate.OneOf(list(FlagRule)))
    vacations = fields.Boolean()
    weekends = fields.Boolean()
    takebacks = fields.Boolean()
    lines = fields.Boolean()
    words = fields.List(fields.String(), metadata={"description": "All of it as sentences"})


class PausedShown(Shown):
    reason = fields.String(validate=validate.OneOf(list(PauseReason)))
    until = fields.DateTime(allow_none=True, metadata={"description": "null: nobody knows yet"})


class AnnouncedShown(PausedShown):
    since = fields.DateTime()


class SeatClockShown(Shown):
    seat = fields.Integer()
    left = fields.Integer(metadata={"description": "Seconds that are left at as_of"})
    running = fields.Boolean()
    paused = fields.List(fields.Nested(PausedShown), metadata={"description": "What stops this clock at as_of"})
    announced = fields.List(fields.Nested(AnnouncedShown), metadata={"description": "What will stop it later"})
    on_vacation = fields.Boolean()


class ForecastShown(Shown):
    seat = fields.Integer()
    at = fields.DateTime(
        allow_none=True, metadata={"description": "When its time is up; null: not before a pause ends"}
    )
    limit = fields.String(validate=validate.OneOf([Limit.TIME, Limit.CEILING, Limit.FIRST_MOVE]))
    verdict = fields.String(
        validate=validate.OneOf([timing.FLAG, timing.ABORT]),
        metadata={"description": "What follows: loss, or calling off"},
    )
    by_itself_at = fields.DateTime(
        allow_none=True, metadata={"description": "When that happens though nobody claims it; null: not as it stands"}
    )


class ClockShown(Shown):
    seats = fields.List(fields.Nested(SeatClockShown))
    forecast = fields.Nested(
        ForecastShown, allow_none=True, metadata={"description": "What happens unless somebody acts; null: nothing"}
    )
    words = fields.List(fields.String(), metadata={"description": "The clock that runs, as sentences"})
    as_of = fields.DateTime(metadata={"description": "The instant of this answer, at which all of this holds"})


class FallenShown(Shown):
    seat = fields.Integer()
    deadline = fields.DateTime(metadata={"description": "When the time was up"})
    at = fields.DateTime(metadata={"description": "When that was recorded"})
    forgivable_until = fields.DateTime(allow_none=True)


class PresetShown(Shown):
    title = fields.String()
    terms = fields.Nested(TermsShown)


class PresetsShown(Shown):
    items = fields.List(fields.Nested(PresetShown))


@blueprint.route("/terms")
@blueprint.documents(200, PresetsShown)
def list_terms() -> Response:
    """Terms to choose from; a new match takes these or any others, and the first when none are sent"""
    items = [{"title": title, "terms": timing.terms(terms)} for title, terms in PRESETS.items()]
    return json_response({"items": items})


def terms_of(wanted: dict[str, Any] | None, rated: bool) -> Terms:
    """Return the terms that are asked for, with what is not said filled in; None asks for nothing in particular."""
    if wanted is None:
        return replace(STANDARD, takebacks=not rated)
    said = {
        name: value * SECOND if name in DURATIONS and value is not None else value for name, value in wanted.items()
    }
    said["control"] = Control(said["control"])
    if "flag" in said:
        said["flag"] = FlagRule(said["flag"])
    bank = said["bank"]
    if said["control"] == Control.DAYS_PER_MOVE:
        usual = replace(STANDARD, increment=0, cap=bank)
    else:
        usual = replace(STANDARD, cap=max(STANDARD.cap, bank))
    return replace(usual, **{"takebacks": not rated, **said})
