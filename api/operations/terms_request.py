"""The terms of matches as requests name them, with the defaults for all that is left out."""

from collections.abc import Mapping
from typing import Any

from marshmallow import validate

from api.http.schemas import EnumField, StrictBoolean, StrictInteger, StrictSchema
from api.representations.clocks import SECOND_MS
from domain.match.enums import Aids, Control, FlagRule
from domain.match.terms import DURATIONS, MAX_INCREMENT_MS, MAX_TIME_MS, MIN_TIME_MS, STANDARD, Terms, duration


def _seconds(minimum: int, maximum: int, description: str, **options: Any) -> StrictInteger:
    seconds = f"must be {minimum // SECOND_MS} to {maximum // SECOND_MS} seconds"
    return StrictInteger(
        validate=validate.Range(
            minimum // SECOND_MS, maximum // SECOND_MS, error=f"{seconds} ({duration(minimum)} to {duration(maximum)})"
        ),
        **options,
        about=f"Seconds. {description}",
    )


class TermsRequest(StrictSchema):
    control = EnumField(Control, required=True)
    bank = _seconds(MIN_TIME_MS, MAX_TIME_MS, "The time at the start, or for every move", required=True)
    increment = _seconds(0, MAX_INCREMENT_MS, "Added after every move; default 1 day. Not with days-per-move")
    cap = _seconds(
        MIN_TIME_MS, MAX_TIME_MS, "What can be saved up; default 20 days, or the bank if longer. Not with days-per-move"
    )
    ceiling = _seconds(
        MIN_TIME_MS, MAX_TIME_MS, "The longest that one move may take; null: as long as there is time", allow_none=True
    )
    first_move = _seconds(MIN_TIME_MS, MAX_TIME_MS, "The time for each first move; default 7 days")
    flag = EnumField(FlagRule, about="Whether a flag falls by itself")
    vacations = StrictBoolean(about="Whether vacation stops a clock")
    weekends = StrictBoolean(about="Whether free days of the week stop a clock")
    takebacks = StrictBoolean(about="Whether moves can be taken back; by default in unrated matches")
    lines = StrictBoolean(about="Whether conditional lines and forced moves are allowed")
    aids = EnumField(Aids, allow_none=True, about="What players may use to choose moves; null: nothing is agreed")


def terms_of(wanted: Mapping[str, Any] | None, *, rated: bool) -> Terms:
    """Return the terms that are asked for, with defaults for all that is left out; None leaves out everything."""
    if wanted is None:
        return STANDARD._replace(takebacks=not rated)
    chosen = {
        name: value * SECOND_MS if name in DURATIONS and value is not None else value for name, value in wanted.items()
    }
    bank = chosen["bank"]
    if chosen["control"] == Control.DAYS_PER_MOVE:
        defaults = STANDARD._replace(increment=0, cap=bank)
    else:
        defaults = STANDARD._replace(cap=max(STANDARD.cap, bank))
    return defaults._replace(**{"takebacks": not rated, **chosen})
