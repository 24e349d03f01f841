"""The facts about seeks and tournaments that people are told of, as a function of a contest and its events.

That a match has begun is told as of every match.
"""

from collections.abc import Iterable

from domain.contest.seek.events import Event, SeekExpired, TableCleared
from domain.contest.seek.state import Seek
from domain.contest.tournament import events as t
from domain.contest.tournament.state import TournamentState
from domain.match.terms import DAY
from events.notify.facts import Fact
from events.notify.notice import NoticeKind
from events.notify.wording import WORDINGS


def facts_of_seek(seek: Seek, events: Iterable[Event]) -> list[Fact]:
    """Return the facts of a seek, given all its events: that it has expired, and matches that could not begin."""
    facts = []
    for version, event in enumerate(events, 1):
        match event:
            case SeekExpired() if not seek.matches:
                facts.append(_fact("seek-expired", seek.id, str(version), event.at, (seek.author,)))
            case TableCleared():
                players = tuple(dict.fromkeys((seek.author, *event.players)))
                facts.append(_fact("seek-cleared", seek.id, str(version), event.at, players))
    return facts


def facts_of_tournament(tournament: TournamentState, events: Iterable[t.Event]) -> list[Fact]:
    """Return the facts of a tournament, given all its events, for those who play or wait at each of them.

    They are told that it starts, is put off or cancelled, that a place is theirs, of the end, and of corrections: of
    several on one day once, and not on the day of the end, whose notice leads to the table as it stands.
    """
    facts = []
    people: dict[str, None] = {}
    ended_on = -1
    for version, event in enumerate(events, 1):
        subject, name, told = "", str(version), tuple(people)
        match event:
            case t.EntryMade():
                people[event.player] = None
            case t.EntryTakenBack() | t.PlayerLeft():
                people.pop(event.player, None)
            case t.StartPostponed():
                subject = "tournament-postponed"
            case t.TournamentCalledOff():
                organiser = () if event.canceller == tournament.organiser else (tournament.organiser,)
                subject, told = "tournament-cancelled", tuple(dict.fromkeys((*organiser, *people)))
            case t.TournamentStarted():
                subject, told = "tournament-started", event.players
            case t.PlaceFilled():
                subject, told = "tournament-place", (event.player,)
            case t.TournamentEnded():
                subject, ended_on = "tournament-ended", event.at // DAY
            case t.TableCorrected() if event.at // DAY != ended_on:
                subject, name = "tournament-corrected", f"day-{event.at // DAY}"
        if subject:
            words = {"title": tournament.terms.title, "reason": tournament.reason}
            facts.append(_fact(subject, tournament.id, name, event.at, told, **words))
    return facts


def _fact(subject: str, contest: str, name: str, at: int, players: tuple[str, ...], **words: str | None) -> Fact:
    return Fact(
        name=f"{subject}:{contest}:{name}",
        kind=NoticeKind.CONTEST,
        match=None,
        version=int(name) if name.isdigit() else 0,
        at=at,
        players=players,
        summary=WORDINGS[subject].summary.format_map(words),
    )
