"""The fleet check: every match of a store replayed, in parallel processes, a match at a time in memory."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

from domain.match.authority import Authority
from events.people.accounts import People
from events.people.administration import is_administrative
from events.private.statements import Statements
from events.proof.audit import audit
from events.runtime.errors import StoreUnavailable
from events.runtime.settings import Settings
from events.runtime.wall_clock import now_ms, rfc3339
from events.store.chain import verified_events
from events.store.contract import EMPTY, DamagedStream, EventStore, Head
from events.store.envelope import Envelope
from events.store.redis import RedisStore
from events.store.time import MAX_CLOCK_DIFFERENCE_MS
from workers.fleet.batches import in_batches

MATCHES_AT_ONCE = 10


class Finding(NamedTuple):
    """What is wrong with a match, at a version; 0 when it is not known at which."""

    match: str
    version: int
    reason: str

    @property
    def place(self) -> str:
        """The match and the version in words."""
        return f"{self.match} at version {self.version}" if self.version else self.match


class Examined(NamedTuple):
    """What was examined: so many matches, events, plies, and answers of opponents that were computed again.

    ``uncomputable`` are answers of opponents of another engine; ``findings`` is what is wrong, ``acts`` are the events
    that arbiters have caused.
    """

    matches: int = 0
    events: int = 0
    plies: int = 0
    computed: int = 0
    uncomputable: int = 0
    findings: tuple[Finding, ...] = ()
    acts: tuple[Envelope, ...] = ()

    def plus(self, other: "Examined") -> "Examined":
        """Return both together."""
        return Examined(
            self.matches + other.matches,
            self.events + other.events,
            self.plies + other.plies,
            self.computed + other.computed,
            self.uncomputable + other.uncomputable,
            self.findings + other.findings,
            self.acts + other.acts,
        )


def examine_all(settings: Settings, processes: int, recompute: bool, present: int) -> Iterator[Examined]:
    """Yield what was examined, a few matches at a time, in the order of the store.

    ``present`` is the present instant by the store's clock (milliseconds since 1970 UTC): no match may be dated later.
    Raises StoreUnavailable and ProcessesKilled.
    """
    return in_batches(
        settings, partial(examine_matches, recompute=recompute, present=present), MATCHES_AT_ONCE, processes
    )


def examine_matches(store: EventStore, names: Sequence[str], recompute: bool, present: int) -> Examined:
    """Return what was found in the matches ``names``, and in the texts that their events name."""
    total = Examined()
    for match in names:
        total = total.plus(examine(store, match, recompute, present))
        if isinstance(store, RedisStore):
            total = total._replace(findings=(*total.findings, *_text_findings(store, match)))
    return total


def _text_findings(store: RedisStore, match: str) -> Iterator[Finding]:
    statements = Statements(store.client, store.prefix, now_ms)
    people = People(store.client, store.prefix, now_ms)
    try:
        events = store.read(match)
    except StoreUnavailable:
        raise
    except Exception:
        # That the match cannot be read is a finding already.
        return
    try:
        for fault in statements.faults(match, events, people.persons):
            yield Finding(match, fault.version, f"{fault.member}: {fault.reason}")
    except StoreUnavailable:
        raise
    except Exception as error:
        yield Finding(match, 0, f"the texts of its cases cannot be read: {error}")


def examine(store: EventStore, match: str, recompute: bool, present: int | None = None) -> Examined:
    """Return what was found in one match: its chain, its replay, its opponents' moves if they are to be computed."""
    found = Examined(matches=1)
    head, at = EMPTY, 0
    try:
        opened = store.open(match)
        for record in audit(match, verified_events(match, opened.events), authority=Authority(match)):
            event, ply, fault = record.envelope, record.ply, record.objection
            if is_administrative(event):
                found = found._replace(acts=(*found.acts, event))
            head, at = Head(event.version, event.digest), event.at
            if (answer := record.answer) is not None:
                fault = fault or answer.wrong_seed()
                found = found._replace(uncomputable=found.uncomputable + (not answer.computable))
                if recompute and answer.computable and fault is None:
                    fault = answer.recompute()
                    found = found._replace(computed=found.computed + 1)
            found = found._replace(events=found.events + 1, plies=found.plies + (ply is not None))
            if fault is not None:
                return found._replace(findings=(Finding(match, event.version, fault),))
    except StoreUnavailable:
        raise
    except DamagedStream as damage:
        return found._replace(findings=(Finding(match, damage.version, damage.reason),))
    except Exception as error:
        # A key of another type, bytes that are no number: whatever it is, the other matches are examined.
        return found._replace(findings=(Finding(match, 0, f"it cannot be read: {error}"),))
    if head == EMPTY == opened.head:
        return found._replace(findings=(Finding(match, 1, "the store lists it, but it has no events"),))
    if opened.head != head:
        return found._replace(findings=(Finding(match, opened.head.version, "the head is not that of the last event"),))
    if present is not None and at > present + MAX_CLOCK_DIFFERENCE_MS:
        reason = f"it is dated in the future, at {rfc3339(at)}: see rookery clocks"
        return found._replace(findings=(Finding(match, head.version, reason),))
    return found
