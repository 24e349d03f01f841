"""People whom the caller blocks or mutes."""

from collections.abc import Sequence
from typing import Annotated

from flask import Blueprint

from api.access.auth import require_person
from api.addresses import PREFIX
from api.endpoints import endpoint
from api.http.answers import Answer, one_of
from api.http.problems import Problem
from api.http.schemas import EmptyBody
from api.operations.lists import identify
from api.representations.players import Player, opponent_level, represent_player
from api.services import services
from events.people.blocks import BLOCK, KINDS, MUTE, TooManyBlocksError

blueprint = Blueprint("blocks", __name__, url_prefix=PREFIX)


class BlockedPlayer(Answer):
    player: Player
    kind: Annotated[
        str, one_of(KINDS, "mute: messages are not shown; block: nor invitations, nor seats in your matches")
    ]


class BlockList(Answer):
    items: Sequence[BlockedPlayer]


@blueprint.get("/me/blocks")
@endpoint(answer=BlockList, signed_in=True)
def list_blocks() -> BlockList:
    """List blocked and muted players

    They are not notified of it.
    """
    listed = services().blocks.of(require_person().id)
    persons = services().people.persons(listed)
    return BlockList(
        items=[
            BlockedPlayer(player=represent_player(other, persons), kind=kind) for other, kind in sorted(listed.items())
        ]
    )


@blueprint.put("/me/blocks/<player>")
@endpoint(204, body=EmptyBody, signed_in=True, problems=[404, 409])
def block(_: object, player: str) -> None:
    """Block a player

    No invitations from them, no seats for them in matches that the caller opens, none of their messages.
    """
    _put(player, BLOCK)


@blueprint.put("/me/mutes/<player>")
@endpoint(204, body=EmptyBody, signed_in=True, problems=[404, 409])
def mute(_: object, player: str) -> None:
    """Mute a player

    Their messages are not shown to the caller.
    """
    _put(player, MUTE)


@blueprint.delete("/me/blocks/<player>")
@endpoint(204, signed_in=True, problems=[404])
def unblock(player: str) -> None:
    """Unblock a player

    They are neither blocked nor muted any more.
    """
    if not services().blocks.remove(require_person().id, identify(player)):
        raise Problem("not-blocked", "You neither block nor mute this player.")


def _put(player: str, kind: str) -> None:
    person, other = require_person(), identify(player)
    if other == person.id or opponent_level(other) is not None:
        detail = "Only other people can be blocked or muted."
        raise Problem("not-blockable", detail, {"player": ["is no other person"]})
    try:
        services().blocks.put(person.id, other, kind)
    except TooManyBlocksError as error:
        raise Problem("too-many-blocks", f"{error}.".capitalize()) from error
