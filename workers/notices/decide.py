"""From events to notices: they depend on where a match stands, idempotent by fact and person."""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import structlog
from limits import RateLimitItemPerDay
from limits.strategies import RateLimiter

from domain.match import vacation
from domain.match.events import ClockPaused
from domain.match.state import MatchState
from domain.match.terms import DAY
from domain.match.vacation import year_of
from events.matches.matches import Matches, UnknownMatchError
from events.matches.outages import Heartbeat
from events.matches.readmodels import ReadModels
from events.matches.timekeeper import Timekeeper, with_availability
from events.notify import policy
from events.notify.facts import Fact, Happened, chat_fact, facts_of, reminder_of, turn_of, vacation_fact
from events.notify.ledger import Ledger
from events.notify.notice import NoticeKind, notice_id
from events.notify.preferences import Preferences
from events.notify.scheduled_checks import Check, ScheduledChecks
from events.people.accounts import People
from events.people.person import Person
from events.runtime import beats
from events.runtime.connections import StoreClient
from events.runtime.errors import StoreUnavailableError
from events.runtime.reads import ReadBatch
from events.store.codec import event_of
from events.store.redis import RedisStore
from workers.effects import Delivered
from workers.notices.reach import ChatReader, CircumstancesReader
from workers.retries import DELAYS_MS
from workers.shares import Share
from workers.threads import repeat

GUEST = "guest"
MAX_MAILS_OF_STRANGERS = RateLimitItemPerDay(5)
"""Invitations from people never played with that one person gets a mail of at once; the digest has the others."""


class StrangerLimit(NamedTuple):
    """Counts the invitations from people whom the invited person has never met."""

    matches: Matches
    readmodels: ReadModels
    counters: RateLimiter

    def is_exceeded(self, fact: Fact, player: str) -> bool:
        """Tell whether others whom ``player`` has never met have invited enough today; may count twice."""
        if fact.match is None:
            return False
        inviter = self.matches.load(fact.match).state.creator
        return not self.readmodels.have_met(inviter, player) and not self.counters.hit(
            MAX_MAILS_OF_STRANGERS, "invited", player
        )


class Decider(NamedTuple):
    """Decides about notices to people; ``wake`` is called for those that go at once. Raises as ``Matches.load``."""

    people: People
    ledger: Ledger
    circumstances: CircumstancesReader
    strangers: StrangerLimit
    heartbeat: Heartbeat
    now: Callable[[], int]
    wake: Callable[[], object] = lambda: None

    def tell(self, fact: Fact, persons: Mapping[str, Person] | None = None) -> None:
        """Decide about ``fact`` for each of its players, unless that was done before; ``persons`` if they are read."""
        persons = self.people.persons(fact.players) if persons is None else persons
        for player in fact.players:
            person = persons.get(player)
            if person is not None and not self.ledger.is_decided(player, notice_id(fact.name, player)):
                self._decide(fact, person)

    def is_recent(self, fact: Fact) -> bool:
        """Tell whether people are still told of ``fact``: it is at most a day old, without outages since."""
        age = self.now() - fact.at
        return age <= policy.MAX_AGE_MS or age - self._outage_ms(fact.at, self.now()) <= policy.MAX_AGE_MS

    def _decide(self, fact: Fact, person: Person) -> None:
        now = self.now()
        circumstances = self.circumstances.read(person.id, fact.match, now)
        if now - fact.at > policy.MAX_AGE_MS:
            circumstances = replace(circumstances, outage_ms=self._outage_ms(fact.at, now))
        if person.kind == GUEST and not circumstances.reach.any:
            return  # guests have no way to be told, and no ledger of it
        if fact.kind == NoticeKind.INVITATION and self.strangers.is_exceeded(fact, person.id):
            circumstances = replace(circumstances, many_strangers=True)
        decision = policy.decide(fact, person.id, circumstances)
        if decision is None:
            return
        self.ledger.decide(decision.notice, digest=decision.digest)
        if any(delivery.due is not None and delivery.due <= now for delivery in decision.notice.deliveries):
            self.wake()

    def _outage_ms(self, since: int, until: int) -> int:
        """Return for how long the clocks were not kept between two instants: nobody could be told then, either."""
        lengths = (min(outage.until, until) - max(outage.since, since) for outage in self.heartbeat.outages())
        return sum(max(0, length) for length in lengths)


class MatchObserver(NamedTuple):
    """Lets ``decider`` decide about the events of matches, and about the notices that time makes due in them.

    ``client`` is that of the store. Raises as ``Matches.load``.
    """

    client: StoreClient
    decider: Decider
    matches: Matches
    timekeeper: Timekeeper
    checks: ScheduledChecks
    messages: ChatReader

    def look_at_match(self, delivered: Delivered) -> None:
        """Decide about the events of a match that were delivered, and about the acts that await its players."""
        state, since = with_availability(delivered.loaded.state, delivered.availability()), min(delivered.versions)
        events = [Happened(envelope.version, envelope.actor, event_of(envelope)) for envelope in delivered.events()]
        facts = [*facts_of(state, events, since), *self._vacation_facts(state, events, since)]
        # Also of a turn that its player has begun, and again whenever something may have moved the deadline.
        turn, batch = turn_of(state), ReadBatch(self.client)
        persons = batch.add(self.decider.people.read_of(player for fact in facts for player in fact.players))
        preferences = None if turn is None else batch.add(self.decider.circumstances.preferences.read_of(*turn.players))
        for fact in facts:
            self.decider.tell(fact, persons())
        if turn is not None and preferences is not None:
            self._plan_reminder(state, turn, preferences())

    def look_at_check(self, check: Check) -> None:
        """Carry out a check that was claimed, and finish it. Crash-safe: a repetition tells nothing new."""
        if check.player is not None:
            self._look_at_turn(check.match, check.player)
            self.checks.finish(check)
        else:
            unread = self.checks.unread_messages(check, self.messages.chats.length(check.match))
            for fact in self._chat_facts(check.match, unread):
                self.decider.tell(fact)
            self.checks.finish(check, unread)

    def _look_at_turn(self, match_id: str, player: str) -> None:
        """Remind a player whose time is running out, later if the deadline has moved, or not at all."""
        state = self.timekeeper.with_availability(self.matches.load(match_id).state)
        fact, preferences = reminder_of(state, self.decider.now()), self.decider.circumstances.preferences.read(player)
        if fact is not None and player in fact.players and self._plan_reminder(state, fact, preferences):
            self.decider.tell(fact)

    def _plan_reminder(self, state: MatchState, turn: Fact, preferences: Preferences) -> bool:
        (player,), clock = turn.players, state.clock
        if turn.deadline is None:
            return False
        at = policy.reminder_at(clock.since, turn.deadline, preferences.remind_before_h)
        if at is None or at <= self.decider.now():
            return at is not None
        self.checks.remind(state.match_id, player, at)
        return False

    def _vacation_facts(self, state: MatchState, events: Sequence[Happened], since: int) -> list[Fact]:
        facts = []
        for happened in events:
            event = happened.event
            if happened.version >= since and isinstance(event, ClockPaused) and event.seat is not None:
                player = state.seats[event.seat].player or ""
                left_ms = vacation.left(
                    self.decider.circumstances.availability.read([player])[player].book, year_of(event.since)
                )
                facts.append(vacation_fact(state, happened, left_ms // DAY))
        return [fact for fact in facts if fact is not None]

    def _chat_facts(self, match_id: str, unread: range) -> list[Fact]:
        loaded = self.matches.load(match_id)
        facts = []
        for seat in loaded.state.seats:
            if seat.player is None or not seat.joined or seat.level is not None:
                continue
            heard = self.messages.messages_for(seat.player, match_id, unread.start, len(unread))
            if heard:
                facts.append(chat_fact(loaded.state, unread.start + 1, seat.player, heard[-1].at))
        return facts


ROUND_S = 2.0

log = structlog.get_logger("notices")


class NoticeRounds:
    """Does the checks of notices that time makes due, in the ``share`` of this relay."""

    def __init__(
        self,
        store: RedisStore,
        checks: ScheduledChecks,
        now: Callable[[], int],
        observer: MatchObserver,
        share: Share = lambda: None,
    ) -> None:
        self._store = store
        self._checks = checks
        self._now = now
        self._observer = observer
        self._share = share

    def run(self, stop: threading.Event) -> None:
        """Do rounds until ``stop`` is set, waiting with growing delays for whatever is unavailable."""
        repeat(self.do_round, stop, lambda: None, line="notice-rounds")

    def do_round(self) -> float:
        """Do the checks that are due; return the seconds to the next. Raises ClockMismatchError: nobody hears early."""
        self._store.check_clock()
        shards = self._share()
        while (check := self._checks.take(shards)) is not None:
            beats.beat()
            self._carry_out(check)
        return ROUND_S

    def _carry_out(self, check: Check) -> None:
        try:
            self._observer.look_at_check(check)
        except StoreUnavailableError:
            raise
        except UnknownMatchError:
            self._checks.finish(check)
        except Exception as error:
            # A match that cannot be read must not keep others from being told, and is tried less and less often.
            log.error("a match cannot be looked at", match=check.match, error=str(error))
            self._checks.work.postpone(check.claim, self._now() + int(DELAYS_MS.after(check.claim.attempts)))
