"""Single parts of an installation: the relay, a worker."""

import signal
import threading

import click

from events.runtime.logs import configure
from events.runtime.queues import Queue
from events.runtime.settings import Settings
from workers.celery_app import run_worker
from workers.relay import Relay


@click.command()
def relay() -> None:
    """Carry events from the feed to read models and workers, and keep the clocks, until SIGTERM."""
    configure()
    stop, carrier = threading.Event(), Relay(Settings.from_environment())
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    carrier.run(stop)


@click.command()
@click.argument("queues", nargs=-1, required=True)
@click.option("--processes", type=click.IntRange(1), help="Run tasks in this many processes of their own.")
def work(queues: tuple[str, ...], processes: int | None) -> None:
    """Run the tasks of QUEUES until SIGTERM: default, opponents-quick, opponents, notices.

    A task in a process of its own is killed when it takes too long.
    """
    unknown = [queue for queue in queues if queue not in list(Queue)]
    if unknown:
        raise click.BadParameter(f"there is no queue {unknown[0]!r}, only {', '.join(Queue)}", param_hint="QUEUES")
    raise SystemExit(run_worker(Settings.from_environment(), [Queue(queue) for queue in queues], processes))
