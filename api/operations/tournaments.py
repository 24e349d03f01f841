"""Tournaments for resources and pages: lists, one with all people in it, who may announce, the table as a file."""

import csv
from io import StringIO
from typing import NamedTuple

from api.http.problems import Problem
from api.representations.tournaments import ListedTournament, represent_listed
from api.services import services
from domain.contest.entry import AnnouncementFacts, refuse_announcement
from domain.contest.standings import cross_table
from domain.contest.tournament.commands import EnterTournament
from domain.contest.tournament.decide import decide
from domain.contest.tournament.state import TournamentState, TournamentStatus
from domain.match.refusals import CommandError
from events.contests.contests import UnknownContestError
from events.contests.play_history import finished_matches
from events.contests.tournaments import TournamentSummary
from events.matches.readmodels import Page
from events.people.administration import OPERATOR
from events.people.person import Person
from events.store.contract import Head
from events.store.converter import unpack


class ShownTournament(NamedTuple):
    """A tournament, the head of its stream, and all people in it."""

    state: TournamentState
    head: Head
    persons: dict[str, Person]


def no_such_tournament() -> Problem:
    """Return the problem of an address at which there is no tournament."""
    return Problem("no-such-tournament", "There is no such tournament.")


def load_tournament(id: str) -> ShownTournament:
    """Return a tournament with all people in it; raises the problem no-such-tournament."""
    try:
        state, head = services().tournaments.contests.load(id)
    except UnknownContestError:
        raise no_such_tournament() from None
    people = {state.organiser, *state.entries, *[entrant.player for entrant in state.entrants]}
    return ShownTournament(state, head, services().people.persons(people))


def list_tournaments(status: TournamentStatus, cursor: str | None, limit: int) -> Page[ListedTournament]:
    """Return a page of the tournaments at a stage, the latest first. Raises ValueError for an invalid cursor."""
    return _listed(f"tournaments:{status}", cursor, limit)


def tournaments_of(player: str, cursor: str | None, limit: int) -> Page[ListedTournament]:
    """Return a page of the tournaments of ``player``, the latest first. Raises as ``list_tournaments``."""
    return _listed(f"tournaments:of:{player}", cursor, limit)


def _listed(name: str, cursor: str | None, limit: int) -> Page[ListedTournament]:
    lists = services().contest_lists
    page = lists.page(name, cursor, limit)
    contents = zip(page.items, lists.contents(page.items), strict=True)
    summaries = [(id, unpack(TournamentSummary, content)) for id, content in contents if content is not None]
    persons = services().people.persons(summary.organiser for _, summary in summaries)
    return Page([represent_listed(id, summary, persons) for id, summary in summaries], page.next)


def is_operator(person: Person) -> bool:
    """Return whether ``person`` is an operator."""
    return OPERATOR in services().administration.roles_of(person.id)


def announcement_facts(person: Person) -> AnnouncementFacts | None:
    """Return the facts that decide whether ``person`` may announce a tournament; None: an operator always may."""
    if is_operator(person):
        return None
    return AnnouncementFacts(
        person=person.kind == "person",
        finished=len(finished_matches(services().readmodels, person.id)),
        announced=services().contest_lists.count(f"announced:{person.id}"),
    )


def why_not_announce(person: Person) -> str | None:
    """Return why ``person`` cannot announce a tournament now, None when nothing keeps the person from it."""
    facts = announcement_facts(person)
    try:
        if facts is not None:
            refuse_announcement(facts)
    except CommandError as refusal:
        return str(refusal)
    return None


def why_not_enter(person: Person, state: TournamentState) -> str | None:
    """Return why ``person`` cannot enter a tournament now, None when nothing keeps the person from it."""
    facts = services().tournaments.entry_facts(person, state)
    try:
        decide(state, EnterTournament(player=person.id, facts=facts), services().now())
    except CommandError as refusal:
        return str(refusal)
    return None


def table_as_csv(shown: ShownTournament) -> str:
    """Return the cross table as CSV (RFC 4180): a line for each entrant, with its results against each other one."""
    state, written = shown.state, StringIO()
    players = [entrant.player for entrant in state.entrants]
    names = [shown.persons[player].name if player in shown.persons else "" for player in players]
    lines = csv.writer(written)
    rows = state.rows()
    order = [row.entrant for row in rows]
    lines.writerow(["place", "player", "points", "played", "wins", *[names[one] for one in order]])
    met = cross_table(state.records())
    for row in rows:
        against = [met.get((row.entrant, other), "") for other in order]
        lines.writerow([row.places[0], names[row.entrant], row.points, row.played, row.wins, *against])
    return written.getvalue()
