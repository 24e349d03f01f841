"""Fleet jobs: slices are done once, in stages, by whichever worker lives, or the job fails with a sentence."""

from collections import Counter
from collections.abc import Sequence
from random import Random
from typing import Any, NamedTuple

import pytest
from kombu.exceptions import OperationalError

from domain.match.commands import Resign
from events.matches import fleet_jobs
from events.runtime.connections import StoreClient
from events.runtime.errors import StoreUnavailableError
from events.runtime.keys import FleetKeys
from tests.support.fleet import run_here, slice_worker
from tests.support.stepped_installation import PREFIX, SteppedInstallation
from workers.fleet import audit, rebuild, verify, work
from workers.fleet.audit import RECOMPUTE
from workers.fleet.kinds import AUDIT, IMPACT, KINDS, REBUILD, VERIFY, JobKind, make_work
from workers.fleet.work import FleetJobFailedError, do_unrecorded

TOY = "toy"


class Doubled(NamedTuple):
    number: int = 0


class KilledError(BaseException):
    """Ends a worker as SIGKILL does: nothing after it happens."""


class Toy:
    """A kind of job that remembers what was done; what is in ``failures`` is raised instead of doing it."""

    def __init__(self) -> None:
        self.done: list[int] = []
        self.failures: dict[int, list[BaseException]] = {}

    def plan(self, parameters: fleet_jobs.Parameters) -> list[list[fleet_jobs.PlannedSlice]]:
        return [
            [fleet_jobs.PlannedSlice(number, 1, f"the number {number}") for number in numbers]
            for numbers in parameters["stages"]
        ]

    def do(self, _: fleet_jobs.Parameters, number: int) -> Doubled:
        if self.failures.get(number):
            raise self.failures[number].pop()
        self.done.append(number)
        return Doubled(2 * number)


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> Toy:
    toy = Toy()
    monkeypatch.setitem(KINDS, TOY, JobKind(lambda _: toy, Doubled))
    return toy


def stages(*numbers: Sequence[int]) -> dict[str, Any]:
    return {"stages": [list(stage) for stage in numbers]}


def jobs_of(shop: SteppedInstallation, lease_ms: int = 10_000) -> fleet_jobs.FleetJobs:
    """Return the fleet jobs of ``shop``, whose leases are so long."""
    shop.parts.fleet_jobs = jobs = fleet_jobs.FleetJobs(shop.client, PREFIX)
    jobs.work.lease_ms = lease_ms
    return jobs


def planned(
    shop: SteppedInstallation, *numbers: Sequence[int], lease_ms: int = 10_000
) -> tuple[fleet_jobs.FleetJobs, fleet_jobs.FleetJob]:
    jobs = jobs_of(shop, lease_ms)
    job = jobs.start(TOY, stages(*numbers))
    slice_worker(shop.parts).do_slice(claimed(jobs, job))
    return jobs, again(jobs, job)


def claimed(jobs: fleet_jobs.FleetJobs, job: fleet_jobs.FleetJob) -> fleet_jobs.ClaimedSlice:
    found = jobs.claim(job)
    assert found is not None
    return found


def again(jobs: fleet_jobs.FleetJobs, job: fleet_jobs.FleetJob) -> fleet_jobs.FleetJob:
    found = jobs.job(job.id)
    assert found is not None
    return found


def test_one_job_of_a_kind_with_the_same_parameters_runs_at_a_time(shop: SteppedInstallation, toy: Toy) -> None:
    jobs = shop.parts.fleet_jobs
    first = jobs.start(TOY, stages([1]))
    assert jobs.start(TOY, stages([1])) == first == jobs.find_running(TOY, stages([1]))
    other = jobs.start(TOY, stages([2]))
    assert other.id != first.id
    # Both may have begun in the same millisecond, which leaves their order open.
    assert sorted(job.id for job in jobs.jobs()) == sorted((first.id, other.id))
    assert run_here(shop.parts, TOY, stages([1])) == [Doubled(2)]
    assert jobs.find_running(TOY, stages([1])) is None
    assert jobs.start(TOY, stages([1])).id != first.id


def test_a_name_whose_job_is_lost_does_not_keep_another_from_starting(shop: SteppedInstallation, toy: Toy) -> None:
    jobs = shop.parts.fleet_jobs
    lost = jobs.start(TOY, stages([1]))
    shop.client.delete(FleetKeys(PREFIX).job(lost.id))
    assert jobs.start(TOY, stages([1])).id != lost.id


def test_a_stage_begins_when_the_one_before_is_done(shop: SteppedInstallation, toy: Toy) -> None:
    jobs, job = planned(shop, [1, 2], [], [3])
    first, second = claimed(jobs, job), claimed(jobs, job)
    assert (first.content, second.content, jobs.claim(job)) == (1, 2, None)
    assert not jobs.is_waiting(again(jobs, job))
    assert not slice_worker(shop.parts).do_slice(second)
    assert jobs.claim(job) is None
    assert slice_worker(shop.parts).do_slice(first)
    assert jobs.is_waiting(again(jobs, job))
    assert claimed(jobs, job).content == 3
    assert (again(jobs, job).units, again(jobs, job).units_done) == (3, 2)


def test_a_job_without_slices_is_finished_when_it_is_planned(shop: SteppedInstallation, toy: Toy) -> None:
    assert run_here(shop.parts, TOY, stages()) == []
    (job,) = shop.parts.fleet_jobs.jobs()
    assert (job.state, job.slices, job.done) == (fleet_jobs.JobState.FINISHED, 1, 1)


def test_a_slice_that_two_workers_do_counts_once(shop: SteppedInstallation, toy: Toy) -> None:
    jobs, job = planned(shop, [1], lease_ms=0)
    slow, other = claimed(jobs, job), claimed(jobs, job)
    assert (slow.number, other.number) == (1, 1)
    assert not jobs.renew(slow)
    slice_worker(shop.parts).do_slice(slow)
    assert (again(jobs, job).done, list(jobs.results(job.id))) == (1, [])
    slice_worker(shop.parts).do_slice(other)
    slice_worker(shop.parts).do_slice(other)
    assert (again(jobs, job).done, again(jobs, job).units_done) == (2, 1)
    assert toy.done == [1, 1, 1]


def test_a_plan_that_two_workers_make_counts_once(shop: SteppedInstallation, toy: Toy) -> None:
    jobs = jobs_of(shop, 0)
    job = jobs.start(TOY, stages([1, 2]))
    slow, other = claimed(jobs, job), claimed(jobs, job)
    slice_worker(shop.parts).do_slice(other)
    slice_worker(shop.parts).do_slice(slow)
    assert (again(jobs, job).slices, again(jobs, job).units) == (3, 2)


def test_a_slice_that_kills_its_workers_fails_the_job_and_says_where(shop: SteppedInstallation, toy: Toy) -> None:
    jobs_of(shop, 0)
    toy.failures[2] = [KilledError() for _ in range(fleet_jobs.MAX_CLAIMS)]
    for _ in range(fleet_jobs.MAX_CLAIMS):
        with pytest.raises(KilledError):
            run_here(shop.parts, TOY, stages([1, 2, 3]))
    with pytest.raises(FleetJobFailedError, match="workers were killed 3 times in a row at the number 2"):
        run_here(shop.parts, TOY, stages([1, 2, 3]))
    assert toy.done == [1, 3]
    assert shop.parts.fleet_jobs.running() == []


def test_a_slice_that_fails_is_tried_again_and_then_fails_the_job(shop: SteppedInstallation, toy: Toy) -> None:
    toy.failures[1] = [ValueError("passing")]
    assert run_here(shop.parts, TOY, stages([1])) == [Doubled(2)]
    toy.failures[2] = [ValueError("it is even") for _ in range(fleet_jobs.MAX_CLAIMS)]
    with pytest.raises(FleetJobFailedError, match="has failed: the number 2: ValueError: it is even"):
        run_here(shop.parts, TOY, stages([2]))


def test_a_plan_that_fails_fails_the_job(shop: SteppedInstallation, toy: Toy) -> None:
    with pytest.raises(FleetJobFailedError, match="has failed: its plan: KeyError: 'stages'"):
        run_here(shop.parts, TOY, {})


def test_a_store_that_is_away_is_no_failure_of_the_slice(shop: SteppedInstallation, toy: Toy) -> None:
    jobs, job = planned(shop, [1])
    for _ in range(fleet_jobs.MAX_CLAIMS + 1):
        toy.failures[1] = [StoreUnavailableError("away")]
        with pytest.raises(StoreUnavailableError):
            slice_worker(shop.parts).do_slice(claimed(jobs, job))
    slice_worker(shop.parts).do_slice(claimed(jobs, job))
    assert again(jobs, job).state == fleet_jobs.JobState.FINISHED


def test_a_job_that_is_cancelled_goes_no_further(shop: SteppedInstallation, toy: Toy) -> None:
    jobs, job = planned(shop, [1, 2])
    taken = claimed(jobs, job)
    assert jobs.cancel(job)
    assert not jobs.cancel(job)
    assert not slice_worker(shop.parts).do_slice(taken)
    assert (jobs.claim(job), list(jobs.results(job.id))) == (None, [])
    assert again(jobs, job).state == fleet_jobs.JobState.CANCELLED
    assert jobs.start(TOY, stages([1, 2])).id != job.id


def test_what_is_left_of_a_job_expires_when_it_has_ended(shop: SteppedInstallation, toy: Toy) -> None:
    def lifetimes() -> set[int]:
        return {int(shop.client.ttl(key)) for key in shop.client.scan_iter(f"{PREFIX}{{fleet}}:*:*")}

    jobs, job = planned(shop, [1])
    assert lifetimes() == {-1}
    slice_worker(shop.parts).do_slice(claimed(jobs, job))
    assert lifetimes() <= {fleet_jobs.KEPT_S, fleet_jobs.KEPT_S - 1}
    shop.client.delete(FleetKeys(PREFIX).job(job.id))
    assert jobs.jobs() == []
    assert not shop.client.exists(FleetKeys(PREFIX).jobs)


def test_results_are_read_in_order_up_to_the_first_that_is_missing(shop: SteppedInstallation, toy: Toy) -> None:
    jobs, job = planned(shop, range(1, 251))
    first = claimed(jobs, job)
    for _ in range(249):
        slice_worker(shop.parts).do_slice(claimed(jobs, job))
    assert list(jobs.results(job.id)) == []
    slice_worker(shop.parts).do_slice(first)
    assert [number for number, _ in jobs.results(job.id)] == list(range(1, 251))
    assert [number for number, _ in jobs.results(job.id, after=249)] == [250]


def test_a_task_lets_the_next_idle_worker_join_and_begin_a_stage(shop: SteppedInstallation, toy: Toy) -> None:
    jobs, requested = shop.parts.fleet_jobs, list[str]()
    job = jobs.start(TOY, stages([1, 2, 3], [4]))
    assert slice_worker(shop.parts).do_slices(job.id, "one", requested.append, lambda: False) == 5
    assert requested == [job.id] * 2  # for the stages; while it was planned there was nothing for anybody else
    assert slice_worker(shop.parts).do_slices(job.id, "two", requested.append, lambda: False) == 0
    _, job = planned(shop, [5, 6])
    assert slice_worker(shop.parts).do_slices(job.id, "one", requested.append, lambda: bool(toy.done[4:])) == 1
    assert requested == [job.id] * 3 or requested[2:] == [job.id]


def test_a_broker_that_is_away_is_no_failure_of_the_slices(shop: SteppedInstallation, toy: Toy) -> None:
    def request(_: str) -> None:
        raise OperationalError("the broker is away")

    jobs = jobs_of(shop)
    job = jobs.start(TOY, stages([1, 2], [3]))
    assert slice_worker(shop.parts).do_slices(job.id, "one", request, lambda: False) == 4
    assert toy.done == [1, 2, 3]


def test_a_relay_begins_abandoned_stages(shop: SteppedInstallation, toy: Toy, monkeypatch: pytest.MonkeyPatch) -> None:
    jobs, job = planned(shop, [1], [2])
    with monkeypatch.context() as killed:
        killed.setattr(jobs, "advance", lambda _: False)
        slice_worker(shop.parts).do_slice(claimed(jobs, job))
        assert jobs.claim(job) is None
    jobs.advance_running()
    assert claimed(jobs, job).content == 2


def test_workers_are_known_while_they_report(shop: SteppedInstallation) -> None:
    jobs = shop.parts.fleet_jobs
    for name in ("one", "two", "one"):
        jobs.report_worker(name)
    assert jobs.count_workers() == 2
    jobs.forget_worker("one")
    assert jobs.count_workers() == 1
    shop.client.zadd(FleetKeys(PREFIX).workers, {"two": 1})
    assert jobs.count_workers() == 0


def small_store(shop: SteppedInstallation) -> None:
    """Store some matches, one of them damaged, and project them."""
    for number in range(12):
        match_id = shop.start("alice", "bob")
        shop.play(match_id, 2 + number % 3, seed=number)
        if number % 4 == 0:
            shop.do(match_id, Resign(player="alice"), "alice")
    shop.project_all()
    shop.rate_all()
    bad = shop.start("alice", "carol")
    shop.client.xdel(f"{PREFIX}{{s{shop.keys.shard_of(bad):02d}}}:m:{bad}:e", "2-0")


@pytest.mark.parametrize("seed", [1, 2])
def test_kills_leave_the_same_results(shop: SteppedInstallation, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    for module in (rebuild, audit, verify):
        monkeypatch.setattr(module, "MATCHES_PER_SLICE", 2)
    small_store(shop)
    asked: list[tuple[str, fleet_jobs.Parameters]] = [(AUDIT, {RECOMPUTE: True}), (VERIFY, {}), (REBUILD, {})]
    asked.append((IMPACT, {"game": "bashni", "old": 1, "new": 2}))
    expected = [run_here(shop.parts, *each) for each in asked]
    grown = shop.dump()
    jobs, chance, kills = jobs_of(shop, 0), Random(seed), Counter[tuple[str, int]]()
    for each, results in zip(asked, expected, strict=True):
        late: dict[int, fleet_jobs.ClaimedSlice] = {}
        job = jobs.start(*each)
        while (job := again(jobs, job)).state == fleet_jobs.JobState.RUNNING:
            taken = claimed(jobs, job)
            if chance.random() < 0.3 and kills[taken.kind, taken.number] < fleet_jobs.MAX_CLAIMS - 1:
                kills[taken.kind, taken.number] += 1
                if not taken.is_plan:
                    late[taken.number] = taken
                continue
            slice_worker(shop.parts).do_slice(taken)
            if taken.number in late:
                # It was not killed, only slow, and another worker has done its slice.
                assert not slice_worker(shop.parts).do_slice(late.pop(taken.number))
        assert (job.state, job.reason) == (fleet_jobs.JobState.FINISHED, "")
        assert [result for _, result in work.read_results(jobs, job)] == results
    assert kills.total() >= 8
    assert shop.dump() == grown


def test_what_cannot_be_recorded_is_done_all_the_same(shop: SteppedInstallation) -> None:
    small_store(shop)
    recorded = run_here(shop.parts, VERIFY, {})
    before = set(shop.client.keys("*"))
    total, slices = do_unrecorded(make_work(shop.parts, VERIFY), {})
    assert (total, [result for _, result in slices]) == (13, recorded)
    assert set(shop.client.keys("*")) == before


def test_every_key_of_a_script_is_of_the_fleet(redis: StoreClient, shop: SteppedInstallation, toy: Toy) -> None:
    run_here(shop.parts, TOY, stages([1, 2], [3]))
    names = {name.decode() for name in redis.scan_iter(f"{PREFIX}*")}
    others = {name for name in names if not name.startswith((f"{PREFIX}{{fleet}}:", f"{PREFIX}rookery"))}
    assert {name for name in others if not name.endswith(":sequence")} == set()
