"""What players write down for themselves: notes, and a tree of moves to think with. They alone ever see them."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import msgspec
from flask import Blueprint
from marshmallow import fields, validate
from msgspec import Meta

from api.access.auth import require_person
from api.access.matches import own_match
from api.addresses import PREFIX
from api.endpoints import endpoint
from api.http.answers import Answer
from api.http.messages import MAX_NUMBER
from api.http.schemas import StrictInteger, StrictSchema, StrictString, TreeField
from api.operations.notebooks import max_notebook_bytes
from api.services import services
from domain.match.decisions.moves import MAX_MOVE_CHARACTERS
from domain.match.exploration import MAX_TREE_DEPTH, MAX_TREE_MOVES, explored
from domain.match.lines import Line
from events.private.conditional_moves import lines_read

blueprint = Blueprint("notes", __name__, url_prefix=PREFIX)

MAX_NOTES_CHARACTERS = 20_000


class NotesRequest(StrictSchema):
    text = StrictString(
        required=True,
        validate=validate.Length(0, MAX_NOTES_CHARACTERS, error=f"must have at most {MAX_NOTES_CHARACTERS} characters"),
    )


class Notes(Answer):
    text: str


class ExploredMoveRequest(StrictSchema):
    move = StrictString(required=True, validate=validate.Length(1, MAX_MOVE_CHARACTERS))
    next = TreeField(fields.Nested(lambda: ExploredMoveRequest()))


class ExplorationRequest(StrictSchema):
    ply = StrictInteger(
        required=True,
        validate=validate.Range(0, MAX_NUMBER),
        metadata={"description": "The tree grows from the position after this many plies"},
    )
    tree = TreeField(
        fields.Nested(ExploredMoveRequest),
        max_depth=MAX_TREE_DEPTH,
        required=True,
        metadata={"description": f"Moves of all seats, {MAX_TREE_MOVES} at most; empty deletes the tree"},
    )


class ExploredMove(Answer):
    move: str
    next: Sequence["ExploredMove"]


class Exploration(Answer):
    ply: int | None
    position: Annotated[str | None, Meta(description="From which the tree grows")]
    tree: Sequence[ExploredMove]


EMPTY = Exploration(ply=None, position=None, tree=())


@blueprint.get("/matches/<match_id>/notes")
@endpoint(answer=Notes, signed_in=True, problems=[404])
def show_notes(match_id: str) -> Notes:
    """Show the caller's notes

    Of a match of their own. Nobody else can see them.
    """
    own_match(match_id)
    return Notes(text=services().notebooks.notes(require_person().id, match_id))


@blueprint.put("/matches/<match_id>/notes")
@endpoint(answer=Notes, body=NotesRequest, signed_in=True, problems=[404, 409])
def write_notes(sent: Mapping[str, str], match_id: str) -> Notes:
    """Replace the caller's notes

    An empty text deletes them.
    """
    own_match(match_id)
    person = require_person()
    services().notebooks.write_notes(person.id, match_id, sent["text"], max_notebook_bytes(person))
    return Notes(text=sent["text"])


@blueprint.get("/matches/<match_id>/exploration")
@endpoint(answer=Exploration, signed_in=True, problems=[404])
def show_exploration(match_id: str) -> Exploration:
    """Show the caller's saved analysis

    The tree of moves that the caller has stored for a match of their own.
    """
    own_match(match_id)
    stored = services().notebooks.exploration(require_person().id, match_id)
    return msgspec.json.decode(stored, type=Exploration) if stored else EMPTY


@blueprint.put("/matches/<match_id>/exploration")
@endpoint(answer=Exploration, body=ExplorationRequest, signed_in=True, problems=[404, 409])
def store_exploration(sent: Mapping[str, Any], match_id: str) -> Exploration:
    """Replace the caller's saved analysis

    Every move of the tree is played out by the rules first.
    """
    found = explored(own_match(match_id).state, sent["ply"], lines_read(sent["tree"]))
    exploration = Exploration(ply=found.ply, position=found.position, tree=_represent(found.first))
    text = msgspec.json.encode(exploration).decode() if found.first else ""
    person = require_person()
    services().notebooks.save_exploration(person.id, match_id, text, max_notebook_bytes(person))
    return exploration if found.first else EMPTY


def _represent(lines: Sequence[Line]) -> list[ExploredMove]:
    return [ExploredMove(move=line.move, next=_represent(line.next)) for line in lines]
