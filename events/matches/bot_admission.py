"""Whether a match is within the capacity of those who play it: asked before it is created or joined."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import partial

from domain.match.state import MatchState
from events.matches.readmodels import ReadModels
from events.people.bots import Bot, Bots
from events.people.capacity import Excess, ProposedMatch, excess_of, full
from events.people.person import Person
from events.people.places import Places

SUSPENDED = Excess("invitations", "is suspended and takes no new matches")


class BeyondCapacityError(Exception):
    """A bot does not take a match on; the message says why, ``limit`` is the field of its capacity."""

    def __init__(self, bot: Bot, excess: Excess) -> None:
        super().__init__(f"{bot.name} {excess.reason}")
        self.limit = excess.limit


class BotAdmission:
    """The capacities of all bots."""

    def __init__(self, bots: Bots, places: Places, readmodels: ReadModels) -> None:
        self._bots = bots
        self._places = places
        self._readmodels = readmodels

    @contextmanager
    def places(
        self, match_id: str, proposal: ProposedMatch, players: Mapping[str, str | None]
    ) -> Iterator[frozenset[str]]:
        """Take a place of each bot in which the block creates or joins the match; yield the players who accept at once.

        ``players`` maps each player to the kind of the inviter, None for the actor. An error frees the places, unless
        the match may exist. Raises BeyondCapacityError.
        """
        bots = self._bots.among(players)
        for bot in bots.values():
            excess = SUSPENDED if bot.suspended else excess_of(bot.capacity, proposal, players[bot.id])
            if excess is not None:
                raise BeyondCapacityError(bot, excess)
        with ExitStack() as places:
            for bot in bots.values():
                if not places.enter_context(self.place(bot.id, match_id, bot.capacity.concurrent)):
                    raise BeyondCapacityError(bot, full(bot.capacity))
            yield frozenset(
                bot.id for bot in bots.values() if bot.capacity.accepts_at_once and players[bot.id] is not None
            )

    def place(
        self, player: str, match_id: str, maximum: int, playing: Callable[[], Collection[str]] | None = None
    ) -> AbstractContextManager[bool]:
        """Take one of ``maximum`` places of ``player`` for the match of the block; yields False when all are taken.

        ``playing`` returns the matches with a place, all that are played without it. An error frees it, unless the
        match may exist.
        """

        def projected(matches: Sequence[str]) -> list[str]:
            summaries = zip(matches, self._readmodels.projected(matches), strict=True)
            return [match for match, summary in summaries if summary is not None]

        counted = playing or partial(self._readmodels.matches_of, player, ("active", "invited"))
        return self._places.hold(player, match_id, maximum, projected=projected, counted=counted)

    @contextmanager
    def joining_place(self, state: MatchState, person: Person) -> Iterator[None]:
        """Take the place of ``person``, if it is a bot, in a match that it joins. Raises BeyondCapacityError."""
        seat = state.seat_of(person.id)
        if person.kind != "bot" or (seat is not None and state.seats[seat].joined):
            yield
            return
        proposal = ProposedMatch(state.game, state.setup, state.rated, state.private, state.terms)
        with self.places(state.match_id, proposal, {person.id: None}):
            yield
