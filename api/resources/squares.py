"""One square of a match as it stands: what is on it, and why the player to move can begin nothing there."""

from flask import Response
from marshmallow import fields

from api.access.matches import visible_match
from api.http.conditions import CONDITION, VERSION_HEADER, versioned
from api.http.openapi import PREFIX, Blueprint
from api.http.problems import Problem
from api.http.schemas import Shown, version_tag
from domain.match.enums import Status
from domain.match.guards import rules_of
from domain.match.state import MatchState

blueprint = Blueprint("squares", __name__, url_prefix=PREFIX, description="The squares of a match")


class SquareShown(Shown):
    version = fields.Integer()
    version_tag = version_tag()
    square = fields.String()
    contents = fields.String(metadata={"description": "What stands there, in words"})
    reason = fields.String(
        allow_none=True,
        metadata={"description": "Why no legal move begins there, as a clause; null when one does"},
    )


@blueprint.route("/matches/<match>/squares/<square>")
@blueprint.documents(200, SquareShown, problems=[404, 409], headers=VERSION_HEADER, parameters=[CONDITION], also=[304])
def show_square(match: str, square: str) -> Response:
    """A square as the match stands: what is on it, and why no legal move begins there"""
    state, head, *_ = visible_match(match)
    rules = rules_of(state)
    scene = rules.scene(state.position)
    if square not in {cell.square for cell in scene.cells}:
        raise Problem("not-found", "The board of this game has no such square.")
    return versioned(
        head,
        lambda: {
            "version": head.version,
            "version_tag": str(head.tag),
            "square": square,
            "contents": scene.spoken.get(square, f"{square}: empty"),
            "reason": why_not(state, square),
        },
    )


def why_not(state: MatchState, square: str) -> str | None:
    """Return why no move can begin on ``square`` of the board as the match stands; None when one can."""
    if state.ended:
        return "the match is over"
    if state.status != Status.PLAYING:
        return "the match has not started"
    if state.frozen:
        return "the match is frozen until an arbiter has ruled"
    return rules_of(state).why_not(state.position, square)
