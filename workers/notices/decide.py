"""From events to notices: what the consumer of the group ``notices`` does about a match.

What follows depends on where the match stands now and is idempotent by fact and person, so that events may be delivered
late, twice and in any order.
"""

from collections.abc import Callable
from dataclasses import replace

from domain.match.state import MatchState
from events.installation import Installation
from events.notices import policy
from events.notices.facts import Fact, Happened, chat_fact, facts_of, reminder_of, turn_of
from events.notices.looks import MarkedChat, Reminder
from events.notices.notice import notice_id
from events.people.person import Person
from events.store.codec import event_of
from workers.notices.reach import circumstances_of

TAIL = 12
"""The last events of a match, in which the beginning of a turn is looked for."""

MAX_SPAN = 200
"""Deliveries that lie further back are read apart from the last events."""

GUEST = "guest"


class Decider:
    """Decides what people are told, and writes it into the ledger. Safe to share between threads.

    ``wake`` is called when something is to be sent at once. Methods raise StoreUnavailableError and what
    ``Matches.load`` raises.
    """

    def __init__(self, installation: Installation, wake: Callable[[], object] = lambda: None) -> None:
        self._parts = installation
        self._wake = wake

    def look_at_match(self, match_id: str, versions: set[int]) -> None:
        """Tell what the events of a match at ``versions`` say, and what awaits its players."""
        loaded = self._parts.matches.load_at_least(match_id, max(versions))
        state = self._parts.timekeeper.with_availability(loaded.state)
        events = self._events(state, versions)
        for fact in facts_of(state, events, min(versions)):
            self.tell(fact)
        # Also of a turn that its player has begun, and again whenever something may have moved the deadline.
        turn = turn_of(state)
        if turn is not None:
            self._plan_reminder(state, turn)

    def look_at_reminder(self, reminder: Reminder) -> None:
        """Remind a player whose time is running out, later if the deadline has moved, or not at all."""
        now = self._parts.now()
        state = self._parts.timekeeper.with_availability(self._parts.matches.load(reminder.match).state)
        fact = reminder_of(state, now)
        if fact is not None and reminder.player in fact.players and self._plan_reminder(state, fact):
            self.tell(fact)
        # Crash-safe: it goes last, and only if it was not replaced; looked at twice it tells nothing new.
        self._parts.looks.end_reminder(reminder)

    def look_at_chat(self, match_id: str) -> None:
        """Tell the players of a match of the messages that others have sent since the chat was marked."""
        chats, looks, now = self._parts.chats, self._parts.looks, self._parts.now()
        marked = looks.begin_chat(match_id, chats.length(match_id))
        if marked is None:
            return
        for fact in self._chat_facts(marked):
            self.tell(fact)
        # Crash-safe: repeated after a kill it names the same messages, of which people are told once.
        looks.end_chat(marked, now)

    def tell(self, fact: Fact) -> None:
        """Decide about ``fact`` for each of its players, unless that was done before."""
        known = self._parts.people.persons(fact.players)
        for player in fact.players:
            person = known.get(player)
            if person is not None and not self._parts.ledger.is_decided(player, notice_id(fact.name, player)):
                self._decide(fact, person)

    def _decide(self, fact: Fact, person: Person) -> None:
        now = self._parts.now()
        circumstances = circumstances_of(self._parts, person.id, fact.match, now)
        if now - fact.at > policy.MAX_AGE_MS:
            circumstances = replace(circumstances, outage_ms=self._outage_ms(fact.at, now))
        if person.kind == GUEST and not circumstances.reach.any:
            return  # guests have no way to be told, and no ledger of it
        decision = policy.decide(fact, person.id, circumstances)
        if decision is None:
            return
        self._parts.ledger.decide(decision.notice, digest=decision.digest)
        if any(each.due is not None and each.due <= now for each in decision.notice.deliveries):
            self._wake()

    def _outage_ms(self, since: int, until: int) -> int:
        """Return for how long the clocks were not kept between two instants: nobody could be told then, either."""
        lengths = (min(each.until, until) - max(each.since, since) for each in self._parts.heartbeat.outages())
        return sum(max(0, length) for length in lengths)

    def _plan_reminder(self, state: MatchState, turn: Fact) -> bool:
        """Let the player of ``turn`` be reminded later, if at all; return whether it is time now instead."""
        (player,), clock = turn.players, state.clock
        if clock is None or turn.deadline is None:
            return False
        before_h = self._parts.preferences.read(player).remind_before_h
        at = policy.reminder_at(clock.since, turn.deadline, before_h)
        if at is None or at <= self._parts.now():
            return at is not None
        self._parts.looks.remind(state.match_id, player, at)
        return False

    def _events(self, state: MatchState, versions: set[int]) -> list[Happened]:
        """Return the last events of a match, and those at ``versions``."""
        first, tail = min(versions), max(1, state.version - TAIL + 1)
        found = []
        if first < tail - MAX_SPAN:
            found = self._parts.store.read(state.match_id, first - 1, min(max(versions), tail - 1) - first + 1)
            first = tail
        found += self._parts.store.read(state.match_id, min(first, tail) - 1)
        return [Happened(each.version, each.actor, event_of(each)) for each in found if each.version <= state.version]

    def _chat_facts(self, marked: MarkedChat) -> list[Fact]:
        loaded = self._parts.matches.load(marked.match)
        messages = self._parts.chats.read(marked.match, marked.after, marked.until - marked.after)
        hidden = self._parts.reports.hidden(marked.match)
        facts = []
        for seat in loaded.state.seats:
            if seat.player is None or not seat.joined or seat.level is not None:
                continue
            silenced = self._parts.blocks.of(seat.player)
            heard = [
                each
                for each in messages
                if each.author != seat.player and each.author not in silenced and each.number not in hidden
            ]
            if heard:
                facts.append(chat_fact(loaded.state, marked.after + 1, seat.player, heard[-1].at))
        return facts
