"""Tournaments: announced, entered, left; their pairings and tables."""

from collections.abc import Mapping
from typing import Any

from flask import Blueprint, Response

from api.access.auth import require_person
from api.addresses import PREFIX
from api.endpoints import endpoint
from api.http.answers import JSON, json_response
from api.http.conditions import (
    COMMAND_HEADERS,
    IF_NONE_MATCH_PARAMETER,
    KEY_PARAMETER,
    VERSION_HEADER,
    etag,
    idempotent_request,
    request_key,
    versioned,
)
from api.http.schemas import EmptyBody, EnumField, Paging, page_limit
from api.operations.lists import invalid_cursor
from api.operations.tournament_request import TournamentRequest, terms_of_tournament
from api.operations.tournaments import (
    ShownTournament,
    announcement_facts,
    is_operator,
    list_tournaments,
    load_tournament,
    no_such_tournament,
    table_as_csv,
)
from api.representations.tournaments import Tournament, TournamentList, represent_tournament
from api.services import services
from domain.contest.tournament import commands as c
from domain.contest.tournament.state import TournamentStatus
from events.contests.contests import UnknownContestError
from events.proof.bundle import bundle_schema, make_contest_content, sign_content
from events.store.kinds import StreamKind, stream_id

blueprint = Blueprint("tournaments", __name__, url_prefix=PREFIX)


class TournamentQuery(Paging):
    status = EnumField(TournamentStatus, load_default=TournamentStatus.ENTRIES)
    limit = page_limit(20, 50)


@blueprint.get("/tournaments")
@endpoint(answer=TournamentList, query=TournamentQuery)
def list_all(query: Mapping[str, Any]) -> TournamentList:
    """List the tournaments

    Those that take entries, or are at another stage, the latest first.
    """
    try:
        page = list_tournaments(query["status"], query.get("cursor"), query["limit"])
    except ValueError as error:
        raise invalid_cursor() from error
    return TournamentList(items=page.items, next=page.next)


@blueprint.post("/tournaments")
@endpoint(
    201,
    answer=Tournament,
    body=TournamentRequest,
    signed_in=True,
    problems=[403, 409],
    headers={**COMMAND_HEADERS, "Location": "The tournament"},
    parameters=[KEY_PARAMETER],
)
def announce(wanted: Mapping[str, Any]) -> Response:
    """Announce a tournament

    Anybody who has finished ten matches may. It starts, ends and is cancelled by its terms alone.
    """
    person = require_person()
    id, terms = stream_id(StreamKind.TOURNAMENT, person.id, request_key()), terms_of_tournament(wanted)
    command = c.AnnounceTournament(organiser=person.id, terms=terms, facts=announcement_facts(person))
    return _execute(id, command, 201)


@blueprint.get("/tournaments/<id>")
@endpoint(answer=Tournament, problems=[404], headers=VERSION_HEADER, parameters=[IF_NONE_MATCH_PARAMETER], also=[304])
def show_tournament(id: str) -> Response:
    """Show a tournament

    Its terms, who has entered, its pairings with why each of them waits, and its table. Why pairings wait may change
    without a new version.
    """
    shown = load_tournament(id)
    return versioned(shown.head, lambda: _represent(shown))


@blueprint.get("/tournaments/<id>/table.csv")
@endpoint(problems=[404], content={"type": "string"}, content_type="text/csv")
def show_table(id: str) -> Response:
    """Show the cross table as CSV

    The points of each entrant against each other one.
    """
    return Response(table_as_csv(load_tournament(id)), mimetype="text/csv")


@blueprint.get("/tournaments/<id>/bundle")
@endpoint(content=bundle_schema(), costly=True, problems=[404], headers={"Content-Disposition": "A name for the file"})
def download_tournament_bundle(id: str) -> Response:
    """The tournament as one signed file

    From it anybody can compute lots, pairings and tables again (`rookery audit verify`, the page `/verify`).
    """
    inclusion, shown = services().checkpoints.inclusion(id), load_tournament(id)
    services().store.check_clock()  # nothing is signed with an instant of a wrong clock
    content = make_contest_content(id, services().tournaments.contests.events(shown.state.id))
    at = content.at if inclusion is None else max(content.at, inclusion.checkpoint.signed_at)
    packed = sign_content(content, services().keys.signing(), at, inclusion)
    headers = {"Content-Disposition": f'attachment; filename="rookery-{id}.json"'}
    return Response(packed, headers=headers, content_type=JSON)


@blueprint.post("/tournaments/<id>/entries")
@endpoint(
    201, answer=Tournament, body=EmptyBody, signed_in=True, problems=[403, 404, 409],
    headers=COMMAND_HEADERS, parameters=[KEY_PARAMETER],
)  # fmt: skip
def enter(_: object, id: str) -> Response:
    """Enter a tournament

    Before its start to play; after it to take the place of somebody who leaves.
    """
    person, state = require_person(), load_tournament(id).state
    facts = services().tournaments.entry_facts(person, state)
    return _execute(id, c.EnterTournament(player=person.id, facts=facts), 201)


@blueprint.delete("/tournaments/<id>/entries/me")
@endpoint(answer=Tournament, signed_in=True, problems=[404, 409, 422], parameters=[KEY_PARAMETER])
def leave_tournament(id: str) -> Response:
    """Leave a tournament

    Before its start the entry is taken back. After it the contract says what becomes of your matches, and you can enter
    no tournament for 30 days.
    """
    return _execute(id, c.LeaveTournament(player=require_person().id))


@blueprint.delete("/tournaments/<id>")
@endpoint(answer=Tournament, signed_in=True, problems=[403, 404, 409, 422], parameters=[KEY_PARAMETER])
def call_off(id: str) -> Response:
    """Cancel a tournament

    Before its start, by who has announced it or by an operator.
    """
    person, state = require_person(), load_tournament(id).state
    by_operator = person.id != state.organiser and is_operator(person)
    return _execute(id, c.CallOffTournament(player=person.id, operator=by_operator))


def _execute(id: str, command: c.Command, status: int = 200) -> Response:
    """Execute the caller's command, and answer with the tournament as it stands."""
    person = require_person()
    try:
        executed = services().tournaments.contests.execute(id, command, person.id, idempotent_request(person))
    except UnknownContestError:
        raise no_such_tournament() from None
    services().tournaments.refresh(id)
    headers = etag(executed.head) | ({"Idempotency-Replayed": "true"} if executed.repeated else {})
    if status == 201:
        headers["Location"] = f"{PREFIX}/tournaments/{id}"
    return json_response(_represent(load_tournament(id)), status, headers)


def _represent(shown: ShownTournament) -> Tournament:
    return represent_tournament(
        shown.state, shown.head, services().tournaments.next_matches(shown.state), shown.persons
    )
