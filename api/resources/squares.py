"""One square of a match as it stands: what is on it, and why the player to move can begin nothing there."""

from typing import Annotated

from flask import Blueprint, Response
from msgspec import Meta

from api.access.matches import visible_match
from api.addresses import PREFIX
from api.endpoints import endpoint
from api.http.answers import Answer
from api.http.conditions import IF_NONE_MATCH_PARAMETER, VERSION_HEADER, VersionTagText, versioned
from api.http.problems import Problem
from domain.match.enums import Status
from domain.match.guards import rules_of
from domain.match.state import MatchState

blueprint = Blueprint("squares", __name__, url_prefix=PREFIX)


class Square(Answer):
    version: int
    version_tag: VersionTagText
    square: str
    contents: Annotated[str, Meta(description="What stands there, in words")]
    reason: Annotated[str | None, Meta(description="Why no legal move begins there, as a clause; null when one does")]


@blueprint.get("/matches/<match_id>/squares/<square>")
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
            contents=scene.spoken.get(square, f"{square}: empty"),
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
