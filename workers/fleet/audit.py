"""The audit of all matches: each is replayed, one match at a time in memory."""

from collections.abc import Iterator, Sequence
from operator import add
from typing import NamedTuple

from domain.match.authority import Authority
from events.contests.audit import audit_contest
from events.matches.fleet_jobs import Parameters, PlannedSlice
from events.people.accounts import People
from events.people.administration import is_administrative
from events.people.statements import Statements
from events.proof.administration_audit import RecordedAct, recorded_act
from events.proof.audit import audit
from events.runtime.errors import StoreUnavailableError
from events.runtime.wall_clock import rfc3339
from events.store.chain import verified_events
from events.store.contract import EMPTY, DamagedStreamError, EventStore, Head, Opened
from events.store.envelope import Envelope
from events.store.kinds import is_match
from events.store.time import MAX_CLOCK_DIFFERENCE_MS, StoreClock
from workers.fleet.matches import slice_store

MATCHES_PER_SLICE = 50
MATCHES_PER_RECOMPUTATION = 5
"""Of which the moves of opponents are recomputed: each takes as long as it took to play it."""

RECOMPUTE = "recompute"


class MatchFault(NamedTuple):
    """A fault of a match at a version; 0 when the version is not known."""

    match: str
    version: int
    reason: str

    @property
    def place(self) -> str:
        """The match and the version."""
        return f"{self.match} at version {self.version}" if self.version else self.match


class Audited(NamedTuple):
    """Audited matches, events, plies and recomputed moves, those by other engines, faults, and acts of arbiters."""

    matches: int = 0
    events: int = 0
    plies: int = 0
    recomputed: int = 0
    uncomputable: int = 0
    findings: tuple[MatchFault, ...] = ()
    acts: tuple[RecordedAct, ...] = ()

    def plus(self, other: "Audited") -> "Audited":
        """Return the sum of both."""
        return Audited(*map(add, self, other))


class Audit(NamedTuple):
    """The audit of matches and of the texts that their events name, none of the future. Crash-safe: it only reads."""

    store: EventStore
    clock: StoreClock
    statements: Statements
    people: People

    def plan(self, parameters: Parameters) -> list[list[PlannedSlice]]:
        """Return slices of all matches."""
        size = MATCHES_PER_RECOMPUTATION if parameters[RECOMPUTE] else MATCHES_PER_SLICE
        return [slice_store(self.store, size)]

    def do(self, parameters: Parameters, match_ids: Sequence[str]) -> Audited:
        """Audit matches."""
        total = Audited()
        for match_id in match_ids:
            opened = open_match(self.store, match_id)
            total = total.plus(audit_opened(match_id, opened, parameters[RECOMPUTE], self.clock.store_now()))
            if isinstance(opened, Opened):
                texts = tuple(self._text_findings(match_id, opened.events))
                total = total._replace(findings=(*total.findings, *texts))
        return total

    def _text_findings(self, match_id: str, events: Sequence[Envelope]) -> Iterator[MatchFault]:
        try:
            for fault in self.statements.faults(match_id, events, self.people.persons):
                yield MatchFault(match_id, fault.version, f"{fault.member}: {fault.reason}")
        except StoreUnavailableError:
            raise
        except Exception as error:
            yield MatchFault(match_id, 0, f"the texts of its cases cannot be read: {error}")


def open_match(store: EventStore, match_id: str) -> Opened | MatchFault:
    """Return a match, or why it cannot be read."""
    try:
        return store.open(match_id)
    except StoreUnavailableError:
        raise
    except DamagedStreamError as damage:
        return MatchFault(match_id, damage.version, damage.reason)
    except Exception as error:
        # A key of another type, bytes that are not a number: whatever it is, the other matches are audited.
        return MatchFault(match_id, 0, f"it cannot be read: {error}")


def audit_opened(match_id: str, opened: Opened | MatchFault, recompute: bool, now: int) -> Audited:
    """Return the result for one match: its hash chain, its replay, its head and the time of its last event."""
    result, head, at = Audited(matches=1), EMPTY, 0
    if isinstance(opened, MatchFault):
        return result._replace(findings=(opened,))
    finding = None
    try:
        for progress in _replay(match_id, opened.events, recompute):
            result, head, at = progress
            if result.findings:
                return result
    except DamagedStreamError as damage:
        return result._replace(findings=(MatchFault(match_id, damage.version, damage.reason),))
    except Exception as error:
        # Whatever the rules do with the stored events: the other matches are audited.
        return result._replace(findings=(MatchFault(match_id, 0, f"it cannot be read: {error}"),))
    if head == EMPTY == opened.head:
        finding = MatchFault(match_id, 1, "the store lists it, but it has no events")
    elif opened.head != head:
        finding = MatchFault(match_id, opened.head.version, "the head is not that of the last event")
    elif at > now + MAX_CLOCK_DIFFERENCE_MS:
        finding = MatchFault(match_id, head.version, f"it is dated in the future, at {rfc3339(at)}: see rookery clocks")
    return result if finding is None else result._replace(findings=(finding,))


def _replay(match_id: str, events: Sequence[Envelope], recompute: bool) -> Iterator[tuple[Audited, Head, int]]:
    """Yield the result so far, the computed head and the time after each event. Raises DamagedStreamError."""
    result = Audited(matches=1)
    if not is_match(match_id):
        for event, fault in audit_contest(match_id, verified_events(match_id, events)):
            findings = () if fault is None else (MatchFault(match_id, event.version, fault),)
            result = result._replace(events=result.events + 1, findings=findings)
            yield result, Head(event.version, event.digest), event.at
        return
    for record in audit(match_id, verified_events(match_id, events), authority=Authority(match_id)):
        event, fault, answer = record.envelope, record.objection, record.answer
        if is_administrative(event):
            result = result._replace(acts=(*result.acts, recorded_act(event)))
        if answer is not None:
            fault = fault or answer.wrong_seed()
            result = result._replace(uncomputable=result.uncomputable + (not answer.computable))
            if recompute and answer.computable and fault is None:
                fault = answer.recompute()
                result = result._replace(recomputed=result.recomputed + 1)
        result = result._replace(events=result.events + 1, plies=result.plies + (record.ply is not None))
        if fault is not None:
            result = result._replace(findings=(MatchFault(match_id, event.version, fault),))
        yield result, Head(event.version, event.digest), event.at
