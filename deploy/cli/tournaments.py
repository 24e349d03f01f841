"""Tournaments of the operator: announced from a file, listed and cancelled."""

import json
from pathlib import Path

import click
from marshmallow import ValidationError

from api.operations.tournament_request import TournamentRequest, terms_of_tournament
from deploy.cli.lazy_group import LazyGroup
from deploy.cli.output import CliError, escape_unprintable
from deploy.cli.target import open_installation, target_options
from domain.contest.tournament import commands as c
from domain.contest.tournament.state import TournamentStatus
from domain.match.refusals import CommandError
from events.contests.contests import UnknownContestError
from events.contests.tournaments import TournamentSummary
from events.installation import Installation
from events.people.administration import CONSOLE
from events.runtime.wall_clock import rfc3339
from events.store.contract import Request
from events.store.converter import unpack
from events.store.kinds import StreamKind, stream_id

MAX_LISTED = 50
"""Tournaments of one status."""


@click.group(cls=LazyGroup)
def tournaments() -> None:
    """Tournaments."""


@tournaments.command("list")
@target_options
def list_tournaments() -> None:
    """List the latest tournaments of each status."""
    lists = open_installation().contest_lists
    for status in TournamentStatus:
        page = lists.page(f"tournaments:{status}", limit=MAX_LISTED)
        for id, content in zip(page.items, lists.contents(page.items), strict=True):
            if content is not None:
                summary = unpack(TournamentSummary, content)
                people = summary.entries + summary.entrants
                words = f"{id}  {status}  {rfc3339(summary.starts_at)}  {people} people  {summary.title}"
                click.echo(escape_unprintable(words))


@tournaments.command()
@target_options
@click.option("--organiser", required=True, metavar="NAME", help="The person who announces it.")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
def announce(organiser: str, file: Path) -> None:
    """Announce the tournament in FILE: the JSON of `POST /api/v1/tournaments`. Repeating it announces it once."""
    installation = open_installation()
    person = installation.people.find(organiser)
    if person is None:
        raise CliError(f"there is no person with the name {organiser}")
    text = file.read_text()
    try:
        terms = terms_of_tournament(TournamentRequest().load(json.loads(text)))
    except ValidationError as error:
        raise CliError(f"{file}: {json.dumps(error.messages)}") from error
    except ValueError as error:
        raise CliError(f"{file} is not JSON: {error}") from error
    id = stream_id(StreamKind.TOURNAMENT, person.id, text)
    _execute(installation, id, c.AnnounceTournament(organiser=person.id, terms=terms))
    click.echo(id)


@tournaments.command()
@target_options
@click.argument("tournament")
def cancel(tournament: str) -> None:
    """Cancel TOURNAMENT before its start."""
    _execute(open_installation(), tournament, c.CallOffTournament(player=CONSOLE, operator=True))
    click.echo(f"{tournament} is cancelled")


def _execute(installation: Installation, id: str, command: c.Command) -> None:
    key = f"{CONSOLE}:{type(command).__name__}:{id}"
    try:
        installation.tournaments.contests.execute(id, command, CONSOLE, Request(key, key))
    except UnknownContestError as error:
        raise CliError(f"there is no tournament {id}") from error
    except CommandError as refusal:
        where = f"{refusal.field}: " if refusal.field else ""
        raise CliError(f"{where}{refusal}") from refusal
    installation.tournaments.refresh(id)
