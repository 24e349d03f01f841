"""Single parts of an installation: the relay, a worker."""

import signal
import threading
from pathlib import Path

import click

from deploy.cli.alive import heartbeat_option, keep_beats
from deploy.cli.target import refuse_other_kinds
from events.runtime import tracing
from events.runtime.connections import connect
from events.runtime.logs import configure
from events.runtime.queues import Queue
from events.runtime.settings import Settings
from workers.relay import Relay
from workers.worker import run_worker


@click.command()
@heartbeat_option
def relay(heartbeat: Path | None) -> None:
    """Carry events from the feed to read models and workers, and keep the clocks, until SIGTERM."""
    configure()
    keep_beats(heartbeat)
    settings = Settings.from_environment()
    refuse_other_kinds(connect(settings.redis_url))
    stop, carrier = threading.Event(), Relay(settings)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    tracing.start(settings.otlp_url, "relay")
    try:
        carrier.run(stop)
    finally:
        tracing.stop()


@click.command()
@click.argument("queues", nargs=-1, required=True)
@click.option("--processes", type=click.IntRange(1), help="Run tasks in this many processes of their own.")
@heartbeat_option
def work(queues: tuple[str, ...], processes: int | None, heartbeat: Path | None) -> None:
    """Run the tasks of QUEUES until SIGTERM.

    QUEUES are some of default, notices, opponents-quick, opponents, opponents-long, fleet. A task in a process of its
    own is killed when it takes too long.
    """
    unknown = [queue for queue in queues if queue not in list(Queue)]
    if unknown:
        raise click.BadParameter(f"there is no queue {unknown[0]!r}, only {', '.join(Queue)}", param_hint="QUEUES")
    keep_beats(heartbeat)
    settings = Settings.from_environment()
    refuse_other_kinds(connect(settings.redis_url))
    raise SystemExit(run_worker(settings, [Queue(queue) for queue in queues], processes))
