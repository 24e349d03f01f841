"""A Celery worker run by this process, without the command line of Celery, which takes longer to load than the rest."""

from collections.abc import Sequence

from celery.utils.nodenames import default_nodename

from events.runtime.queues import Queue
from events.runtime.settings import Settings
from workers.celery_app import app


def run_worker(queues: Sequence[Queue], processes: int | None) -> int:
    """Do the tasks of ``queues`` (of ``Queue``) until SIGTERM; return the exit code.

    With ``processes`` tasks run in that many processes below this one, where they can be ended; else in this one.
    """
    prefix = Settings.from_environment().prefix
    worker = app.Worker(
        hostname=default_nodename(f"{queues[0]}@"),
        queues=[queue.name_in_broker(prefix) for queue in queues],
        pool="solo" if processes is None else "prefork",
        concurrency=processes or 1,
        optimization="fair",
        loglevel="INFO",
        without_gossip=True,
        without_mingle=True,
        without_heartbeat=True,
    )
    worker.start()
    return int(worker.exitcode or 0)
