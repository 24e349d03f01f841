"""A match to read: at any ply, its legal moves and its events."""

from collections.abc import Mapping
from typing import Any

from flask import Response
from marshmallow import fields, validate

from api.access.matches import visible_match
from api.http import representations as show
from api.http.conditions import CONDITION, VERSION_HEADER, versioned
from api.http.messages import LARGEST_NUMBER
from api.http.openapi import PREFIX, Blueprint, json_response
from api.http.problems import Problem
from api.http.schemas import (
    TAG_PATTERN,
    TAG_WORDS,
    PlayerShown,
    QueryNumber,
    Shown,
    Strict,
    Text,
    page_limit,
    pattern,
    version_tag,
)
from api.resources.games import ScoresShown
from api.resources.terms import ClockShown, FallenShown, TermsShown
from api.services import services
from domain.games import find_ruleset
from domain.match.enums import Status
from domain.match.state import MatchState
from domain.presentation import Draft, Hint
from events.store.contract import Head, VersionTag, tag_of

blueprint = Blueprint("matches", __name__, url_prefix=PREFIX, description="One match to read")


class GameNamed(Shown):
    id = fields.String()
    title = fields.String()
    ruleset = fields.Integer()


class SeatShown(Shown):
    seat = fields.Integer()
    name = fields.String()
    state = fields.String(validate=validate.OneOf(["open", "invited", "taken"]))
    player = fields.Nested(PlayerShown, allow_none=True)


class MatchSummaryShown(Shown):
    id = fields.String()
    version = fields.Integer()
    game = fields.Nested(GameNamed)
    setup = fields.String()
    rated = fields.Boolean()
    private = fields.Boolean()
    status = fields.String(validate=validate.OneOf(["open", "playing", "finished", "aborted"]))
    creator = fields.Nested(PlayerShown)
    seats = fields.List(fields.Nested(SeatShown))
    to_move = fields.Integer(allow_none=True)
    ply = fields.Integer()
    draw_agreed = fields.List(fields.Integer(), metadata={"description": "Seats that agree to the draw on offer"})
    result = fields.Nested(ScoresShown, allow_none=True)
    annulled = fields.Boolean(metadata={"description": "Whether an arbiter has ruled that it counts for nothing"})
    created_at = fields.DateTime()
    updated_at = fields.DateTime()
    deadline = fields.DateTime(
        allow_none=True,
        metadata={"description": "When the time of the one to move is up, or an open match is called off; null: never"},
    )
    terms = fields.Nested(
        TermsShown, allow_none=True, metadata={"description": "null: from before there were clocks, none runs"}
    )


class TakebackShown(Shown):
    seat = fields.Integer(metadata={"description": "Who asks"})
    ply = fields.Integer(metadata={"description": "The match would go on after so many plies"})
    agreed = fields.List(fields.Integer(), metadata={"description": "Seats that agree so far"})


class LossShown(Shown):
    found_at = fields.DateTime()
    after_version = fields.Integer(metadata={"description": "The last version that was left of the match"})


class MatchShown(MatchSummaryShown):
    version_tag = version_tag()
    frozen = fields.Boolean(metadata={"description": "Nothing goes on until an arbiter has ruled"})
    broken = fields.String(allow_none=True, metadata={"description": "Why the match cannot be replayed; mostly null"})
    shown_ply = fields.Integer(metadata={"description": "The ply after which position and diagram are"})
    position = fields.String()
    diagram = fields.String()
    moves = fields.List(fields.String())
    spelled = fields.List(
        fields.String(),
        metadata={"description": "The moves as players like to read them: + follows one that gives check, # a mate"},
    )
    channels = fields.List(
        fields.String(allow_none=True),
        metadata={"description": "How each move came: web, api, opponent, conditional, forced; null: not recorded"},
    )
    clock = fields.Nested(ClockShown, allow_none=True)
    takeback = fields.Nested(
        TakebackShown, allow_none=True, metadata={"description": "The request to take moves back that stands"}
    )
    fallen = fields.Nested(FallenShown, allow_none=True, metadata={"description": "The flag that fell last"})
    rematch_of = fields.String(allow_none=True, metadata={"description": "The match before this one"})
    rematch = fields.String(allow_none=True, metadata={"description": "The match after this one, once it is proposed"})
    losses = fields.List(
        fields.Nested(LossShown),
        metadata={"description": "Events that the server has lost, by a power cut or damage; it says so, mostly empty"},
    )
    stream_url = fields.String()


class HintShown(Shown):
    move = fields.String()
    path = fields.List(fields.String(), metadata={"description": "Squares to select next, in order"})
    label = fields.String()


class CompositionShown(Shown):
    kind = fields.String(metadata={"description": "Its name where it is checked"})
    title = fields.String()
    sources = fields.List(fields.String(), metadata={"description": "Where the pieces stand that make it possible"})
    pieces = fields.List(fields.String(), metadata={"description": "Where the pieces stand that can take part"})
    free = fields.List(fields.String(), metadata={"description": "Vacant squares where they may be put"})


class DraftPieceShown(Shown):
    code = fields.String(metadata={"description": "Stands for it in placements, which are written code@square"})
    title = fields.String()
    price = fields.Integer()
    limit = fields.Integer(metadata={"description": "How many of it an army has at most"})
    squares = fields.List(fields.String(), metadata={"description": "Where it may be placed"})


class DraftShown(Shown):
    pieces = fields.List(fields.Nested(DraftPieceShown))
    first = fields.String(metadata={"description": "The code of the piece that is placed before all others"})
    budget = fields.Integer(metadata={"description": "What the army may cost"})
    least = fields.Integer(metadata={"description": "What it must cost"})
    placed = fields.Dict(
        keys=fields.String(),
        values=fields.String(),
        metadata={"description": "The codes of the pieces that are placed already, by square"},
    )
    ready = fields.List(
        fields.String(),
        metadata={"description": "A whole army as placements; empty once a piece has been placed"},
    )
    done = fields.String(metadata={"description": "The move that follows the placements"})


class LegalMovesShown(Shown):
    version = fields.Integer()
    version_tag = version_tag()
    to_move = fields.Integer(allow_none=True)
    demand = fields.String(
        metadata={"description": "What the rules demand of the player to move, such as a capture; empty if nothing"}
    )
    checked = fields.List(fields.String(), metadata={"description": "The squares of the kings in check"})
    moves = fields.List(fields.String())
    hints = fields.Dict(keys=fields.String(), values=fields.List(fields.Nested(HintShown)))
    compositions = fields.List(
        fields.Nested(CompositionShown),
        metadata={"description": "Kinds of moves too many to list, to be put together part by part"},
    )
    draft = fields.Nested(
        DraftShown, allow_none=True, metadata={"description": "The army that is to be set up now; null: none is"}
    )


class EventShown(Shown):
    id = fields.String(metadata={"description": "The hash of this event and all before it"})
    version = fields.Integer()
    type = fields.String()
    at = fields.DateTime()
    actor = fields.String()
    data = fields.Dict(
        keys=fields.String(),
        metadata={
            "description": "As it was recorded: instants in milliseconds since 1970 UTC, durations in milliseconds"
        },
    )


class EventsShown(Shown):
    items = fields.List(fields.Nested(EventShown))
    next = fields.String(allow_none=True, metadata={"description": "What to pass as after for the next page"})


class PlyQuery(Strict):
    ply = QueryNumber(load_default=None, validate=validate.Range(0, LARGEST_NUMBER), allow_none=False)


class EventsQuery(Strict):
    after = Text(
        load_default="0",
        validate=pattern(f"[0-9]{{1,15}}|{TAG_PATTERN}", f"must be a version or {TAG_WORDS}"),
        metadata={
            "description": "A version, or the version tag of the last event that is known: then the answer is 409 "
            "stale-version when that event is no longer part of the match"
        },
    )
    limit = page_limit(500, 1000)


@blueprint.route("/matches/<match>")
@blueprint.documents(200, MatchShown, problems=[404, 422], headers=VERSION_HEADER, parameters=[CONDITION], also=[304])
@blueprint.arguments(PlyQuery, location="query")
def show_match(query: dict[str, Any], match: str) -> Response:
    """A match as it stands, with the position after any ply"""
    (state, head, *_), ply = visible_match(match), query["ply"]
    if ply is not None and ply > len(state.moves):
        raise Problem("invalid-fields", f"{len(state.moves)} plies have been played.", {"ply": ["is yet to come"]})
    # A rematch changes what is shown and not the version: who knows a version need not know of it yet.
    return versioned(head, lambda: show.match(state, head, ply), settled=show.rematch_of(state) is None)


@blueprint.route("/matches/<match>/legal-moves")
@blueprint.documents(200, LegalMovesShown, problems=[404], headers=VERSION_HEADER, parameters=[CONDITION], also=[304])
def legal_moves(match: str) -> Response:
    """The legal moves as they stand: all as strings, and by first square for a board; none unless it is being played"""
    state, head, *_ = visible_match(match)
    return versioned(head, lambda: _legal_moves(state, head))


@blueprint.route("/matches/<match>/events")
@blueprint.documents(200, EventsShown, problems=[404, 409, 422])
@blueprint.arguments(EventsQuery, location="query")
def list_events(query: dict[str, Any], match: str) -> Response:
    """What has happened in a match, from the first event after a version"""
    state, store, after = visible_match(match).state, services().store, query["after"]
    known = VersionTag.parse(after)
    found = (
        store.read(match, int(after), query["limit"]) if known is None else store.read_on(match, known, query["limit"])
    )
    more = bool(found) and found[-1].version < state.version
    return json_response(
        {"items": [show.event(each) for each in found], "next": str(tag_of(found[-1])) if more else None}
    )


def hints_shown(hints: Mapping[str, tuple[Hint, ...]]) -> dict[str, list[dict[str, Any]]]:
    """Return hints, by first square, as callers see them."""
    return {
        square: [{"move": hint.move, "path": list(hint.path), "label": hint.label} for hint in found]
        for square, found in hints.items()
    }


def draft_shown(draft: Draft) -> dict[str, Any]:
    """Return an army that is to be set up as callers see it."""
    pieces = [{name: value for name, value in each._asdict().items() if name != "piece"} for each in draft.pieces]
    return {**draft._asdict(), "pieces": pieces}


def _legal_moves(state: MatchState, head: Head) -> dict[str, Any]:
    version = {"version": head.version, "version_tag": str(head.tag)}
    if state.status != Status.PLAYING or state.broken is not None:
        nothing: dict[str, Any] = {"moves": [], "hints": {}, "compositions": [], "draft": None}
        return {**version, "to_move": None, "demand": "", "checked": [], **nothing}
    game, position = find_ruleset(state.game, state.ruleset), state.position
    return {
        **version,
        "to_move": game.to_move(position),
        "demand": game.demand(position),
        "checked": list(game.scene(position).checked),
        "moves": [game.format_move(position, move) for move in game.legal_moves(position)],
        "hints": hints_shown(game.hints(position)),
        "compositions": [composition._asdict() for composition in game.unlisted.compositions(position)],
        "draft": None if (draft := game.draft(position)) is None else draft_shown(draft),
    }
