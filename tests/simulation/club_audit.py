"""The audit of a simulated year of a club: what must hold for its seeks, tournaments, matches and notices."""

from collections import Counter
from collections.abc import Iterator
from statistics import median
from typing import NamedTuple

from domain.contest.points import PointsRule
from domain.contest.seek.state import SeekStatus
from domain.contest.tournament import events as e
from domain.contest.tournament.evolve import evolve
from domain.contest.tournament.state import PairingStatus, TournamentState
from domain.match.authority import Authority
from domain.match.enums import OccasionKind
from domain.match.terms import DAY
from events.contests.audit import audit_contest
from events.notify.notice import NoticeKind
from events.proof.audit import audit as records
from events.proof.bundle import make_contest_content, sign_content
from events.proof.verification import verify
from events.store.codec import CODECS
from events.store.kinds import StreamKind, is_match, kind_of
from tests.simulation.club import ClubYear, matches_of
from tests.support.slow_table import table_of


class Finding(NamedTuple):
    """A check and the place at which it failed."""

    check: str
    place: str


def audit_club(year: ClubYear) -> tuple[Counter[str], list[Finding]]:
    """Return how often each check was made, and the places at which one failed."""
    made: Counter[str] = Counter()
    findings = []
    for check, place, holds in _checks(year):
        made[check] += 1
        if not holds:
            findings.append(Finding(check, place))
    return made, findings


def _checks(year: ClubYear) -> Iterator[tuple[str, str, bool]]:
    """Yield each check: its name, the place, and whether it holds."""
    yield from _matches(year)
    for id in year.tournaments:
        yield from _tournament(year, id)
    yield from _contests(year)
    yield from _notices(year)


def _matches(year: ClubYear) -> Iterator[tuple[str, str, bool]]:
    occasions: Counter[object] = Counter()
    for match in matches_of(year):
        audited = records(match, year.shop.store.read(match, 0), authority=Authority(match))
        yield "the rules yield every event of a match", match, all(each.objection is None for each in audited)
        occasions[year.shop.state(match).occasion] += 1
    for occasion, number in occasions.items():
        yield "no match is started twice", str(occasion), number == 1
    of_tournaments = sum(getattr(each, "kind", None) == OccasionKind.TOURNAMENT for each in occasions)
    states = [year.shop.parts.tournaments.contests.load(id).state for id in year.tournaments]
    recorded = sum(pairing.match is not None for state in states for pairing in state.pairings)
    yield "every match of a tournament is recorded in it", "all", of_tournaments == recorded


def _tournament(year: ClubYear, id: str) -> Iterator[tuple[str, str, bool]]:
    parts = year.shop.parts
    envelopes = parts.tournaments.contests.events(id)
    events = [CODECS[StreamKind.TOURNAMENT].event_of(envelope) for envelope in envelopes]
    packed = sign_content(make_contest_content(id, envelopes), parts.keys.signing(), year.shop.now, None)
    steps = {step.name: step.proved for step in verify(packed, {key.id: key for key in parts.keys.public()})}
    proved = [steps.get(step) for step in ("well-formed", "chain", "signature", "tournament")]
    yield "lots, pairings and table follow from the bundle", id, proved == [True] * 4
    state = parts.tournaments.contests.load(id).state
    terms = state.terms
    slow = table_of(events, terms.seats, terms.points == PointsRule.WINNER, [str(each) for each in terms.tie_breaks])
    places = {(line.player, line.place, line.points) for line in state.table}
    yield "the table is that of a slow second reading", id, places == {(who, best, sum) for who, best, _, sum in slow}
    yield "nobody plays more at once than the terms allow", id, _most_at_once(id, events) <= terms.at_once
    for number, pairing in enumerate(state.pairings, 1):
        over = pairing.status not in (PairingStatus.WAITING, PairingStatus.RUNNING)
        yield "every pairing is over", f"{id} {number}", over


def _most_at_once(id: str, events: list[e.Event]) -> int:
    state: TournamentState | None = None
    most = 0
    for event in events:
        state = evolve(state, event, id)
        running = [state.pairings[number - 1].entrants for number in state.numbers(PairingStatus.RUNNING)]
        most = max([most, *Counter(one for entrants in running for one in entrants).values()])
    return most


def _contests(year: ClubYear) -> Iterator[tuple[str, str, bool]]:
    for id in year.shop.store.all_streams():
        if is_match(id):
            continue
        audited = list(audit_contest(id, year.shop.store.read(id, 0)))
        yield "every event of a contest is decided again", id, all(each.fault is None for each in audited)
        if kind_of(id) == StreamKind.SEEK:
            seek = year.shop.parts.seeks.contests.load(id).state
            is_over = seek.status in (SeekStatus.ANSWERED, SeekStatus.EXPIRED)
            is_recent = year.shop.now - seek.posted_at < 15 * DAY
            yield "every seek has a match or expires", id, (is_over or is_recent) and len(seek.matches) <= 1


def _notices(year: ClubYear) -> Iterator[tuple[str, str, bool]]:
    facts = Counter((notice.player, notice.fact) for notice in year.notices)
    for (player, fact), number in facts.items():
        yield "nobody is told of a fact twice", f"{player} {fact}", number == 1
    lines = Counter(
        (notice.player, notice.fact.split(":")[1], notice.at // DAY)
        for notice in year.notices
        if notice.kind == NoticeKind.CONTEST
    )
    for line, number in lines.items():
        yield "a contest tells a person one line a day at most", str(line), number == 1


def report(year: ClubYear) -> Iterator[str]:
    """Yield the figures of a year in lines."""
    parts, store = year.shop.parts, year.shop.store
    streams = list(store.all_streams())
    seeks = [parts.seeks.contests.load(id).state for id in streams if kind_of(id) == StreamKind.SEEK]
    answered = sum(seek.status == SeekStatus.ANSWERED for seek in seeks)
    days = (year.shop.now - year.begin) // DAY
    matches = sum(map(is_match, streams))
    yield f"{len(year.members)} people in {days} days: {matches} matches, {len(seeks)} seeks, {answered} answered"
    yield ""
    yield "tournament           seats  people  left  matches  no match  lost on time  days"
    for id in year.tournaments:
        state = parts.tournaments.contests.load(id).state
        played = [pairing for pairing in state.pairings if pairing.match is not None]
        flags = sum(len(pairing.flags) for pairing in state.pairings)
        left = sum(entrant.left_at is not None for entrant in state.entrants)
        lasted = ((state.ended_at or 0) - state.starts_at) // DAY
        yield (
            f"  {state.terms.title:<18} {state.terms.seats:>5} {len(state.entrants):>7} {left:>5} {len(played):>8} "
            f"{len(state.pairings) - len(played):>9} {flags:>13} {lasted:>5}"
        )
    yield ""
    yield "notices of a person          least  median  most"
    for kind in NoticeKind:
        yield _row(f"about {kind}", Counter(notice.player for notice in year.notices if notice.kind == kind), year)
    yield _row("all", Counter(notice.player for notice in year.notices), year)
    yield _row("mails", year.mails, year)
    yield _row(
        "mails in a week", Counter({player: round(7 * sent / days) for player, sent in year.mails.items()}), year
    )


def _row(name: str, counts: Counter[str], year: ClubYear) -> str:
    numbers = [counts[member.id] for member in year.members]
    return f"  {name:<25} {min(numbers):>6} {median(numbers):>7.0f} {max(numbers):>5}"
