"""The fleet check: every match of a store replayed, in parallel processes, a match at a time in memory."""

from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from typing import NamedTuple

from events.chain import linked
from events.envelope import Envelope
from events.proof.audit import audit
from events.proof.checkpoint_log import CheckpointLog
from events.settings import Settings, store_from
from events.store import EMPTY, DamagedStream, EventStore, Head

LEAVES_AT_ONCE = 1000


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


def examine_all(settings: Settings, processes: int, recompute: bool) -> Iterator[Examined]:
    """Yield what was examined, shard by shard. Raises StoreUnavailable."""
    shards = range(store_from(settings).shards)
    if processes == 1:
        yield from (examine_shard(settings, shard, recompute) for shard in shards)
        return
    # A forked child would share the parent's connections and threads.
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        for done in as_completed([pool.submit(examine_shard, settings, shard, recompute) for shard in shards]):
            yield done.result()


def examine_shard(settings: Settings, shard: int, recompute: bool) -> Examined:
    """Return what was found in the matches of one shard."""
    store = store_from(settings)
    total = Examined()
    for match in store.streams(shard):
        total = total.plus(examine(store, match, recompute))
    return total


def examine(store: EventStore, match: str, recompute: bool) -> Examined:
    """Return what was found in one match: its chain, its replay, its opponents' moves if they are to be computed."""
    found = Examined(matches=1)
    head = EMPTY
    try:
        opened = store.open(match)
        for record in audit(match, linked(match, opened.events)):
            event, ply, fault = record.envelope, record.ply, record.fault
            head = Head(event.version, event.digest)
            if (answer := record.answer) is not None:
                found = found._replace(uncomputable=found.uncomputable + (not answer.computable))
                if recompute and answer.computable and fault is None:
                    fault = answer.recompute()
                    found = found._replace(computed=found.computed + 1)
            found = found._replace(events=found.events + 1, plies=found.plies + (ply is not None))
            if fault is not None:
                return found._replace(findings=(Finding(match, event.version, fault),))
    except DamagedStream as damage:
        return found._replace(findings=(Finding(match, damage.version, damage.reason),))
    if opened.head != head:
        return found._replace(findings=(Finding(match, opened.head.version, "the head is not that of the last event"),))
    return found


def examine_log(store: EventStore, log: CheckpointLog) -> tuple[int, list[Finding]]:
    """Return the number of heads in the log of checkpoints, and those that the matches do not have any more."""
    findings, leaves = [], 0
    for match, version, digest in log.leaves():
        leaves += 1
        events: list[Envelope] = store.read(match, version - 1, 1)
        if not events or events[0].id != digest:
            findings.append(Finding(match, version, f"a checkpoint has it with the digest {digest}"))
    return leaves, findings
