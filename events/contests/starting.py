"""The matches that contests start, each once, for people who have room for one more."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from domain.match import vacation
from domain.match.commands import CreateMatch
from domain.match.state import Occasion, Seat
from domain.match.terms import Terms
from events.matches.bot_admission import BeyondCapacityError, BotAdmission
from events.matches.match_service import MatchService
from events.matches.matches import fresh_seed
from events.matches.readmodels import ReadModels
from events.people.availability import AvailabilityStore
from events.people.bots import Bots
from events.people.capacity import ProposedMatch
from events.store.contract import EventStore, Request
from events.store.kinds import digest_id

MAX_ROOM = 100
"""Matches that may be started for a person beside those that are played, where nothing says less."""


class WantedMatch(NamedTuple):
    """A match to be started for ``players``, by seat: people, who have agreed to it before, or levels of opponents."""

    occasion: Occasion
    game: str
    setup: str
    players: tuple[str | int, ...]
    rated: bool
    private: bool
    terms: Terms


class Started(NamedTuple):
    """The match that was started, now or before."""

    match: str


class NotStarted(NamedTuple):
    """Why a match was not started."""

    reason: str


class Room(NamedTuple):
    """How many more matches may be started for somebody, and the reason if none."""

    room: int
    reason: str = ""


def match_of(occasion: Occasion) -> str:
    """Return the id of the match of a pairing: always the same."""
    return "m" + digest_id(f"{occasion.kind}\n{occasion.id}\n{occasion.pairing}")


class MatchStarter(NamedTuple):
    """Starts the matches of contests."""

    store: EventStore
    matches: MatchService
    readmodels: ReadModels
    bot_admission: BotAdmission
    bots: Bots
    availability: AvailabilityStore

    def start(self, wanted: WantedMatch) -> Started | NotStarted:
        """Start a match, with everybody seated, unless it was started before.

        Crash-safe: id and request key are made of the occasion, so that repeating it starts nothing twice.
        """
        match_id = match_of(wanted.occasion)
        if self.store.head(match_id).version:
            return Started(match_id)
        people = [player for player in wanted.players if isinstance(player, str)]
        command = CreateMatch(
            match=match_id,
            creator=people[0],
            game=wanted.game,
            setup=wanted.setup,
            seats=tuple([_seat(player) for player in wanted.players]),
            rated=wanted.rated,
            private=wanted.private,
            seed=fresh_seed(),
            terms=wanted.terms,
            occasion=wanted.occasion,
            accepting=frozenset(people),
        )
        proposal = ProposedMatch(wanted.game, wanted.setup, wanted.rated, wanted.private, wanted.terms)
        try:
            with self.bot_admission.places(match_id, proposal, dict.fromkeys(people)):
                self.matches.execute(match_id, command, people[0], Request(f"occasion:{match_id}", match_id))
        except BeyondCapacityError as error:
            return NotStarted(str(error))
        return Started(match_id)

    def room_of(self, players: Sequence[str], now: int) -> Mapping[str, Room]:
        """Return the room of each of ``players``: none on vacation, for bots the rest of their capacity."""
        availability, bots = self.availability.read(players), self.bots.among(players)
        playing = self.readmodels.engagements(list(bots)) if bots else {}
        rooms = {}
        for player in players:
            if vacation.current(availability[player].book, now) is not None:
                rooms[player] = Room(0, "on vacation")
            elif player in bots:
                free = bots[player].capacity.concurrent - playing[player]
                rooms[player] = Room(max(0, free), "" if free > 0 else "no place free")
            else:
                rooms[player] = Room(MAX_ROOM)
        return rooms


def _seat(player: str | int) -> Seat:
    return Seat.opponent(player) if isinstance(player, int) else Seat.invited(player)
