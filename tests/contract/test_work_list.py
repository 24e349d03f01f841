"""The laws of the work list: nothing is lost, nothing is claimed twice within a lease, claims are fair by owner."""

from collections import Counter
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from events.runtime.connections import StoreClient
from events.runtime.keys import WorkListKeys
from events.runtime.wall_clock import now_ms
from events.runtime.work_list import LEASE_MS, Claim, Repeats, WorkList
from tests.support.eventually import eventually
from tests.support.matches import T0

SHARDS = 3
LANES = ("quick", "slow")


class Clock:
    def __init__(self) -> None:
        self.now = T0

    def __call__(self) -> int:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def make_list(client: StoreClient, clock: Clock | None, shards: int = SHARDS) -> WorkList:
    keys = [WorkListKeys("test:", f"t{shard}", "work") for shard in range(shards)]
    return WorkList(client, keys, clock)


@pytest.fixture
def work(redis: StoreClient, clock: Clock) -> WorkList:
    return make_list(redis, clock, shards=1)


def add(work: WorkList, id: str, owner: str = "anna", due: int = T0, **facts: Any) -> bool:
    return work.add(id, owner, due, **{"lane": "slow", **facts})


def claim(work: WorkList) -> Claim:
    claimed = work.claim()
    assert claimed is not None
    return claimed


def empty(client: StoreClient) -> None:
    for server in client.servers():
        server.flushdb()


def served(work: WorkList) -> list[str]:
    """Claim all that is due; return the ids in order."""
    return [claimed.id for claimed in iter(work.claim, None)]


def test_an_entry_is_claimed_when_due_and_gone_when_finished(redis: StoreClient, work: WorkList, clock: Clock) -> None:
    assert add(work, "e", due=T0 + 5, content="told")
    assert not add(work, "e", due=T0, content="other")
    assert (work.claim(), work.next_due()) == (None, {"slow": T0 + 5})
    clock.now += 5
    claimed = claim(work)
    assert (claimed.id, claimed.owner, claimed.content, claimed.due, claimed.attempts) == (
        "e", "anna", "told", T0 + 5, 1,
    )  # fmt: skip
    assert work.claim() is None
    assert work.finish(claimed)
    assert not work.finish(claimed)
    assert list(redis.scan_iter()) == []


def test_the_entry_of_a_killed_worker_is_claimed_again_within_a_minute(work: WorkList, clock: Clock) -> None:
    assert LEASE_MS <= 60_000
    add(work, "e")
    first = claim(work)
    clock.now += LEASE_MS - 1
    assert work.claim() is None
    assert work.count(clock.now) == {"slow": 1}, "it counts as due all the time"
    clock.now += 1
    second = claim(work)
    assert (second.id, second.due, second.attempts) == ("e", T0, 2)
    assert not work.renew(first)
    assert not work.postpone(first, T0)
    assert not work.finish(first)
    assert work.finish(second)


def test_longer_work_renews_its_lease(work: WorkList, clock: Clock) -> None:
    add(work, "e")
    claimed = claim(work)
    for _ in range(3):
        clock.now += LEASE_MS - 1
        assert work.claim() is None
        assert work.renew(claimed)


def test_what_is_postponed_is_due_later_perhaps_in_another_lane(work: WorkList, clock: Clock) -> None:
    add(work, "e")
    assert work.postpone(claim(work), T0 + 9, tried=False, lane="quick")
    assert work.claim() is None
    clock.now += 9
    assert work.claim(["slow"]) is None
    claimed = work.claim(["quick"])
    assert claimed is not None
    assert (claimed.due, claimed.attempts) == (T0 + 9, 1)


def test_an_entry_that_is_added_again_while_it_is_claimed_is_due_again_afterwards(work: WorkList, clock: Clock) -> None:
    add(work, "e", content="first")
    claimed = claim(work)
    assert not add(work, "e", content="not wanted")
    assert add(work, "e", content="second", repeats=Repeats.AGAIN)
    assert add(work, "e", due=T0 + 3, content="third", repeats=Repeats.MOVED)
    assert work.finish(claimed)
    assert work.claim() is None
    clock.now += 3
    again = claim(work)
    assert (again.content, again.attempts) == ("second", 1)


def test_an_entry_that_waits_is_moved_only_on_request(work: WorkList) -> None:
    add(work, "e", due=T0 + 5)
    assert not add(work, "e", due=T0 + 9, repeats=Repeats.AGAIN)
    assert work.next_due() == {"slow": T0 + 5}
    add(work, "e", due=T0 + 9, repeats=Repeats.MOVED)
    assert work.next_due() == {"slow": T0 + 9}


def test_who_has_one_entry_waits_for_one_of_somebody_who_has_a_hundred(work: WorkList) -> None:
    for number in range(100):
        add(work, f"many-{number:03}")
    assert claim(work).id == "many-000"
    add(work, "one", "boris")
    assert claim(work).id == "one"
    assert served(work) == [f"many-{number:03}" for number in range(1, 100)]


def test_turns_that_were_not_taken_are_not_saved_up(work: WorkList) -> None:
    add(work, "kept", "clara", due=T0 + 1)
    for number in range(50):
        add(work, f"first-{number}")
        work.finish(claim(work))
    add(work, "busy")
    for number in range(50):
        add(work, f"late-{number}", "boris")
    assert "busy" in served(work)[:2]


def test_the_entries_of_an_owner_can_be_read_and_discarded(redis: StoreClient, work: WorkList) -> None:
    add(work, "a", content="x")
    add(work, "b", lane="quick")
    add(work, "c", "boris")
    claim(work)
    assert work.contents("anna") == {"a": "x", "b": ""}
    assert work.entry_content("anna", "a") == "x"
    work.discard("anna", ["a"])
    work.discard("anna")
    work.discard("boris")
    assert list(redis.scan_iter()) == []


def test_an_index_without_its_entry_holds_nothing_up(redis: StoreClient, work: WorkList) -> None:
    for id in ("lost", "whole"):
        add(work, id)
    redis.delete(work.keys_of("anna").entry("lost"))
    assert served(work) == ["whole"]
    assert work.count() == {"slow": 1}


def test_without_a_clock_of_its_own_a_list_goes_by_that_of_the_store(redis: StoreClient) -> None:
    work = make_list(redis, None)
    add(work, "now", due=now_ms())
    add(work, "later", due=now_ms() + 3_600_000)
    claimed = eventually(work.claim, "the entry that is due")
    assert claimed.id == "now"
    assert work.claim() is None
    assert claimed.due <= now_ms() < work.next_due()["slow"]


MAX_COST = 50
COSTS = st.lists(st.tuples(st.sampled_from("abc"), st.integers(1, MAX_COST)), min_size=1, max_size=40)


@given(entries=COSTS)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_of_owners_who_wait_none_is_ahead_by_more_than_one(redis: StoreClient, entries: list[tuple[str, int]]) -> None:
    empty(redis)
    work = make_list(redis, Clock(), shards=1)
    waiting: Counter[str] = Counter()
    for number, (owner, cost) in enumerate(entries):
        add(work, f"{number}", owner, cost=cost)
        waiting[owner] += 1
    spent = dict.fromkeys(waiting, 0)
    while claimed := work.claim():
        rivals = [spent[owner] for owner in waiting if waiting[owner]]
        assert spent[claimed.owner] == min(rivals)
        assert max(rivals) - min(rivals) <= MAX_COST
        spent[claimed.owner] += entries[int(claimed.id)][1]
        waiting[claimed.owner] -= 1
    assert not any(waiting.values())


def test_in_no_order_is_an_entry_lost_or_claimed_twice(redis: StoreClient, monkeypatch: pytest.MonkeyPatch) -> None:
    # Which shard is asked first is chance, and Hypothesis repeats its examples.
    monkeypatch.setattr("events.runtime.work_list.secrets.randbelow", lambda _: 0)

    class Model(RuleBasedStateMachine):
        """What is to be done, beside a work list of several shards."""

        def __init__(self) -> None:
            super().__init__()
            empty(redis)
            self.clock = Clock()
            self.work = make_list(redis, self.clock)
            self.due: dict[str, int] = {}
            self.again: dict[str, int] = {}
            self.claims: dict[str, tuple[Claim, int]] = {}

        @rule(
            number=st.integers(0, 5),
            owner=st.sampled_from("ab"),
            lane=st.sampled_from(LANES),
            delay=st.integers(0, 3 * LEASE_MS),
            repeats=st.sampled_from(Repeats),
        )
        def add(self, number: int, owner: str, lane: str, delay: int, repeats: Repeats) -> None:
            id, due = f"{owner}{lane}{number}", self.clock.now + delay
            added = self.work.add(id, owner, due, lane=lane, cost=number + 1, repeats=repeats)
            if id not in self.due:
                assert added
                self.due[id] = due
            elif repeats and id in self.claims:
                assert added
                self.again[id] = due
            elif repeats is Repeats.MOVED:
                self.due[id] = due

        @rule()
        def claim(self) -> None:
            claimed = self.work.claim()
            free = {id for id in self.due if self.free_at(id) <= self.clock.now}
            if claimed is None:
                assert not free
                return
            assert claimed.id in free
            assert claimed.due == self.due[claimed.id]
            if claimed.id in self.claims:
                assert not self.work.finish(self.claims[claimed.id][0]), "who was taken for dead has lost the claim"
            self.claims[claimed.id] = (claimed, self.clock.now + LEASE_MS)

        @precondition(lambda self: self.claims)
        @rule(choice=st.randoms(use_true_random=False), how=st.sampled_from(("finish", "postpone", "renew")))
        def settle(self, choice: Any, how: str) -> None:
            id = choice.choice(sorted(self.claims))
            claimed, _ = self.claims[id]
            if how == "renew":
                assert self.work.renew(claimed)
                self.claims[id] = (claimed, self.clock.now + LEASE_MS)
                return
            del self.claims[id]
            if how == "postpone":
                self.due[id] = self.clock.now + 10
                assert self.work.postpone(claimed, self.due[id])
                return
            assert self.work.finish(claimed)
            del self.due[id]
            if id in self.again:
                self.due[id] = self.again.pop(id)

        @rule(delay=st.integers(1, 2 * LEASE_MS))
        def wait(self, delay: int) -> None:
            self.clock.now += delay

        @invariant()
        def is_complete(self) -> None:
            assert sum(self.work.count().values()) == len(self.due)
            late = sum(due <= self.clock.now for due in self.due.values())
            assert sum(self.work.count(self.clock.now).values()) == late
            earliest = min(map(self.free_at, self.due), default=None)
            assert min(self.work.next_due().values(), default=None) == earliest

        def free_at(self, id: str) -> int:
            return self.claims[id][1] if id in self.claims else self.due[id]

    run_state_machine_as_test(Model)
