"""The fleet check: every match of a store replayed, in parallel processes, a match at a time in memory."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

from deploy.parallel import in_batches
from events.chain import linked
from events.clock import rfc3339
from events.envelope import Envelope
from events.proof.audit import audit
from events.proof.checkpoint_log import CheckpointLog
from events.settings import Settings
from events.store import EMPTY, DamagedStream, EventStore, Head
from events.store_clock import MAX_CLOCK_DIFFERENCE_MS

MATCHES_AT_ONCE = 10


class Finding(NamedTuple):
    """What is wrong with a match, at a version."""

    match: str
    version: int
    reason: str


class Examined(NamedTuple):
    """What was examined: so many matches, events, plies, and answers of opponents that were computed again.

    ``uncomputable`` are answers of opponents of another engine; ``findings`` is what is wrong.
    """

    matches: int = 0
    events: int = 0
    plies: int = 0
    computed: int = 0
    uncomputable: int = 0
    findings: tuple[Finding, ...] = ()

    def plus(self, other: "Examined") -> "Examined":
        """Return both together."""
        return Examined(
            self.matches + other.matches,
            self.events + other.events,
            self.plies + other.plies,
            self.computed + other.computed,
            self.uncomputable + other.uncomputable,
            self.findings + other.findings,
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
    """Return what was found in the matches ``names``."""
    total = Examined()
    for match in names:
        total = total.plus(examine(store, match, recompute, present))
    return total


def examine(store: EventStore, match: str, recompute: bool, present: int | None = None) -> Examined:
    """Return what was found in one match: its chain, its replay, its opponents' moves if they are to be computed."""
    found = Examined(matches=1)
    head, at = EMPTY, 0
    try:
        opened = store.open(match)
        for record in audit(match, linked(match, opened.events)):
            event, ply, fault = record.envelope, record.ply, record.fault
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
    except DamagedStream as damage:
        return found._replace(findings=(Finding(match, damage.version, damage.reason),))
    if head == EMPTY == opened.head:
        return found._replace(findings=(Finding(match, 1, "the store lists it, but it has no events"),))
    if opened.head != head:
        return found._replace(findings=(Finding(match, opened.head.version, "the head is not that of the last event"),))
    if present is not None and at > present + MAX_CLOCK_DIFFERENCE_MS:
        reason = f"it is dated in the future, at {rfc3339(at)}: see rookery clocks"
        return found._replace(findings=(Finding(match, head.version, reason),))
    return found


def examine_log(store: EventStore, log: CheckpointLog) -> tuple[int, list[Finding]]:
    """Return the number of heads in the log of checkpoints, and those that the matches do not have any more."""
    findings, leaves = [], 0
    for match, version, digest in log.leaves():
        leaves += 1
        try:
            events: list[Envelope] = store.read(match, version - 1, 1)
        except DamagedStream as damage:
            findings.append(Finding(match, version, damage.reason))
            continue
        if not events or events[0].id != digest:
            findings.append(Finding(match, version, f"a checkpoint has it with the digest {digest}"))
    return leaves, findings
