"""Tournaments that are stored in a running installation, to be looked at."""

from collections.abc import Sequence
from dataclasses import replace

from domain.contest.tournament import commands as c
from domain.contest.tournament.terms import StartRule, TournamentTerms
from domain.match.terms import DAY
from events.installation import Installation
from events.people.person import Person
from events.store.contract import Request
from events.store.kinds import StreamKind, stream_id
from tests.support.tournaments import TWO_SEATS

NAMES = ("Agnes", "Bruno", "Celia", "Dario", "Elsa", "Fritz", "Greta", "Hugo", "Irene", "Jonas", "Klara", "Leo")


def store_tournament(
    parts: Installation, organiser: str, terms: TournamentTerms = TWO_SEATS, names: Sequence[str] = NAMES[:5]
) -> str:
    """Announce a tournament with entries of new people with these names; it starts at once if it is full by then."""
    now = parts.now()
    dates = replace(terms, starts_at=now + 10 * DAY, latest_end=now + 300 * DAY, start=StartRule.WHEN_FULL)
    id = stream_id(StreamKind.TOURNAMENT, organiser, str(now))
    commands: list[tuple[str, c.Command]] = [(organiser, c.AnnounceTournament(organiser=organiser, terms=dates))]
    for number, name in enumerate(names):
        person = Person(f"{id}-{number}", f"{name}-{id[-5:]}", "person", now)
        parts.people.enrol(person, "")
        commands.append((person.id, c.EnterTournament(player=person.id, facts=None)))
    for actor, command in commands:
        parts.tournaments.contests.execute(id, command, actor, Request(f"{actor}:{type(command).__name__}", ""))
    parts.tournaments.refresh(id)
    return id
