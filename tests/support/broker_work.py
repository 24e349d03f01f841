"""Tasks of every kind of worker, done over a real broker by a real worker."""

from domain.match.commands import Resign
from events.matches.fleet_jobs import JobState
from events.matches.jobs import BUNDLE
from events.proof.checkpoints import day_of
from events.runtime.settings import Settings
from events.runtime.wall_clock import now_ms
from tests.support.celery_worker import CeleryWorker
from tests.support.eventually import eventually
from tests.support.relays import running
from tests.support.stepped_installation import SteppedInstallation
from workers.composition import make_task_queue
from workers.fleet.kinds import VERIFY
from workers.relay import Relay


def check_tasks_over(shop: SteppedInstallation, settings: Settings) -> None:
    """Let an opponent answer, a result be rated, a job, a fleet job and a checkpoint be done, over one broker."""
    shop.now = now_ms()  # the clock of the worker
    with running(Relay(settings)), CeleryWorker(settings):
        match = shop.start("opponent-1", "alice")
        eventually(lambda: len(shop.state(match).play.moves) == 1, "the answer of the opponent")
        shop.play(match, 1)
        eventually(lambda: len(shop.state(match).play.moves) == 3, "the next answer")
        shop.do(match, Resign(player="alice"), "alice")
        assert shop.parts.jobs.request(match, BUNDLE, shop.state(match).version, requester="alice", cost=1)
        job = shop.parts.fleet_jobs.start(VERIFY, {})
        tasks = make_task_queue(shop.parts)
        tasks.request_jobs()
        tasks.request_slices(job.id)
        eventually(lambda: shop.readmodels.rating_change(match), "the rating")
        eventually(lambda: shop.parts.jobs.pending(match) is None, "the bundle")
        eventually(lambda: finished(shop, job.id), "the fleet job")
        eventually(lambda: shop.checkpoints.latest(), "the checkpoint")
    assert [event.data["ply"] for event in shop.store.read(match) if event.type == "move-submitted"] == [1, 2, 3]
    assert shop.checkpoints.latest().day == day_of(now_ms())


def finished(shop: SteppedInstallation, job_id: str) -> bool:
    job = shop.parts.fleet_jobs.job(job_id)
    return job is not None and job.state == JobState.FINISHED
