"""The terms of a tournament as requests name them, with the defaults for all that is left out."""

from collections.abc import Mapping
from typing import Any

from marshmallow import fields, validate

from api.http.schemas import EnumField, InstantField, StrictBoolean, StrictInteger, StrictSchema, StrictString
from api.operations.terms_request import TermsRequest, terms_of
from domain.contest.entry import RATING_MARGIN
from domain.contest.points import PointsRule
from domain.contest.schedules import MAX_SHIFTED, Form
from domain.contest.standings import STANDARD_TIE_BREAKS, TieBreak
from domain.contest.tournament.terms import (
    MAX_AT_ONCE,
    MAX_FINISHED,
    MAX_REPEAT_WEEKS,
    MAX_TITLE,
    MIN_REPEAT_WEEKS,
    DropOut,
    EntryTerms,
    StartRule,
    TournamentTerms,
)
from domain.contest.wishes import MAX_RATING


def _rating(about: str) -> StrictInteger:
    return StrictInteger(0, MAX_RATING, load_default=None, allow_none=True, about=about)


class EntryRequest(StrictSchema):
    rating_from = _rating("Who enters had a rating of certainly this or more within the last year")
    rating_to = _rating(
        f"Nobody enters whose rating was certainly more than {RATING_MARGIN} above within the last year"
    )
    finished = StrictInteger(0, MAX_FINISHED, load_default=0, about="Matches that must be finished")
    flags = StrictInteger(
        0,
        MAX_FINISHED,
        load_default=None,
        allow_none=True,
        about="Matches that may have been lost on time in the last 90 days; null: any number",
    )
    bots = StrictBoolean(load_default=False, about="Whether bots may enter, within what they take on")


class TournamentRequest(StrictSchema):
    title = StrictString(3, MAX_TITLE, required=True)
    game = StrictString(1, 60, required=True)
    setup = StrictString(1, 60, required=True)
    form = EnumField(Form, required=True)
    terms = fields.Nested(TermsRequest, load_default=None, allow_none=False)
    rated = StrictBoolean(load_default=True)
    private = StrictBoolean(load_default=False, about="Only its players see a match; tables are public")
    least = StrictInteger(3, MAX_SHIFTED, required=True, about="With fewer people the start is put off once")
    most = StrictInteger(3, MAX_SHIFTED, required=True)
    starts_at = InstantField(required=True)
    latest_end = InstantField(required=True, about="After it no match starts")
    start = EnumField(StartRule, load_default=StartRule.AT_TIME)
    drop_out = EnumField(
        DropOut,
        load_default=None,
        allow_none=True,
        about="Whether results of those who leave early count for the table; null: early-struck",
    )
    at_once = StrictInteger(1, MAX_AT_ONCE, load_default=4, about="Matches of it that a person plays at once, at most")
    points = EnumField(PointsRule, load_default=PointsRule.PLACES)
    tie_breaks = fields.List(
        EnumField(TieBreak),
        load_default=STANDARD_TIE_BREAKS,
        validate=validate.Length(0, len(TieBreak)),
        metadata={"description": "In the order in which they are asked"},
    )
    entry = fields.Nested(EntryRequest, load_default=None, allow_none=False)
    repeat_weeks = StrictInteger(
        MIN_REPEAT_WEEKS,
        MAX_REPEAT_WEEKS,
        load_default=None,
        allow_none=True,
        about="Weeks until the next tournament of the series, announced when this one starts; null: none",
    )


def terms_of_tournament(wanted: Mapping[str, Any]) -> TournamentTerms:
    """Return the terms that are asked for, as ``TournamentRequest`` reads them; they are not checked yet."""
    others = {name: value for name, value in wanted.items() if name not in ("terms", "entry", "tie_breaks")}
    return TournamentTerms(
        **others,
        clock=terms_of(wanted["terms"], rated=wanted["rated"]),
        entry=EntryTerms(**wanted["entry"] or {}),
        tie_breaks=tuple(wanted["tie_breaks"]),
    )
