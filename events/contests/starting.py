"""The matches that contests start, each once, for people who have room for one more."""

from collections.abc import Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager
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
from events.people.capacity import ProposedMatch
from events.people.places import Places, StartLimit, Starts
from events.store.contract import EventStore, Request
from events.store.kinds import digest_id


class WantedMatch(NamedTuple):
    """A match to be started for ``players``, by seat: people, who have agreed to it before, or levels of opponents.

    Those ``by_hand`` have just chosen it themselves: neither their limit nor their wish to be asked counts.
    """

    occasion: Occasion
    game: str
    setup: str
    players: tuple[str | int, ...]
    rated: bool
    private: bool
    terms: Terms
    by_hand: frozenset[str] = frozenset()


class Started(NamedTuple):
    """The match that was started, now or before."""

    match: str


class NotStarted(NamedTuple):
    """Why a match was not started."""

    reason: str


class Room(NamedTuple):
    """The number of matches that may still be started for a person who plays ``playing``, and the reason for none."""

    room: int
    playing: int
    limit: StartLimit
    reason: str = ""


class _NoRoomError(Exception):
    """Somebody has no room for the match."""


def match_of(occasion: Occasion) -> str:
    """Return the id of the match of a pairing: always the same."""
    return "m" + digest_id(f"{occasion.kind}\n{occasion.id}\n{occasion.pairing}")


class MatchStarter(NamedTuple):
    """Starts the matches of contests."""

    store: EventStore
    matches: MatchService
    readmodels: ReadModels
    bot_admission: BotAdmission
    places: Places
    availability: AvailabilityStore

    def start(self, wanted: WantedMatch) -> Started | NotStarted:
        """Start a match, unless it was started before: those who want to be asked are invited, all others are seated.

        Crash-safe: id and request key are made of the occasion, so that repeating it starts nothing twice.
        """
        match_id = match_of(wanted.occasion)
        if self.store.head(match_id).version:
            return Started(match_id)
        people = [player for player in wanted.players if isinstance(player, str)]
        limits = {who: limit for who, limit in self.places.limits_of(people).items() if who not in wanted.by_hand}
        accepting = frozenset(who for who in people if who not in limits or limits[who].starts != Starts.ASK)
        creator = next((who for who in people if who in accepting), people[0])
        command = CreateMatch(
            match=match_id,
            creator=creator,
            game=wanted.game,
            setup=wanted.setup,
            seats=tuple([_seat(player) for player in wanted.players]),
            rated=wanted.rated,
            private=wanted.private,
            seed=fresh_seed(),
            terms=wanted.terms,
            occasion=wanted.occasion,
            accepting=accepting,
        )
        proposal = ProposedMatch(wanted.game, wanted.setup, wanted.rated, wanted.private, wanted.terms)
        try:
            with (
                self.bot_admission.places(match_id, proposal, dict.fromkeys(people)),
                self._places_within(match_id, limits),
            ):
                self.matches.execute(match_id, command, creator, Request(f"occasion:{match_id}", match_id))
        except BeyondCapacityError as error:
            return NotStarted(str(error))
        except _NoRoomError:
            return NotStarted("somebody has no room for another match at present")
        return Started(match_id)

    @contextmanager
    def _places_within(self, match_id: str, limits: Mapping[str, StartLimit]) -> Iterator[None]:
        """Take a place of each player in ``limits`` for the match of the block. Raises _NoRoomError."""
        with ExitStack() as places:
            for player, limit in limits.items():
                if limit.starts == Starts.NO or not places.enter_context(
                    self.bot_admission.place(player, match_id, limit.concurrent)
                ):
                    raise _NoRoomError(player)
            yield

    def room_of(self, players: Collection[str], now: int) -> Mapping[str, Room]:
        """Return the room of each of ``players``: the rest of the limit, none on vacation."""
        availability, limits = self.availability.read(players), self.places.limits_of(players)
        playing = self.readmodels.engagements(list(limits))
        rooms = {}
        for player, limit in limits.items():
            played, free = playing[player], max(0, limit.concurrent - playing[player])
            if vacation.current(availability[player].book, now) is not None:
                free, reason = 0, "a vacation"
            elif limit.starts == Starts.NO:
                free, reason = 0, "the server may start no matches"
            else:
                reason = "" if free else f"{played} matches are played, of {limit.concurrent} at most"
            rooms[player] = Room(free, played, limit, reason)
        return rooms


def _seat(player: str | int) -> Seat:
    return Seat.opponent(player) if isinstance(player, int) else Seat.invited(player)
