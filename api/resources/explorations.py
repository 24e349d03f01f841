"""Explorations that players publish when their match is over."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from flask import Blueprint
from msgspec import Meta, convert

from api.access.auth import current_person, require_person, require_role
from api.access.limits import spend
from api.access.matches import own_match, visible_match
from api.addresses import PREFIX
from api.endpoints import endpoint
from api.http.answers import Answer, Instant
from api.http.problems import Problem
from api.http.schemas import StrictSchema, prose
from api.operations.publications import Publication, publications_for, publish
from api.representations.explorations import ExploredMove
from api.representations.players import Player, represent_player
from api.services import services
from domain.match.decisions.cases import refuse_party
from events.people.administration import ARBITER
from events.people.notebooks import max_bytes
from events.people.person import Person
from events.runtime.wall_clock import rfc3339

blueprint = Blueprint("explorations", __name__, url_prefix=PREFIX)

MAX_COMMENT_CHARACTERS = 2000


class PublicationRequest(StrictSchema):
    comment = prose(MAX_COMMENT_CHARACTERS)


class PublicationEntry(Answer):
    author: Player
    at: Instant
    comment: str
    moves: Annotated[int, Meta(description="In the tree")]
    ply: Annotated[int, Meta(description="The tree grows from the position after this many plies")]


class PublicationList(Answer):
    items: Sequence[PublicationEntry]


class PublishedExploration(PublicationEntry):
    position: str
    tree: Sequence[ExploredMove]


@blueprint.get("/matches/<match_id>/explorations")
@endpoint(answer=PublicationList, problems=[404])
def list_explorations(match_id: str) -> PublicationList:
    """List published explorations

    Of a finished match, the first one first. While it is played there are none.
    """
    shown = publications_for(current_person(), visible_match(match_id).state)
    persons = services().people.persons(publication.author for publication in shown)
    return PublicationList(items=[PublicationEntry(**_described(publication, persons)) for publication in shown])


@blueprint.get("/matches/<match_id>/explorations/<player>")
@endpoint(answer=PublishedExploration, problems=[404])
def show_published_exploration(match_id: str, player: str) -> PublishedExploration:
    """Show a published exploration

    With its tree of moves.
    """
    for publication in publications_for(current_person(), visible_match(match_id).state):
        if publication.author == player:
            described = _described(publication, services().people.persons([player]))
            tree = convert(publication.tree, type=list[ExploredMove])
            return PublishedExploration(**described, position=publication.position, tree=tree)
    raise Problem("no-such-exploration", "This player has published no exploration of this match.")


@blueprint.delete("/matches/<match_id>/explorations/<player>")
@endpoint(204, signed_in=True, problems=[404])
def remove_publication(match_id: str, player: str) -> None:
    """Withdraw a published exploration

    For arbiters who had no part in the match. Its author keeps it, and only its author sees it from then on.
    """
    arbiter, state = require_role(ARBITER), visible_match(match_id).state
    refuse_party(state, arbiter.id)
    if player not in services().notebooks.publications(match_id):
        raise Problem("no-such-exploration", "This player has published no exploration of this match.")
    # Crash-safe: the act is logged first. Killed in between, the arbiter gets no answer and repeats the request.
    services().administration.record("exploration-withdrawn", arbiter.id, {"match": match_id, "author": player})
    services().notebooks.unpublish(player, match_id)


@blueprint.put("/matches/<match_id>/exploration/publication")
@endpoint(204, body=PublicationRequest, signed_in=True, problems=[404, 409])
def publish_exploration(sent: Mapping[str, str], match_id: str) -> None:
    """Publish your exploration

    As it is saved now, with a comment, once the match is over. Publishing again replaces it.
    """
    if not own_match(match_id).state.ended:
        raise Problem("match-not-over", "An exploration can be published once the match is over, never before.")
    person = require_person()
    spend("words", person.id)
    if not publish(person, match_id, sent["comment"], max_bytes(person)):
        raise Problem("no-such-exploration", "You have saved no exploration of this match: save one in Explore first.")


@blueprint.delete("/matches/<match_id>/exploration/publication")
@endpoint(204, signed_in=True, problems=[404])
def unpublish_exploration(match_id: str) -> None:
    """Withdraw your exploration

    Only you can see it from then on.
    """
    own_match(match_id)
    services().notebooks.unpublish(require_person().id, match_id)


def _described(publication: Publication, persons: Mapping[str, Person]) -> dict[str, Any]:
    return {
        "author": represent_player(publication.author, persons),
        "at": rfc3339(publication.at),
        "comment": publication.comment,
        "moves": publication.moves,
        "ply": publication.ply,
    }
