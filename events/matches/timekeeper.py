"""The timekeeper: carries out the steps that time makes due in matches (``domain.match.due``).

Crash-safe: each step is computed when due and appended to the version it was computed for, so it does not matter who
settles a match, or how often; of a late move and a flag the first appended counts.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

import structlog

from domain.match import due
from domain.match.clock import counts_from
from domain.match.commands import CallTime, Command
from domain.match.due import MAX_BEAT_GAP_MS, Availability, DueStep, Outage, VacationDue, deadline_of
from domain.match.enums import Status
from domain.match.lines import ConditionalMoves
from domain.match.refusals import CommandError
from domain.match.state import MatchState
from events.matches.matches import Loaded, Matches
from events.matches.outages import Heartbeat
from events.people.availability import (
    AvailabilityStore,
    Change,
    Sync,
    offsets_expire_soon,
    with_automatic_vacation,
    with_fresh_offsets,
)
from events.runtime import beats
from events.runtime.errors import StoreUnavailableError
from events.runtime.reads import Read
from events.store.contract import EventStore, Request, StaleConditionalMovesError, StaleVersionError, VersionTag
from events.store.kinds import only_matches
from events.store.time import MAX_CLOCK_DIFFERENCE_MS

MAX_STEPS = 500
"""In one go; a match that needs more of them is settled further the next time."""

MAX_ATTEMPTS = 20
"""How often a match that others change at the same time is taken up again."""

Plan = Callable[[MatchState, Mapping[str, Availability]], DueStep | VacationDue | None]

log = structlog.get_logger("timekeeper")


class Settled(NamedTuple):
    """The versions of a match ``before`` and ``after`` the steps that were due."""

    before: VersionTag
    after: VersionTag


class Timekeeper:
    """Keeps the time of the matches of one store; ``matches_of`` returns the matches that a player is playing.

    Methods that name a match raise UnknownMatchError, DamagedStreamError, UndecodableEventError, and the errors
    of ``evolve``.
    """

    def __init__(
        self,
        matches: Matches,
        availability_store: AvailabilityStore,
        heartbeat: Heartbeat,
        matches_of: Callable[[str], Iterable[str]],
    ) -> None:
        self._matches = matches
        self._availability_store = availability_store
        self._heartbeat = heartbeat
        self._matches_of = matches_of

    def settle(self, match_id: str, now: int) -> Settled:
        """Append the steps due in the match at ``now`` (``due.next_step``); return the versions before and after."""
        return self._advance(match_id, lambda loaded: self._settle(loaded, now))

    def sync(self, match_id: str, now: int) -> Settled:
        """End the pauses that the players' availability no longer has; return the changes."""
        return self._advance(match_id, lambda loaded: self._sync(loaded, now))

    def record_time(
        self, loaded: Loaded | None, command: Command, now: int, read_before: Mapping[str, Availability]
    ) -> Loaded | None:
        """Record the effects of time on the match before ``command`` counts; return the match after it.

        ``read_before`` is availability from before loading, read again only if there is something to record by it.
        None is a match that does not exist yet. Raises StaleVersionError and StaleConditionalMovesError.
        """
        if loaded is None:
            return None
        if isinstance(command, CallTime) and command.player is not None:
            return self._record_before_claim(loaded, command.player, now)
        player = due.player_to_move(loaded.state)
        if player is None:
            return loaded
        if player in read_before and due.step_before_turn(loaded.state, read_before, now) is None:
            return loaded
        availability = self._availability_store.read([player])
        return self._carry_out(loaded, availability, lambda state, own: due.step_before_turn(state, own, now))

    def _record_before_claim(self, loaded: Loaded, claimant: str, now: int) -> Loaded:
        """Record the steps before ``claimant`` may claim a flag; return the match after it."""
        if not due.can_claim(loaded.state, claimant):
            return loaded
        outages, availability = self._beat(loaded.state, now), self._availability(loaded.state, now)
        return self._carry_out(
            loaded, availability, lambda state, availability: due.step_before_claim(state, outages, availability, now)
        )

    def change(self, player: str, change: Change, now: int) -> Availability:
        """Change the availability of ``player``, let all matches follow, perhaps later, and return it."""
        availability, lane = self._availability_store.change(player, change)
        if lane is not None:
            self.follow_changes(now, lane)
        return availability

    def follow_changes(self, now: int, lane: str | None = None) -> None:
        """Let matches follow all changes, or those of ``lane``. Crash-safe: a change stays until all have followed."""
        while (sync := self._availability_store.claim_sync(lane)) is not None:
            self._follow(sync, now)
            self._availability_store.finish_sync(sync)

    def _follow(self, change: Sync, now: int) -> None:
        for match_id in self._matches_of(change.player):
            beats.beat()
            try:
                self.sync(match_id, now)
                if change.forced:
                    self.apply_preference(match_id, change.player)
            except StoreUnavailableError:
                raise
            except Exception as error:
                # A match that cannot be replayed must not keep the others from following.
                log.error("a match cannot follow", match=match_id, error=str(error))

    def start(self, match_id: str, now: int) -> None:
        """Let a match that has just started follow the availability and preferences of its players."""
        self.sync(match_id, now)
        for player in due.people_playing(self._matches.load(match_id).state):
            self.apply_preference(match_id, player)

    def apply_preference(self, match_id: str, player: str) -> None:
        """Let forced moves be played for ``player`` or not, as preferred, where the terms allow it."""
        wanted = self._availability_store.read([player])[player].plays_forced
        loaded = self._matches.load(match_id)
        seat, terms = loaded.state.seat_of(player), loaded.state.terms
        if seat is None or not due.is_playing(loaded.state) or not terms.lines:
            return
        if loaded.orders.get(seat, ConditionalMoves()).forced != wanted:
            self._matches.lay_down(match_id, player, lambda _, orders: replace(orders, forced=wanted))

    def correct(self, match_id: str, now: int) -> Settled:
        """Date the match's events from now on again where a wrong clock left the future, and end lost outages."""
        outages = self._heartbeat.outages()
        return self._advance(
            match_id,
            lambda loaded: self._carry_out(
                loaded, {}, lambda state, _: due.correction_step(state, outages, now, MAX_CLOCK_DIFFERENCE_MS)
            ),
        )

    def with_availability(self, state: MatchState) -> MatchState:
        """Return ``state`` with all that availability says of its clock, future too, to be shown and never stored."""
        return with_availability(state, self._availability_store.read(due.people_playing(state)))

    def read_of_foreseen(self, state: MatchState) -> Read[MatchState]:
        """Return the read of ``state`` with all that availability says of its clock: see ``with_availability``."""
        read = self._availability_store.read_of(due.people_playing(state))
        return read.then(lambda availability: with_availability(state, availability))

    def read_of_deadlines(self, players: Mapping[str, str]) -> Read[dict[str, int | None]]:
        """Return the read of the deadlines that availability changes, of matches with the player to move."""

        def foresee(availability: Mapping[str, Availability]) -> dict[str, int | None]:
            changed = (
                match for match, player in players.items() if availability[player].calendar or availability[player].book
            )
            return {match: deadline_of(self.with_availability(self._matches.load(match).state)) for match in changed}

        return self._availability_store.read_of(players.values()).then(foresee)

    def _settle(self, loaded: Loaded, now: int) -> Loaded:
        state, unconfirmed = loaded.state, list[Outage]()
        if state.status == Status.OPEN and (deadline := deadline_of(state)) is not None and deadline <= now:
            unconfirmed = self._heartbeat.provisional()
        outages, availability = self._beat(state, now), self._availability(state, now)
        return self._carry_out(
            loaded,
            availability,
            lambda state, availability: due.next_step(state, outages, availability, now, unconfirmed),
        )

    def _sync(self, loaded: Loaded, now: int) -> Loaded:
        availability = self._availability(loaded.state, now)
        return self._carry_out(
            loaded, availability, lambda state, availability: due.sync_step(state, availability, now)
        )

    def _beat(self, state: MatchState, now: int) -> list[Outage]:
        """Record that time is kept, so that a gap which ends now is an outage; return those that may still count."""
        if not due.is_playing(state):
            return []
        return self._heartbeat.beat(now, counts_from(state.clock))

    def _availability(self, state: MatchState, now: int) -> dict[str, Availability]:
        availabilities = self._availability_store.read(due.people_playing(state))
        for player, availability in availabilities.items():
            if offsets_expire_soon(availability, now):
                self._heartbeat.beat(now, now)  # availability must not be changed by a wrong clock
                availabilities[player], _ = self._availability_store.change(
                    player, lambda own: with_fresh_offsets(own, now)
                )
        return availabilities

    def _advance(self, match_id: str, advance: Callable[[Loaded], Loaded]) -> Settled:
        for _ in range(MAX_ATTEMPTS):
            loaded = self._matches.load(match_id)
            try:
                return Settled(loaded.head.tag, advance(loaded).head.tag)
            except (StaleVersionError, StaleConditionalMovesError):
                continue  # a caller who expected the version before is refused: something else has happened
        tag = self._matches.load(match_id).head.tag
        return Settled(tag, tag)

    def _carry_out(self, loaded: Loaded, availability: dict[str, Availability], plan: Plan) -> Loaded:
        """Carry out ``plan`` step by step; raises StaleVersionError and StaleConditionalMovesError."""
        match_id = loaded.state.match_id
        for _ in range(MAX_STEPS):
            step = plan(loaded.state, availability)
            if step is None:
                break
            if isinstance(step, VacationDue):
                availability[step.player] = self._take_vacation(match_id, step)
                continue
            # Two settlements of the same version use the same key: the second finds the events of the first.
            request = Request(f"time:{loaded.head.tag}", "")
            try:
                decided = self._matches.decide(loaded, step.command)
                executed = self._matches.append(match_id, loaded, decided, step.actor, request)
            except CommandError as refusal:
                log.error("refused", match=match_id, version=loaded.head.version, reason=str(refusal))
                break
            if executed.repeated:
                loaded = self._matches.load(match_id)
            elif executed.events:
                loaded = loaded._replace(state=executed.state, head=executed.head)
            else:
                break
        return loaded

    def _take_vacation(self, match_id: str, due: VacationDue) -> Availability:
        # Crash-safe: availability first; the next settlement of the match finds the vacation there.
        availability, lane = self._availability_store.change(
            due.player, lambda own: with_automatic_vacation(own, due.at)
        )
        if lane is not None:
            log.info("automatic vacation", match=match_id, player=due.player, since=due.at)
        return availability


def needs_sync(state: MatchState, availability: Mapping[str, Availability], now: int) -> bool:
    """Return whether ``Timekeeper.sync`` has anything to do in a match, given the availability of its players."""
    return due.sync_step(state, availability, now) is not None or any(
        offsets_expire_soon(own, now) for own in availability.values()
    )


def is_claim(command: Command) -> bool:
    """Tell whether ``command`` claims the flag of another player."""
    return isinstance(command, CallTime) and command.player is not None


class Corrected(NamedTuple):
    """A match that was brought back to the present: its version now, and the digest of its last event (hexadecimal)."""

    match: str
    version: int
    digest: str


def find_future_outages(heartbeat: Heartbeat, now: int) -> list[Outage]:
    """Return the outages that are recorded to end after ``now``, the present instant."""
    return [outage for outage in heartbeat.outages() if outage.until > now + MAX_BEAT_GAP_MS]


def correct_outages(heartbeat: Heartbeat, now: int) -> list[Outage]:
    """Let the outages that are recorded to end after ``now`` end then; return them."""
    outages = find_future_outages(heartbeat, now)
    for outage in outages:
        heartbeat.correct(outage, now)
    return outages


def correct_matches(
    store: EventStore, matches: Matches, timekeeper: Timekeeper, now: Callable[[], int]
) -> Iterator[Corrected]:
    """Yield the matches that had to be brought back to the present, when done; outages come first.

    Raises DamagedStreamError, UndecodableEventError, and the errors of ``evolve``. Crash-safe: each match by itself.
    """
    for match_id in only_matches(store.all_streams()):
        before, after = timekeeper.correct(match_id, now())
        if after != before:
            head = matches.load(match_id).head
            yield Corrected(match_id, head.version, head.digest.hex())


def with_availability(state: MatchState, availability: Mapping[str, Availability]) -> MatchState:
    """Return ``state`` with all that ``availability`` says of its clock, to be shown and never stored."""
    people = due.people_playing(state)
    clock = due.with_availability(state.clock, {seat: availability[player] for player, seat in people.items()})
    return replace(state, clock=clock) if people else state
