"""Positions that a match could come to, moves that are put together part by part, and single squares."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from flask import Blueprint, Response
from marshmallow import fields, validate
from msgspec import Meta

from api.access.matches import visible_match
from api.addresses import PREFIX
from api.endpoints import endpoint
from api.http.answers import Answer
from api.http.conditions import IF_NONE_MATCH_PARAMETER, VERSION_HEADER, VersionTagText, versioned
from api.http.problems import Problem
from api.http.schemas import MAX_NUMBER, StrictInteger, StrictSchema, StrictString
from api.operations.exploration import MAX_PART_CHARACTERS, MAX_PARTS, PositionRequest, compose, play_line
from api.representations.boards import Composition, Hint, Outcome, represent_hints, represent_outcome
from domain.match.decisions.moves import MAX_MOVE_CHARACTERS
from domain.match.enums import Status
from domain.match.exploration import MAX_TREE_DEPTH
from domain.match.guards import rules_of
from domain.match.state import MatchState

blueprint = Blueprint("positions", __name__, url_prefix=PREFIX)


class ExploredPosition(Answer):
    ply: int
    line: Annotated[Sequence[str], Meta(description="The moves in canonical form")]
    spelled: Annotated[Sequence[str], Meta(description="The moves as players like to read them")]
    position: str
    diagram: str
    to_move: int
    result: Outcome | None
    result_known: Annotated[
        bool,
        Meta(
            description="false: whether the game is over there takes too long to tell; of a played move it is always "
            "known"
        ),
    ]
    legal_moves: Annotated[Sequence[str], Meta(description="What is legal now")]
    hints: Mapping[str, Sequence[Hint]]
    compositions: Sequence[Composition]


@blueprint.post("/matches/<match_id>/positions")
@endpoint(answer=ExploredPosition, body=PositionRequest, costly=True, problems=[404, 409])
def explore(sent: Mapping[str, Any], match_id: str) -> ExploredPosition:
    """Play out a line of moves

    The position after a line from any ply, and the legal moves there. Nothing is played in the match.
    """
    state = visible_match(match_id).state
    ply = sent.get("ply", len(state.play.moves))
    line = play_line(state, ply, sent["line"])
    game, position, over = line.game, line.position, line.outcome is not None
    return ExploredPosition(
        ply=ply,
        line=line.moves,
        spelled=line.spelled,
        position=game.format_position(position),
        diagram=game.diagram(position),
        to_move=game.to_move(position),
        result=represent_outcome(line.outcome),
        result_known=line.outcome_known,
        legal_moves=[] if over else [game.format_move(position, move) for move in game.legal_moves(position)],
        hints={} if over else represent_hints(game.hints(position)),
        compositions=[] if over else list(map(Composition.of, game.compositions(position))),
    )


compositions = Blueprint("compositions", __name__, url_prefix=PREFIX)


class CompositionRequest(StrictSchema):
    kind = StrictString(
        1, MAX_PART_CHARACTERS, required=True, about="A kind that the legal moves name under compositions"
    )
    parts = fields.List(
        StrictString(1, MAX_PART_CHARACTERS),
        required=True,
        validate=validate.Length(0, MAX_PARTS),
        metadata={"description": "The parts so far, in order"},
    )
    ply = StrictInteger(0, MAX_NUMBER, about="The move is put together after this number of plies and the line")
    line = fields.List(
        StrictString(1, MAX_MOVE_CHARACTERS),
        validate=validate.Length(0, MAX_TREE_DEPTH),
        metadata={"description": "Moves before the one that is put together, in canonical form or an alias"},
    )


class ComposedMove(Answer):
    version: int
    version_tag: VersionTagText
    kind: str
    parts: Sequence[str]
    move: Annotated[str | None, Meta(description="The move in canonical form; null until it is legal")]
    failing: Annotated[int | None, Meta(description="The index of the part that is not possible; null when all are")]
    reason: Annotated[str, Meta(description="Why there is no legal move yet; empty when there is")]
    following: Annotated[
        Mapping[str, Sequence[Hint]],
        Meta(description="What can be added to the possible parts: by first square; each part is a move there"),
    ]


@compositions.post("/matches/<match_id>/compositions")
@endpoint(answer=ComposedMove, body=CompositionRequest, costly=True, problems=[404, 409])
def check_composition(sent: Mapping[str, Any], match_id: str) -> ComposedMove:
    """Check a move that is being put together

    For kinds of moves too many to list. Nothing is played: the answer says which parts can follow, the move that
    the parts make, or why they do not make one yet; in the present position, or after a line of moves from any ply.
    """
    state, head, *_ = visible_match(match_id)
    kind, parts = sent["kind"], sent["parts"]
    composed = compose(state, kind, parts, sent.get("ply"), sent.get("line", ()))
    following, tag = represent_hints(composed.following), str(head.tag)
    return ComposedMove.of(composed, version=head.version, version_tag=tag, kind=kind, parts=parts, following=following)


squares = Blueprint("squares", __name__, url_prefix=PREFIX)


class Square(Answer):
    version: int
    version_tag: VersionTagText
    square: str
    contents: Annotated[str, Meta(description="What stands there, in words")]
    reason: Annotated[str | None, Meta(description="Why no legal move begins there, as a clause; null when one does")]


@squares.get("/matches/<match_id>/squares/<square>")
@endpoint(
    answer=Square,
    costly=True,
    problems=[404, 409],
    headers=VERSION_HEADER,
    parameters=[IF_NONE_MATCH_PARAMETER],
    also=[304],
)
def show_square(match_id: str, square: str) -> Response:
    """Show a square

    The piece on it as the match stands, and why no legal move begins there.
    """
    state, head, *_ = visible_match(match_id)
    scene = rules_of(state).scene(state.play.position)
    if square not in {cell.square for cell in scene.cells}:
        raise Problem("not-found", "The board of this game has no such square.")

    def answer() -> Square:
        return Square(
            version=head.version,
            version_tag=str(head.tag),
            square=square,
            contents=scene.contents(square),
            reason=_why_not(state, square),
        )

    return versioned(head, answer)


def _why_not(state: MatchState, square: str) -> str | None:
    """Return why no move can begin on ``square`` of the board as the match stands; None when one can."""
    if state.ended:
        return "the match is over"
    if state.status != Status.PLAYING:
        return "the match has not started"
    if state.cases.frozen:
        return "the match is frozen until an arbiter has ruled"
    return rules_of(state).why_not(state.play.position, square)
