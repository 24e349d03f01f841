"""People whom the caller does not want to hear from: a list of the caller's own."""

from flask import Response
from marshmallow import fields, validate

from api.access.auth import require_person, signed_in
from api.http import representations as show
from api.http.openapi import PREFIX, Blueprint, json_response
from api.http.problems import Problem
from api.http.schemas import Empty, PlayerShown, Shown
from api.operations.lists import identify
from api.services import services
from events.people.blocks import BLOCK, KINDS, MUTE, TooManyBlocksError

blueprint = Blueprint("blocks", __name__, url_prefix=PREFIX, description="People you do not want to hear from")


class BlockedShown(Shown):
    player = fields.Nested(PlayerShown)
    kind = fields.String(
        validate=validate.OneOf(KINDS),
        metadata={"description": "mute: messages are not shown; block: nor invitations, nor seats in your matches"},
    )


class BlocksShown(Shown):
    items = fields.List(fields.Nested(BlockedShown))


@blueprint.route("/me/blocks")
@blueprint.documents(200, BlocksShown, signed_in=True)
@signed_in
def list_blocks() -> Response:
    """Whom you block and mute; they are not told"""
    listed = services().blocks.of(require_person().id)
    persons = services().people.persons(listed)
    items = [{"player": show.player(other, persons), "kind": kind} for other, kind in sorted(listed.items())]
    return json_response({"items": items})


@blueprint.route("/me/blocks/<player>", methods=["PUT"])
@blueprint.documents(204, signed_in=True, problems=[404, 409, 415, 422])
@signed_in
@blueprint.arguments(Empty)
def block(_: dict[str, object], player: str) -> Response:
    """Block a player: no invitations, no seats in matches that you open, no messages"""
    return _put(player, BLOCK)


@blueprint.route("/me/mutes/<player>", methods=["PUT"])
@blueprint.documents(204, signed_in=True, problems=[404, 409, 415, 422])
@signed_in
@blueprint.arguments(Empty)
def mute(_: dict[str, object], player: str) -> Response:
    """Mute a player: their messages are not shown to you"""
    return _put(player, MUTE)


@blueprint.route("/me/blocks/<player>", methods=["DELETE"])
@blueprint.documents(204, signed_in=True, problems=[404])
@signed_in
def unblock(player: str) -> Response:
    """Neither block nor mute a player any more"""
    if not services().blocks.take_off(require_person().id, identify(player)):
        raise Problem("not-blocked", "You neither block nor mute this player.")
    return Response(status=204)


def _put(player: str, kind: str) -> Response:
    person, other = require_person(), identify(player)
    if other == person.id or show.opponent_level(other) is not None:
        raise Problem(
            "no-other-person", "Only other people can be blocked or muted.", {"player": ["is no other person"]}
        )
    try:
        services().blocks.put(person.id, other, kind)
    except TooManyBlocksError as error:
        raise Problem("too-many-blocks", f"{error}.".capitalize()) from error
    return Response(status=204)
