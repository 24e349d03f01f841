"""Animated pictures of matches, which a worker makes."""

from collections.abc import Mapping
from typing import Annotated
from urllib.parse import urlencode

from flask import Blueprint, url_for
from marshmallow import ValidationError, validates_schema
from msgspec import Meta

from api.access.matches import visible_match
from api.addresses import PREFIX
from api.endpoints import endpoint
from api.http.answers import Answer
from api.http.problems import Problem
from api.http.schemas import MAX_NUMBER, StrictInteger, StrictSchema
from api.operations.jobs import JobStateField, JobStatus, request_animation
from events.matches.animations import AnimationQuery
from events.pictures.animation import MAX_ANIMATED_PLIES

blueprint = Blueprint("animations", __name__, url_prefix=PREFIX)


class AnimationRequest(StrictSchema):
    first = StrictInteger(0, MAX_NUMBER, required=True, about="The first board is that after so many plies")
    last = StrictInteger(
        1, MAX_NUMBER, required=True, about=f"The last board; at most {MAX_ANIMATED_PLIES} plies after the first"
    )
    quarters = StrictInteger(0, 3, load_default=0, about="Quarter turns of the board, clockwise")

    @validates_schema(skip_on_field_errors=True)
    def refuse_stretches(self, sent: Mapping[str, int], **_: object) -> None:
        """Raise ValidationError for a stretch of no ply or of too many."""
        if not 1 <= sent["last"] - sent["first"] <= MAX_ANIMATED_PLIES:
            raise ValidationError(f"must be 1 to {MAX_ANIMATED_PLIES} plies after the first board", "last")


class Animation(Answer):
    state: JobStateField
    url: Annotated[str | None, Meta(description="Of the picture, a GIF, on the site; null until it is made")]


@blueprint.post("/matches/<match_id>/animations")
@endpoint(202, answer=Animation, body=AnimationRequest, costly=True, problems=[404, 409])
def request_moves_picture(sent: Mapping[str, int], match_id: str) -> Animation:
    """Request an animated picture of moves

    A worker makes a GIF of the boards from one ply to another. Send the same again for its address; it is kept for a
    day.
    """
    state, head, *_ = visible_match(match_id)
    if state.play.broken is not None:
        raise Problem("broken-match", "This match cannot be replayed: there are no pictures of it.")
    if sent["last"] > len(state.play.moves):
        detail = f"{len(state.play.moves)} moves have been played."
        raise Problem("no-such-ply", detail, {"last": ["is yet to come"]})
    query = AnimationQuery(head.digest.hex(), sent["first"], sent["last"], sent["quarters"])
    made = request_animation(match_id, query)
    if made != JobStatus.FINISHED:
        return Animation(state=made, url=None)
    place = {"first": query.first, "last": query.last, "quarters": query.quarters, "at": query.head}
    return Animation(state=made, url=f"{url_for('web.moves_gif', match_id=match_id)}?{urlencode(place)}")
