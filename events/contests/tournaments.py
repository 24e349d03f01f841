"""Tournaments in the store: their read model, the start and end of their matches, and time."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from domain.contest.entry import EntryFacts, barred_until
from domain.contest.starting import NextMatches, next_matches
from domain.contest.tournament import commands as c
from domain.contest.tournament.events import Event, Leaving
from domain.contest.tournament.series import next_terms
from domain.contest.tournament.state import PairingStatus, TournamentState, TournamentStatus
from domain.match.enums import OccasionKind, Status
from domain.match.state import CLOCK, MatchState, Occasion
from domain.match.terms import DAY
from events.contests.contests import Contests
from events.contests.lists import UNFINISHED, ContestLists
from events.contests.outcomes import read_outcome
from events.contests.play_history import count_flags, finished_matches
from events.contests.starting import MatchStarter, Started, WantedMatch
from events.matches.matches import fresh_seed
from events.matches.readmodels import ReadModels
from events.matches.readmodels.standings import interval_of
from events.people.accounts import People
from events.people.blocks import Blocks
from events.people.person import GUEST, Person
from events.people.places import Starts
from events.store import contract
from events.store.converter import pack, unpack
from events.store.kinds import StreamKind, kind_of, stream_id

WAITING = "tournaments:waiting"
"""The list of those in which pairings wait to start."""


class TournamentSummary(NamedTuple):
    """A tournament as lists show it; ``left`` says when each leaver left."""

    title: str
    game: str
    setup: str
    form: str
    organiser: str
    status: str
    starts_at: int
    latest_end: int
    least: int
    most: int
    entries: int
    entrants: int
    pairings: int
    over: int
    left: Mapping[str, int]


def summary_of(state: TournamentState) -> TournamentSummary:
    """Return a tournament as lists show it."""
    terms = state.terms
    return TournamentSummary(
        title=terms.title,
        game=terms.game,
        setup=terms.setup,
        form=terms.form,
        organiser=state.organiser,
        status=state.status,
        starts_at=state.starts_at,
        latest_end=terms.latest_end,
        least=terms.least,
        most=terms.most,
        entries=len(state.entries),
        entrants=sum(entrant.left_at is None for entrant in state.entrants),
        pairings=len(state.pairings),
        over=sum(pairing.status not in _NOT_OVER for pairing in state.pairings),
        left={entrant.player: entrant.left_at for entrant in state.entrants if entrant.left_at is not None},
    )


_NOT_OVER = (PairingStatus.WAITING, PairingStatus.RUNNING)


def lists_of(state: TournamentState) -> dict[str, int]:
    """Return the lists that a tournament is in: by status, and of each person who has to do with it."""
    ordered = state.ended_at or state.announced_at
    playing = {*state.entries, *[entrant.player for entrant in state.entrants]}
    people = {state.organiser, *playing}
    lists = {f"tournaments:{state.status}": ordered} | {f"of:{person}": ordered for person in people}
    lists |= {f"tournaments:of:{person}": ordered for person in playing}
    lists |= {f"left:{entrant.player}": entrant.left_at for entrant in state.entrants if entrant.left_at is not None}
    if state.status in (TournamentStatus.ENTRIES, TournamentStatus.RUNNING):
        lists[UNFINISHED] = ordered
    if state.status == TournamentStatus.ENTRIES:
        lists[f"announced:{state.organiser}"] = ordered
    if state.status == TournamentStatus.RUNNING and state.numbers(PairingStatus.WAITING):
        lists[WAITING] = ordered
    return lists


def _with_seed(command: c.Command) -> c.Command:
    return c.CloseEntries(seed=fresh_seed()) if isinstance(command, c.CloseEntries) else command


class Tournaments:
    """The tournaments of an installation."""

    def __init__(
        self,
        store: contract.EventStore,
        contests: Contests[TournamentState, c.Command, Event],
        lists: ContestLists,
        starter: MatchStarter,
        readmodels: ReadModels,
        blocks: Blocks,
        people: People,
        now: Callable[[], int],
    ) -> None:
        self._store = store
        self._people = people
        self.contests = contests
        self.lists = lists
        self._starter = starter
        self._readmodels = readmodels
        self._blocks = blocks
        self._now = now

    def refresh(self, id: str) -> TournamentState:
        """Bring the read model of a tournament up to its events, and return the tournament. Raises as ``load``."""
        state, head = self.contests.load(id)
        self.lists.update(id, head.version, pack(summary_of(state)), lists_of(state))
        return state

    def settle(self, id: str) -> bool:
        """Carry out a command that is due by time, with a fresh seed for lots; return whether there was one."""
        return self.contests.settle(id, _with_seed)

    def record(self, occasion: Occasion, match: MatchState, head: contract.Head) -> None:
        """Record how a match of a tournament stands at ``head``: that it has started, its result, or that it has none.

        Crash-safe: both appends are idempotent, and a match is delivered again until both are made. Deliveries may come
        in any order: an older version of the match changes nothing.
        """
        number = int(occasion.pairing)
        pairing = self.contests.load(occasion.id).state.pairing(number)
        if pairing is None:
            return
        if pairing.match is None:
            self._start(occasion.id, number, match.match_id)
        if (match.ended or pairing.version) and head.version > pairing.version:
            command = self._recording(number, match, head)
            key = f"match:{number}:{head.version}"
            self.contests.execute(occasion.id, command, CLOCK, contract.Request(key, key))

    def start_matches(self, id: str) -> int:
        """Start the matches of a tournament for which everybody has room now; return how many.

        Crash-safe: a match has the request key of its pairing, so that it is never started twice, and is delivered as
        one of this tournament until its start is recorded.
        """
        state = self.contests.load(id).state
        count = 0
        for number in self.next_matches(state).starting:
            entrants = state.pairings[number - 1].entrants
            start = self._starter.start(
                WantedMatch(
                    occasion=Occasion(kind=OccasionKind.TOURNAMENT, id=id, pairing=str(number)),
                    game=state.terms.game,
                    setup=state.terms.setup,
                    players=tuple([state.entrants[one].player for one in entrants]),
                    rated=state.terms.rated,
                    private=state.terms.private,
                    terms=state.terms.clock,
                )
            )
            if isinstance(start, Started):
                self._start(id, number, start.match)
                count += 1
        return count

    def next_matches(self, state: TournamentState) -> NextMatches:
        """Return which pairings start now, and why each of the others waits."""
        if state.status != TournamentStatus.RUNNING or not (waiting := state.numbers(PairingStatus.WAITING)):
            return NextMatches((), ())
        entrants = {one for number in waiting for one in state.pairings[number - 1].entrants}
        players = [state.entrants[one].player for one in entrants]
        room = {player: room.room for player, room in self._starter.room_of(players, self._now()).items()}
        return next_matches(state, room, self._blocks.between(players))

    def follow(self, id: str) -> None:
        """Bring the read model of a tournament up to its events, announce the next one, start matches."""
        self.announce_next(self.refresh(id))
        self.start_matches(id)

    def next_id(self, state: TournamentState) -> str:
        """Return the id that the tournament after this one in its series has, or will have."""
        return stream_id(StreamKind.TOURNAMENT, state.organiser, f"after:{state.id}")

    def announce_next(self, state: TournamentState) -> None:
        """Announce the next tournament of a series that has started, unless the account of its organiser was erased.

        Crash-safe: its id follows from that of the one before, so that it is announced once.
        """
        now, id = self._now(), self.next_id(state)
        terms = next_terms(state, now)
        if terms is None or self._store.head(id).version or self._people.person(state.organiser) is None:
            return
        command = c.AnnounceTournament(organiser=state.organiser, terms=terms, series=state.series or state.id)
        self.contests.execute(id, command, CLOCK, contract.Request(f"after:{state.id}", id))

    def start_waiting(self) -> None:
        """Start the matches of all tournaments for which somebody has got room elsewhere."""
        for id in self.lists.oldest(WAITING):
            self.start_matches(id)

    def erase(self, person: str) -> None:
        """Let a person whose account is erased leave all tournaments."""
        for id in self.lists.oldest(f"of:{person}"):
            if kind_of(id) != StreamKind.TOURNAMENT:
                continue
            state = self.contests.load(id).state
            if person in state.entries or state.entrant_of(person) is not None:
                command = c.LeaveTournament(player=person, reason=Leaving.ERASURE)
                self.contests.execute(id, command, person, contract.Request(f"erased:{person}", ""))

    def entry_facts(self, person: Person, state: TournamentState) -> EntryFacts:
        """Return the facts that decide whether ``person`` may enter a tournament."""
        terms = state.terms
        year = self._now() - 365 * DAY
        bounds: list[int] = []
        if terms.entry.rating_from is not None or terms.entry.rating_to is not None:
            changes = self._readmodels.rating_history(person.id, f"{terms.game}-{terms.seats}")
            recent = [change for change in changes if change.at >= year] or changes[-1:]
            bounds = [int(interval_of(change.after, change.deviation)[0]) for change in recent]
        finished = finished_matches(self._readmodels, person.id)
        staying = [entrant.player for entrant in state.entrants if entrant.left_at is None]
        players = {*state.entries, *staying, person.id}
        return EntryFacts(
            rating_bound=max(bounds, default=None),
            finished=len(finished),
            flags=count_flags(finished, person.id, self._now()),
            barred_until=self.barred_until(person.id),
            bot=person.kind == "bot",
            guest=person.kind == GUEST,
            startable=self._starter.places.limits_of([person.id])[person.id].starts != Starts.NO,
            apart=any(person.id in pair for pair in self._blocks.between(players)),
        )

    def barred_until(self, person: str) -> int | None:
        """Return until when a person may enter no tournament after leaving some; None if that is not so."""
        contents = self.lists.contents(self.lists.oldest(f"left:{person}"))
        return barred_until(unpack(TournamentSummary, content).left[person] for content in contents if content)

    def _start(self, id: str, number: int, match: str) -> None:
        command, key = c.StartPairing(pairing=number, match=match), f"start:{number}"
        self.contests.execute(id, command, CLOCK, contract.Request(key, match))

    def _recording(self, number: int, match: MatchState, head: contract.Head) -> c.RecordMatch:
        """Return the command that records how a match stands."""
        flags, blamed = read_outcome(self._store, match, head)
        annulled = match.result.annulled is not None
        return c.RecordMatch(
            pairing=number,
            match=match.match_id,
            version=head.version,
            head=head.digest.hex(),
            scores=match.result.scores if match.status == Status.FINISHED else None,
            flags=() if annulled else flags,
            ended=match.ended,
            annulled=annulled,
            forfeit=blamed,
        )
