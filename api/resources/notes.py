"""What players write down for themselves: notes, and a tree of moves to think with. Nobody else ever sees them."""

import json
from typing import Any

from flask import Response
from marshmallow import fields, validate

from api.access.auth import require_person, signed_in
from api.access.matches import own_match
from api.http.messages import LARGEST_NUMBER
from api.http.openapi import PREFIX, Blueprint, json_response
from api.http.schemas import Shown, Strict, Text, Tree, Whole
from api.operations.notebooks import notebook_bytes
from api.services import services
from domain.match.exploration import DEEPEST, MOST_MOVES, explored
from domain.match.moves import LONGEST_MOVE
from events.private.conditional_moves import lines_read, tree_shown

blueprint = Blueprint("notes", __name__, url_prefix=PREFIX, description="What a player writes down")

LONGEST_NOTES = 20_000

NOTHING_KEPT: dict[str, Any] = {"ply": None, "position": None, "tree": []}


class Notes(Strict):
    text = Text(
        required=True, validate=validate.Length(0, LONGEST_NOTES, error=f"must have at most {LONGEST_NOTES} characters")
    )


class NotesShown(Shown):
    text = fields.String()


class MoveTried(Strict):
    move = Text(required=True, validate=validate.Length(1, LONGEST_MOVE))
    next = Tree(fields.Nested(lambda: MoveTried()))


class Exploration(Strict):
    ply = Whole(
        required=True,
        validate=validate.Range(0, LARGEST_NUMBER),
        metadata={"description": "The tree grows from the position after so many plies"},
    )
    tree = Tree(
        fields.Nested(MoveTried),
        deepest=DEEPEST,
        required=True,
        metadata={"description": f"Moves of all seats, {MOST_MOVES} at most; empty: none is kept"},
    )


class MoveTriedShown(Shown):
    move = fields.String()
    next = fields.List(fields.Nested(lambda: MoveTriedShown()))


class ExplorationShown(Shown):
    ply = fields.Integer(allow_none=True)
    position = fields.String(allow_none=True, metadata={"description": "From which the tree grows"})
    tree = fields.List(fields.Nested(MoveTriedShown))


@blueprint.route("/matches/<match>/notes")
@blueprint.documents(200, NotesShown, signed_in=True, problems=[404])
@signed_in
def show_notes(match: str) -> Response:
    """What the caller has noted about a match of his own"""
    own_match(match)
    return json_response({"text": services().notebooks.notes(require_person().id, match)})


@blueprint.route("/matches/<match>/notes", methods=["PUT"])
@blueprint.documents(200, NotesShown, signed_in=True, problems=[404, 409, 415, 422])
@signed_in
@blueprint.arguments(Notes)
def write_notes(arguments: dict[str, str], match: str) -> Response:
    """Note something in place of what was noted before"""
    own_match(match)
    person = require_person()
    services().notebooks.write_notes(person.id, match, arguments["text"], notebook_bytes(person))
    return json_response({"text": arguments["text"]})


@blueprint.route("/matches/<match>/exploration")
@blueprint.documents(200, ExplorationShown, signed_in=True, problems=[404])
@signed_in
def show_exploration(match: str) -> Response:
    """The tree of moves that the caller keeps for a match of his own"""
    own_match(match)
    kept = services().notebooks.exploration(require_person().id, match)
    return json_response(json.loads(kept) if kept else NOTHING_KEPT)


@blueprint.route("/matches/<match>/exploration", methods=["PUT"])
@blueprint.documents(200, ExplorationShown, signed_in=True, problems=[404, 409, 415, 422])
@signed_in
@blueprint.arguments(Exploration)
def keep_exploration(arguments: dict[str, Any], match: str) -> Response:
    """Keep a tree of moves in place of the one before; every move is played out by the rules"""
    found = explored(own_match(match).state, arguments["ply"], lines_read(arguments["tree"]))
    kept = {"ply": found.ply, "position": found.position, "tree": tree_shown(found.first)} if found.first else None
    text = json.dumps(kept, separators=(",", ":")) if kept else ""
    person = require_person()
    services().notebooks.keep_exploration(person.id, match, text, notebook_bytes(person))
    return json_response(kept or NOTHING_KEPT)
