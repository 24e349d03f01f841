"""The audit of all matches: each is replayed, in parallel processes, one match at a time in memory."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

from domain.match.authority import Authority
from events.people.accounts import People
from events.people.administration import is_administrative
from events.private.statements import Statements
from events.proof.audit import audit
from events.runtime.errors import StoreUnavailableError
from events.runtime.settings import Settings
from events.runtime.wall_clock import now_ms, rfc3339
from events.store.chain import verified_events
from events.store.contract import EMPTY, DamagedStreamError, EventStore, Head
from events.store.envelope import Envelope
from events.store.redis import RedisStore
from events.store.time import MAX_CLOCK_DIFFERENCE_MS
from workers.fleet.batches import run_in_batches

BATCH_SIZE = 10


class Finding(NamedTuple):
    """A fault of a match at a version; 0 when the version is not known."""

    match: str
    version: int
    reason: str

    @property
    def place(self) -> str:
        """The match and the version."""
        return f"{self.match} at version {self.version}" if self.version else self.match


class Audited(NamedTuple):
    """The numbers of matches, events, plies and recomputed moves of opponents that were audited.

    ``uncomputable`` is the number of moves by another engine; ``findings`` are the faults, ``acts`` the events that
    arbiters have caused.
    """

    matches: int = 0
    events: int = 0
    plies: int = 0
    recomputed: int = 0
    uncomputable: int = 0
    findings: tuple[Finding, ...] = ()
    acts: tuple[Envelope, ...] = ()

    def plus(self, other: "Audited") -> "Audited":
        """Return the sum of both."""
        return Audited(
            self.matches + other.matches,
            self.events + other.events,
            self.plies + other.plies,
            self.recomputed + other.recomputed,
            self.uncomputable + other.uncomputable,
            self.findings + other.findings,
            self.acts + other.acts,
        )


def audit_matches(settings: Settings, processes: int, recompute: bool, now: int) -> Iterator[Audited]:
    """Yield the results for all matches of a store, batch by batch, in the order of the store.

    ``recompute`` has the moves of opponents recomputed. ``now`` is the time by the store's clock (milliseconds since
    1970 UTC): no match may be dated later. Raises StoreUnavailableError and ProcessesKilledError.
    """
    return run_in_batches(settings, partial(audit_batch, recompute=recompute, now=now), BATCH_SIZE, processes)


def audit_batch(store: EventStore, match_ids: Sequence[str], recompute: bool, now: int) -> Audited:
    """Return the result for the matches ``match_ids`` and the texts that their events refer to."""
    total = Audited()
    for match_id in match_ids:
        total = total.plus(audit_match(store, match_id, recompute, now))
        if isinstance(store, RedisStore):
            total = total._replace(findings=(*total.findings, *_text_findings(store, match_id)))
    return total


def audit_match(store: EventStore, match_id: str, recompute: bool, now: int | None = None) -> Audited:
    """Return the result for one match: its hash chain, its replay, its head and the time of its last event."""
    result, head, at = Audited(matches=1), EMPTY, 0
    finding = None
    try:
        opened = store.open(match_id)
        for progress in _replay(match_id, opened.events, recompute):
            result, head, at = progress
            if result.findings:
                return result
    except StoreUnavailableError:
        raise
    except DamagedStreamError as damage:
        return result._replace(findings=(Finding(match_id, damage.version, damage.reason),))
    except Exception as error:
        # A key of another type, bytes that are not a number: whatever it is, the other matches are audited.
        return result._replace(findings=(Finding(match_id, 0, f"it cannot be read: {error}"),))
    if head == EMPTY == opened.head:
        finding = Finding(match_id, 1, "the store lists it, but it has no events")
    elif opened.head != head:
        finding = Finding(match_id, opened.head.version, "the head is not that of the last event")
    elif now is not None and at > now + MAX_CLOCK_DIFFERENCE_MS:
        finding = Finding(match_id, head.version, f"it is dated in the future, at {rfc3339(at)}: see rookery clocks")
    return result if finding is None else result._replace(findings=(finding,))


def _replay(match_id: str, events: Sequence[Envelope], recompute: bool) -> Iterator[tuple[Audited, Head, int]]:
    """Yield the result so far, the computed head and the time after each event. Raises DamagedStreamError."""
    result = Audited(matches=1)
    for record in audit(match_id, verified_events(match_id, events), authority=Authority(match_id)):
        event, fault, answer = record.envelope, record.objection, record.answer
        if is_administrative(event):
            result = result._replace(acts=(*result.acts, event))
        if answer is not None:
            fault = fault or answer.wrong_seed()
            result = result._replace(uncomputable=result.uncomputable + (not answer.computable))
            if recompute and answer.computable and fault is None:
                fault = answer.recompute()
                result = result._replace(recomputed=result.recomputed + 1)
        result = result._replace(events=result.events + 1, plies=result.plies + (record.ply is not None))
        if fault is not None:
            result = result._replace(findings=(Finding(match_id, event.version, fault),))
        yield result, Head(event.version, event.digest), event.at


def _text_findings(store: RedisStore, match_id: str) -> Iterator[Finding]:
    statements = Statements(store.client, store.prefix, now_ms)
    people = People(store.client, store.prefix, now_ms)
    try:
        events = store.read(match_id)
    except StoreUnavailableError:
        raise
    except Exception:
        return  # audit_match has found that the match cannot be read
    try:
        for fault in statements.faults(match_id, events, people.persons):
            yield Finding(match_id, fault.version, f"{fault.member}: {fault.reason}")
    except StoreUnavailableError:
        raise
    except Exception as error:
        yield Finding(match_id, 0, f"the texts of its cases cannot be read: {error}")
