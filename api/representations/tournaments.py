"""Tournaments as callers see them."""

from collections.abc import Mapping, Sequence
from typing import Annotated

from msgspec import Meta

from api.http.answers import Answer, Instant, Next, instant, one_of
from api.http.conditions import VersionTagText
from api.representations.clocks import Terms, represent_terms
from api.representations.players import Player, represent_player
from domain.contest.points import PointsRule
from domain.contest.schedules import Form
from domain.contest.standings import TieBreak, cross_table
from domain.contest.starting import NextMatches, Obstacle
from domain.contest.tournament import terms as tournament_terms
from domain.contest.tournament.state import NoResult, PairingStatus, TournamentState, TournamentStatus
from domain.contest.tournament.terms import DropOut, StartRule
from domain.contest.tournament.words import contract, standing_in_words
from events.contests.tournaments import TournamentSummary
from events.people.person import Person
from events.store.contract import Head


class EntryTerms(Answer):
    """Who may enter. A rating limit is compared with the highest lower bound of the last year."""

    rating_from: int | None
    rating_to: int | None
    finished: Annotated[int, Meta(description="Matches that must be finished")]
    flags: Annotated[int | None, Meta(description="Matches that may have been lost on time in the last 90 days")]
    bots: bool


class TournamentTerms(Answer):
    """The terms to which everybody agrees by entering."""

    game: str
    setup: str
    form: Annotated[str, one_of(Form)]
    clock: Terms
    rated: bool
    private: bool
    least: int
    most: int
    start: Annotated[str, one_of(StartRule)]
    drop_out: Annotated[str | None, Meta(description=f"{' or '.join(DropOut)}; null: early-struck")]
    at_once: Annotated[int, Meta(description="Matches of the tournament that a person plays at once, at most")]
    points: Annotated[str, one_of(PointsRule)]
    tie_breaks: Annotated[Sequence[str], Meta(description=f"In their order, of {', '.join(TieBreak)}")]
    entry: EntryTerms
    repeat_weeks: Annotated[int | None, Meta(description="After how many weeks the next of the series starts")]
    words: Annotated[Sequence[str], Meta(description="All of it as sentences")]


class ListedTournament(Answer):
    """A tournament in a list."""

    id: str
    title: str
    game: str
    setup: str
    form: Annotated[str, one_of(Form)]
    status: Annotated[str, one_of(TournamentStatus)]
    organiser: Player
    starts_at: Instant
    latest_end: Instant
    least: int
    most: int
    entries: Annotated[int, Meta(description="People who wait for the start, or for a place")]
    entrants: Annotated[int, Meta(description="People who play")]
    pairings: int
    over: Annotated[int, Meta(description="Pairings that are over")]


class TournamentList(Answer):
    """A page of tournaments."""

    items: Sequence[ListedTournament]
    next: Next


class Entrant(Answer):
    """Somebody who plays, or has left: the player, and whether the table is without them."""

    player: Player
    left_at: Instant | None
    struck: bool


class Pairing(Answer):
    """Who sits where in one match, by numbers of entrants in the order of the seats."""

    number: int
    entrants: Sequence[int]
    status: Annotated[str, one_of(PairingStatus)]
    match: str | None
    scores: Annotated[Sequence[float] | None, Meta(description="One per seat; null without a result")]
    flags: Annotated[Sequence[int], Meta(description="Seats that lost on time")]
    waits: Annotated[
        str | None, Meta(description=f"Why it has not started: {', '.join(Obstacle)}; null when it starts next, or has")
    ]
    waits_for: Annotated[Sequence[int], Meta(description="The entrants for whom it waits")]


class Against(Answer):
    """The results against one other entrant: 2 for each better place, 1 for each same one."""

    entrant: int
    result: int


class TableLine(Answer):
    """A line of the table. ``breaks`` are the values of the tie-breaks, null where none was needed."""

    entrant: int
    place: int
    sharing: Annotated[int, Meta(description="How many share the place")]
    points: int
    played: int
    wins: int
    breaks: Sequence[int | None]
    against: Annotated[Sequence[Against], Meta(description="The others of the table who were met, best first")]


class Correction(Answer):
    """A change of the final table: the pairing whose result changed, and why it has none; null for another result."""

    at: Instant
    pairing: int
    reason: Annotated[str | None, one_of(NoResult)]


class Tournament(Answer):
    """A tournament with its entrants, its pairings and its table, the best first."""

    id: str
    title: str
    version: int
    version_tag: VersionTagText
    status: Annotated[str, one_of(TournamentStatus)]
    organiser: Player
    announced_at: Instant
    starts_at: Instant
    postponed: bool
    latest_end: Instant
    ended_at: Instant | None
    reason: Annotated[str | None, Meta(description='Why it was cancelled: completes "Cancelled"')]
    series: Annotated[str | None, Meta(description="The first tournament of the series; null for that itself")]
    seed: Annotated[str | None, Meta(description="The seed of the lots, once they are drawn")]
    terms: TournamentTerms
    entries: Annotated[Sequence[Player], Meta(description="Who waits for the start, or for a place, in this order")]
    entrants: Annotated[Sequence[Entrant], Meta(description="Numbered from 0")]
    pairings: Annotated[Sequence[Pairing], Meta(description="Numbered from 1")]
    table: Sequence[TableLine]
    corrections: Sequence[Correction]
    standing: Annotated[str | None, Meta(description="Whether the table is final, in words")]


def represent_listed(id: str, summary: TournamentSummary, persons: Mapping[str, Person]) -> ListedTournament:
    """Return the tournament ``id`` as lists show it; ``persons`` has its organiser."""
    return ListedTournament.of(summary, id=id, organiser=represent_player(summary.organiser, persons))


def represent_terms_of_tournament(terms: tournament_terms.TournamentTerms, entries: int) -> TournamentTerms:
    """Return the terms of a tournament that ``entries`` people have entered."""
    return TournamentTerms.of(terms, clock=represent_terms(terms.clock), words=contract(terms, entries))


def represent_tournament(
    state: TournamentState, head: Head, following: NextMatches, persons: Mapping[str, Person]
) -> Tournament:
    """Return a tournament; ``following`` says why pairings wait, ``persons`` has all people in it."""
    waits = {waiting.pairing: waiting for waiting in following.waiting}
    pairings = []
    for number, pairing in enumerate(state.pairings, 1):
        waiting = waits.get(number)
        pairings.append(
            Pairing.of(
                pairing,
                number=number,
                scores=pairing.scores or None,
                waits=waiting.obstacle if waiting else None,
                waits_for=waiting.entrants if waiting else (),
            )
        )
    rows, met = state.rows(), cross_table(state.records())
    return Tournament.of(
        state,
        title=state.terms.title,
        version=head.version,
        version_tag=str(head.tag),
        organiser=represent_player(state.organiser, persons),
        latest_end=instant(state.terms.latest_end),
        terms=represent_terms_of_tournament(state.terms, len(state.entries) + len(state.entrants)),
        entries=[represent_player(player, persons) for player in state.entries],
        entrants=[Entrant.of(entrant, player=represent_player(entrant.player, persons)) for entrant in state.entrants],
        pairings=pairings,
        table=[
            TableLine.of(
                row,
                place=row.places[0],
                sharing=row.places[1] - row.places[0] + 1,
                against=[
                    Against(entrant=other.entrant, result=met[row.entrant, other.entrant])
                    for other in rows
                    if (row.entrant, other.entrant) in met
                ],
            )
            for row in rows
        ],
        standing=standing_in_words(state),
    )
