"""Everything that is stored about a person: where it is, and how it is erased.

Streams carry opaque ids and stay, with administrative acts, results and ratings. All that is erased is beside them.
"""

from contextlib import suppress
from functools import partial
from typing import NamedTuple

import structlog

from domain.match.commands import AbortMatch, Command, Resign
from domain.match.enums import Channel, Status
from domain.match.lines import ConditionalMoves
from domain.match.refusals import CommandError
from events.installation import Installation
from events.notify.letters import asker
from events.people.person import Person, UnknownPersonError
from events.runtime import beats
from events.runtime.errors import StoreUnavailableError
from events.store.contract import DamagedStreamError, EventStore, Request
from events.store.envelope import Envelope

MAX_MATCHES_PER_REQUEST = 40
MAX_RECORDS_PER_REQUEST = 1200
"""Of events, messages and entries of the log of administration: a person with more takes too long for a request."""

MAX_WEBHOOKS_PER_REQUEST = 25
"""Of webhooks that were sent: each may have 20 kB."""

log = structlog.get_logger("personal")


def continue_erasures(parts: Installation) -> None:
    """Take the next step of erasures that are not complete, and discard texts that no event names."""
    parts.rewriting.follow_up(partial(forget, parts))
    parts.statements.discard_unnamed(partial(_read_events, parts.store))


def _read_events(store: EventStore, match_id: str) -> list[Envelope] | None:
    try:
        return store.read(match_id)
    except DamagedStreamError:
        return None


def takes_long(parts: Installation, person: Person) -> bool:
    """Tell whether so much is stored about ``person`` that collecting or erasing it is no work for a request."""
    match_ids = list(parts.readmodels.matches_of(person.id))
    chats = parts.chats.matches_of(person.id)
    if max(len(match_ids), len(chats)) > MAX_MATCHES_PER_REQUEST:
        return True
    if parts.endpoints.count_attempts(person.id) > MAX_WEBHOOKS_PER_REQUEST:
        return True
    try:
        events = sum(head.version for head in parts.store.heads(match_ids))
    except DamagedStreamError:
        return True
    messages = sum(parts.chats.length(match_id) for match_id in chats)
    return events + messages + parts.administration.last().version > MAX_RECORDS_PER_REQUEST


class Erased(NamedTuple):
    """The fate of the store's files (one of ``rewriting.FILES``), and whether a relay does the rest."""

    files: str
    deferred: bool


def erase(parts: Installation, person: Person) -> Erased:
    """Take ``person`` out of all matches that are not over, and delete everything that is stored about them.

    When that ``takes_long``, a relay does the rest. Raises UnknownPersonError. Crash-safe: repeated after a kill, by
    request or by a relay from the note made first; the account goes last.
    """
    if not parts.people.begin_erasure(person):
        raise UnknownPersonError(person.id)
    parts.rewriting.note(person.id)
    deferred = takes_long(parts, person)
    if deferred:
        _erase_resets(parts, person)
        # With the account gone nothing can be done in the person's name before a relay does the rest.
        parts.people.erase(person)
    else:
        forget(parts, person.id)
    # Once more: the remains of requests still under way are erased some time after the account is gone.
    return Erased(parts.rewriting.note(person.id), deferred)


def forget(parts: Installation, person_id: str) -> None:
    """Carry out the erasure of a person, or the rest of it."""
    person = parts.people.person(person_id) or Person(person_id, "", "person", 0)
    for match_id in parts.readmodels.matches_of(person_id):
        beats.beat()
        try:
            _leave(parts, match_id, person_id)
        except StoreUnavailableError:
            raise
        except Exception as error:
            # A match that cannot be read, or is not there any more, must not keep anybody from being erased.
            log.error("a match cannot be left", match=match_id, error=str(error))
    for contests in (parts.seeks, parts.tournaments):
        contests.erase(person_id)
    for own in (parts.jobs, parts.subscriptions, parts.feed_addresses, parts.chats, parts.reports):
        own.erase(person_id)
    for kept in (parts.blocks, parts.follows, parts.player_keys, parts.statements):
        kept.erase(person_id)
    for role in parts.administration.roles_of(person_id):
        parts.administration.revoke(person_id, role, person_id)
    for beside in (parts.endpoints, parts.checks, parts.notebooks, parts.puzzle_attempts):
        beside.erase(person_id)
    _erase_resets(parts, person)
    parts.addresses.erase(person_id)
    for notices in (parts.outbox, parts.ledger, parts.preferences, parts.presence):
        notices.erase(person_id)
    parts.availability.erase(person_id)
    parts.inbox.erase(person_id)
    parts.administration.record("person-erased", person_id, {"person": person_id}, f"erased:{person_id}")
    if person.name:
        parts.people.erase(person)


def _erase_resets(parts: Installation, person: Person) -> None:
    stored = parts.addresses.read(person.id)
    for asked in filter(None, (person.name, stored.address, stored.wanted)):
        parts.outbox.erase(asker(asked))


def _leave(parts: Installation, match_id: str, person_id: str) -> None:
    loaded = parts.matches.load(match_id)
    state, seat = loaded.state, loaded.state.seat_of(person_id)
    if seat in loaded.orders:
        parts.matches.lay_down(match_id, person_id, lambda *_: ConditionalMoves())
    if state.ended:
        return
    command: Command = AbortMatch(player=person_id)
    if state.status != Status.OPEN:
        command = Resign(player=person_id, channel=Channel.ERASURE)
    try:
        parts.match_service.execute(match_id, command, person_id, Request(f"erasure:{person_id}", ""))
    except CommandError:
        # Broken, or left already: time or an arbiter will end it without the person.
        return


MAX_GUEST_IDLE_MS = 30 * 24 * 3600 * 1000
"""Time after the arrival, or after the last event of an unfinished match."""

MAX_GUESTS_PER_ROUND = 20


def expire_guests(parts: Installation, now: int) -> int:
    """Erase guests who have been idle for too long, as they could erase themselves; return how many.

    Crash-safe: a guest is taken off the list when the erasure is done.
    """
    people, erased = parts.people, 0
    for _ in range(MAX_GUESTS_PER_ROUND):
        claim = people.guests.claim()
        if claim is None:
            break
        person = people.person(claim.id)
        if person is not None and person.kind == "guest":
            idle_at = _idle_at(parts, person)
            if idle_at is not None and idle_at > now:
                people.guests.postpone(claim, idle_at)
                continue
            if idle_at is not None:
                with suppress(UnknownPersonError):  # signed up in the meantime, or erased on request
                    erase(parts, person)
                    log.info("guest expired", person=person.id)
                    erased += 1
        people.guests.finish(claim)
    return erased


def _idle_at(parts: Installation, guest: Person) -> int | None:
    """Return the instant from which on the guest is idle for too long; None for one who has finished a match."""
    last = guest.created_at
    for projected in parts.readmodels.projected(parts.readmodels.matches_of(guest.id)):
        if projected is not None:
            if projected.summary.status == Status.FINISHED:
                return None
            last = max(last, projected.summary.updated_at)
    return last + MAX_GUEST_IDLE_MS
