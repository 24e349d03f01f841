"""Private writing of players: notes, a tree of moves, conditional moves. They alone ever see it."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any

import msgspec
from flask import Blueprint
from marshmallow import ValidationError, fields, validates_schema
from msgspec import Meta

from api.access.auth import require_person
from api.access.matches import own_match
from api.addresses import PREFIX
from api.endpoints import endpoint
from api.http.answers import Answer, one_of
from api.http.conditions import IF_MATCH_PARAMETER, VersionTagText, expected_version
from api.http.schemas import MAX_NUMBER, EnumField, StrictBoolean, StrictInteger, StrictSchema, StrictString, TreeField
from api.operations.signed_acts import SigningKey, begin_signed_lines, signature_field
from api.representations.explorations import Exploration, ExploredMove
from api.services import services
from domain.match import lines as conditional
from domain.match.decisions.moves import MAX_MOVE_CHARACTERS
from domain.match.enums import LineAction, LineStatus
from domain.match.exploration import MAX_TREE_DEPTH, MAX_TREE_MOVES, explored
from domain.match.guards import seat_of
from domain.match.lines import ANY, MAX_LINE_DEPTH, ConditionalMoves
from domain.match.state import MatchState
from events.matches.matches import Loaded
from events.people.conditional_moves import lines_read, lines_shown
from events.people.notebooks import max_bytes

blueprint = Blueprint("notes", __name__, url_prefix=PREFIX)

MAX_NOTES_CHARACTERS = 20_000
MAX_COMMENT_CHARACTERS = 500
"""On one move of an exploration."""


class NotesRequest(StrictSchema):
    text = StrictString(0, MAX_NOTES_CHARACTERS, required=True)


class Notes(Answer):
    text: str


class ExploredMoveRequest(StrictSchema):
    move = StrictString(1, MAX_MOVE_CHARACTERS, required=True)
    comment = StrictString(0, MAX_COMMENT_CHARACTERS, load_default="", about="On the position after the move")
    next = TreeField(fields.Nested(lambda: ExploredMoveRequest()))


class ExplorationRequest(StrictSchema):
    ply = StrictInteger(0, MAX_NUMBER, required=True, about="The tree grows from the position after this many plies")
    tree = TreeField(
        fields.Nested(ExploredMoveRequest),
        max_depth=MAX_TREE_DEPTH,
        required=True,
        metadata={"description": f"Moves of all seats, {MAX_TREE_MOVES} at most; empty deletes the tree"},
    )


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
    services().notebooks.write_notes(person.id, match_id, sent["text"], max_bytes(person))
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
    result = explored(own_match(match_id).state, sent["ply"], lines_read(sent["tree"]))
    exploration = Exploration(ply=result.ply, position=result.position, tree=_represent(result.first, sent["tree"]))
    text = msgspec.json.encode(exploration).decode() if result.first else ""
    person = require_person()
    services().notebooks.save_exploration(person.id, match_id, text, max_bytes(person))
    return exploration if result.first else EMPTY


def _represent(lines: Sequence[conditional.Line], tree: Sequence[Mapping[str, Any]]) -> list[ExploredMove]:
    """Return the moves of ``lines`` in canonical form, with the comments of the ``tree`` they were read from."""
    return [
        ExploredMove(move=line.move, comment=sent["comment"], next=_represent(line.next, sent.get("next", [])))
        for line, sent in zip(lines, tree, strict=True)
    ]


lines_blueprint = Blueprint("lines", __name__, url_prefix=PREFIX)


class LineRequest(StrictSchema):
    move = StrictString(
        1, MAX_MOVE_CHARACTERS, required=True, about=f'A move, or, of another seat, "{ANY}": whatever else it plays'
    )
    then = EnumField(
        LineAction,
        allow_none=True,
        about="What to do after this move of another seat, instead of or before what is next",
    )
    next = TreeField(fields.Nested(lambda: LineRequest()))
    signature = signature_field("Under this own move, or under what then says, and the moves that lead to it")


class LinesRequest(StrictSchema):
    lines = TreeField(
        fields.Nested(LineRequest),
        max_depth=MAX_LINE_DEPTH,
        metadata={"description": "A tree from the position as it stands; empty: none; unchanged if left out"},
    )
    forced = StrictBoolean(about="Play my only legal move for me; unchanged if left out")
    signed = fields.Nested(SigningKey, metadata={"description": "By which key answers are signed, if any are"})

    @validates_schema(skip_on_field_errors=True)
    def refuse_nameless_signatures(self, sent: Mapping[str, Any], **_: Any) -> None:
        """Raise ValidationError for signatures without a key."""
        if "signed" not in sent and any(line.signature for line in _flat(lines_read(sent.get("lines", [])))):
            raise ValidationError("must be sent with signatures", "signed")


class Line(Answer):
    move: str
    then: Annotated[str, one_of(LineAction)] | None
    next: Sequence["Line"]


class Lines(Answer):
    version: Annotated[int, Meta(description="The version of the match for which this holds")]
    version_tag: VersionTagText
    lines: Sequence[Line]
    ply: Annotated[int | None, Meta(description="They begin after this many plies")]
    status: Annotated[
        Annotated[str, one_of(LineStatus)] | None,
        Meta(description="null: nothing is laid down. waiting: for an own move, to be made by hand"),
    ]
    words: Annotated[str, Meta(description="The status as a sentence; empty when nothing is laid down")]
    following: Annotated[Sequence[Line], Meta(description="What is left of the lines, from the position as it stands")]
    forced: bool


@lines_blueprint.get("/matches/<match_id>/lines")
@endpoint(answer=Lines, signed_in=True, problems=[404])
def show_lines(match_id: str) -> Lines:
    """Show the caller's conditional moves

    And whether forced moves are played. Nobody else can see them.
    """
    return _represent_laid_down(own_match(match_id))


@lines_blueprint.put("/matches/<match_id>/lines")
@endpoint(answer=Lines, body=LinesRequest, signed_in=True, problems=[404, 409, 412], parameters=[IF_MATCH_PARAMETER])
def set_lines(sent: Mapping[str, Any], match_id: str) -> Lines:
    """Replace the caller's conditional moves

    Each line is played out by the rules first. `forced` says whether the only legal move is played at once.
    """
    first = lines_read(sent["lines"]) if "lines" in sent else None
    forced, now = sent.get("forced"), services().now()
    person, before = require_person(), own_match(match_id)
    notebooks = services().notebooks
    signing, version = begin_signed_lines(sent["signed"], match_id) if "signed" in sent else (None, None)

    def lay_down(state: MatchState, orders: ConditionalMoves) -> ConditionalMoves:
        key, head = (None, None) if signing is None else (signing.key, signing.loaded.head.version)
        changed = conditional.laid_down(state, person.id, orders, first, forced, now, key, head)
        if signing is not None and first and changed.lines is not None:
            signing.check(changed.lines.first)
        return changed

    if first is not None:
        notebooks.count_conditional_moves(person.id, match_id, _bytes(first), max_bytes(person))
    try:
        after = services().match_service.lay_down(match_id, person.id, lay_down, expected_version() or version)
    except Exception:
        stored = before.orders.get(seat_of(before.state, person.id), ConditionalMoves()).lines
        notebooks.count_conditional_moves(person.id, match_id, _bytes(stored.first if stored else ()))
        raise
    return _represent_laid_down(after)


@lines_blueprint.delete("/matches/<match_id>/lines")
@endpoint(204, signed_in=True, problems=[404])
def delete_lines(match_id: str) -> None:
    """Delete the caller's conditional moves

    Whether forced moves are played stays as it is.
    """
    own_match(match_id)
    player = require_person().id
    services().matches.lay_down(match_id, player, lambda _, orders: replace(orders, lines=None))
    services().notebooks.count_conditional_moves(player, match_id, 0)


def _flat(lines: Sequence[conditional.Line]) -> Iterator[conditional.Line]:
    for line in lines:
        yield line
        yield from _flat(line.next)


def _bytes(lines: tuple[conditional.Line, ...]) -> int:
    """Return how many bytes ``lines`` count for."""
    return len(json.dumps(lines_shown(lines))) if lines else 0


def _represent_laid_down(loaded: Loaded) -> Lines:
    seat = seat_of(loaded.state, require_person().id)
    orders = loaded.orders.get(seat, ConditionalMoves())
    lines = orders.lines
    place = None if lines is None else conditional.reached(loaded.state, lines)
    status, words = (None, "") if lines is None else conditional.standing(loaded.state, seat, lines)
    return Lines(
        version=loaded.head.version,
        version_tag=str(loaded.head.tag),
        lines=_represent_lines(() if lines is None else lines.first),
        ply=None if lines is None else lines.ply,
        status=status,
        words=words,
        following=_represent_lines(() if place is None else place.following),
        forced=orders.forced,
    )


def _represent_lines(lines: Sequence[conditional.Line]) -> list[Line]:
    return [Line(move=line.move, then=line.then, next=_represent_lines(line.next)) for line in lines]
