"""Whatever is done to a store, in whatever order, it agrees with a model that fits on a page."""

from collections.abc import Callable
from itertools import count
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from events.runtime.connections import StoreClient
from events.store.contract import EMPTY, EventStore, Head, Request, RequestMismatchError, StaleVersionError
from events.store.redis import RedisStore
from tests.support.chains import verify_all
from tests.support.drafts import draft
from tests.support.draws import draws
from tests.support.memory_store import MemoryStore

EXAMPLES = draws(25, stateful_step_count=25, suppress_health_check=list(HealthCheck))
SHARDS = 2
STREAMS = ("a", "b", "c", "d")
KEYS = ("k1", "k2", "k3", "k4")


class Write(NamedTuple):
    """What an append that went through wrote."""

    fingerprint: str
    events: list[str]
    head: Head


class StoreModel(RuleBasedStateMachine):
    """The model: a list of writes per stream, what each request wrote, the order per shard, deadlines, snapshots."""

    store: EventStore

    def __init__(self) -> None:
        super().__init__()
        self.heads: dict[str, list[Head]] = {stream: [EMPTY] for stream in STREAMS}
        self.ids: dict[str, list[str]] = {stream: [] for stream in STREAMS}
        self.requests: dict[tuple[str, str], Write] = {}
        self.feeds: list[list[tuple[int, str, int]]] = [[] for _ in range(SHARDS)]
        self.deadlines: dict[str, int] = {}
        self.snapshots: dict[str, int] = {}
        self.numbers = count(1)

    @rule(
        stream=st.sampled_from(STREAMS),
        key=st.sampled_from(KEYS),
        fingerprint=st.sampled_from(("f", "f", "f", "g")),
        behind=st.sampled_from((0, 0, 0, 1, 2)),
        size=st.integers(1, 3),
        deadline=st.none() | st.integers(1, 50),
    )
    def append(self, stream: str, key: str, fingerprint: str, behind: int, size: int, deadline: int | None) -> None:
        """Append after the head or after an earlier one, with a new request or a known one."""
        heads = self.heads[stream]
        expected = heads[max(0, len(heads) - 1 - behind)]
        drafts = [draft(next(self.numbers)) for _ in range(size)]

        def attempt() -> None:
            appended = self.store.append(stream, expected, drafts, Request(key, fingerprint), deadline=deadline)
            known = self.requests.get((stream, key))
            if known is not None:
                assert appended.repeated
                assert ([event.id for event in appended.events], appended.head) == (known.events, known.head)
                return
            assert not appended.repeated
            assert [event.draft for event in appended.events] == drafts
            self.record(stream, Write(fingerprint, [event.id for event in appended.events], appended.head), key)
            self.deadlines.pop(stream, None)
            if deadline is not None:
                self.deadlines[stream] = deadline

        known = self.requests.get((stream, key))
        if known is not None and known.fingerprint != fingerprint:
            with pytest.raises(RequestMismatchError):
                attempt()
        elif known is None and expected != heads[-1]:
            with pytest.raises(StaleVersionError) as stale:
                attempt()
            assert stale.value.current == heads[-1].tag
        else:
            attempt()

    def record(self, stream: str, write: Write, key: str) -> None:
        """Note an append that went through."""
        feed = self.feeds[self.store.shard_of(stream)]
        for event in write.events:
            self.ids[stream].append(event)
            feed.append((len(feed) + 1, stream, len(self.ids[stream])))
        self.heads[stream].append(write.head)
        self.requests[stream, key] = write

    @precondition(lambda self: any(self.ids.values()))
    @rule(stream=st.sampled_from(STREAMS), back=st.integers(0, 3))
    def save_snapshot(self, stream: str, back: int) -> None:
        """Keep a snapshot of the present or of an earlier version."""
        version = len(self.ids[stream]) - back
        if version > 0:
            self.store.save_snapshot(stream, version, {"version": version})
            self.snapshots[stream] = max(self.snapshots.get(stream, 0), version)

    @rule(stream=st.sampled_from(STREAMS), after=st.integers(0, 6), limit=st.none() | st.integers(1, 4))
    def read(self, stream: str, after: int, limit: int | None) -> None:
        wanted = self.ids[stream][after:][:limit]
        assert [event.id for event in self.store.read(stream, after, limit)] == wanted

    @rule(stream=st.sampled_from(STREAMS), key=st.sampled_from(KEYS))
    def open(self, stream: str, key: str) -> None:
        known = self.requests.get((stream, key))
        opened = self.store.open(stream, None, Request(key, known.fingerprint if known else "f"))
        start = self.snapshots.get(stream, 0)
        assert opened.snapshot == ({"version": start} if start else None)
        assert [event.id for event in opened.events] == self.ids[stream][start:]
        assert opened.head == self.heads[stream][-1]
        assert opened.recorded_request == (
            None if known is None else (known.head.version - len(known.events) + 1, known.head.version)
        )

    @invariant()
    def everything_agrees(self) -> None:
        for shard in range(SHARDS):
            assert self.store.feed(shard) == self.feeds[shard]
            firsts = [stream for _, stream, version in self.feeds[shard] if version == 1]
            assert list(self.store.streams(shard)) == firsts
        due = sorted((at, stream) for stream, at in self.deadlines.items() if at <= 30)
        assert self.store.due(30) == [(stream, at) for at, stream in due]

    def teardown(self) -> None:
        assert verify_all(self.store) == []


def tried(make_store: Callable[[], EventStore]) -> int:
    """Run the machine on stores of a kind and return how many were tried."""
    made = []

    class Machine(StoreModel):
        def __init__(self) -> None:
            super().__init__()
            self.store = make_store()
            made.append(self.store)

    run_state_machine_as_test(Machine, settings=EXAMPLES)
    return len(made)


@pytest.mark.sampled
def test_the_store_in_memory_agrees_with_the_model() -> None:
    assert tried(lambda: MemoryStore(SHARDS)) >= EXAMPLES.max_examples


@pytest.mark.sampled
def test_the_store_on_redis_agrees_with_the_model(redis: StoreClient) -> None:
    prefixes = (f"model-{number}:" for number in count())
    assert tried(lambda: RedisStore(redis, next(prefixes), SHARDS)) >= EXAMPLES.max_examples
