"""Commands that run: everything at once, the relay alone, the demonstration."""

import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import click

from deploy.cli.arguments import Refusal, var_option
from deploy.cli.printing import OUT, Printer

PORT = click.IntRange(1, 65535)


@click.command()
@click.option("--port", type=PORT, default=8000, show_default=True, help="Pages and API.")
@click.option("--stream-port", type=PORT, default=8001, show_default=True, help="Live updates.")
@click.option("--server-port", type=PORT, default=6479, show_default=True, help="Embedded server, without REDIS_URL.")
@click.option("--bind", default="127.0.0.1", show_default=True, help="Address to listen on.")
@var_option
@click.option("--opponents", type=click.IntRange(1), default=max((os.cpu_count() or 1) // 2, 1), show_default=True)
@click.option(
    "--fsync",
    type=click.Choice(["always", "everysec"]),
    default="always",
    show_default=True,
    help="When the embedded server has a write on the disk: before it is acknowledged, or within about a second.",
)
@click.option("--accept-loss", is_flag=True, help="Start although events that were on the disk are missing.")
def up(
    port: int,
    stream_port: int,
    server_port: int,
    bind: str,
    var: Path,
    opponents: int,
    fsync: str,
    accept_loss: bool,
) -> None:
    """Start everything here and keep it running until Ctrl-C.

    Matches are kept below the directory --var. --opponents is how many processors may think for the opponents.
    """
    from deploy.local.installation import Installation, InstallationError
    from deploy.local.ports import Ports

    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)
    printer = Printer()
    try:
        ports = Ports(port, stream_port, server_port)
        say = printer.say
        house = Installation(var, ports, bind, opponents, on_message=say, fsync=fsync, accept_loss=accept_loss)
        say(f"Starting Rookery on {house.var}", OUT)
        if fsync == "everysec":
            say("--fsync everysec: a power cut may cost what was played in about the last second")
        house.start()
    except InstallationError as error:
        printer.close()
        raise Refusal(str(error)) from error
    except KeyboardInterrupt:
        say("Stopped while starting.", OUT)
        printer.close()
        return
    try:
        say(boxed([f"Rookery is ready:  {house.url}", f"Logs: {house.var / 'log'}   Ctrl-C stops it"]), OUT)
        house.wait()
    except KeyboardInterrupt:
        pass
    except InstallationError as error:
        raise Refusal(str(error)) from error
    finally:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        say("\nStopping.", OUT)
        house.stop()
        say("Stopped; everything is kept.", OUT)
        printer.close()


@click.command()
@click.option("--seed", type=int, default=1, show_default=True, help="Decides the moves of the demonstration.")
def demo(seed: int) -> None:
    """Play two whole matches over HTTP on a temporary installation."""
    from deploy.local.demo import DemonstrationFailed, demonstrate
    from deploy.local.installation import InstallationError

    try:
        demonstrate(seed, click.echo)
    except (DemonstrationFailed, InstallationError) as error:
        raise Refusal(f"The demonstration failed: {error}") from error


@click.command()
def relay() -> None:
    """Carry what happens from the feed to read models and workers, and keep the clocks, until SIGTERM."""
    from events.runtime.logs import configure
    from events.runtime.settings import Settings
    from workers.relay import Relay

    configure()
    stop, carrier = threading.Event(), Relay(Settings.from_environment())
    _on_signals(lambda: stop.set())
    carrier.run(stop)


@click.command()
@click.argument("queues", nargs=-1, required=True)
@click.option("--processes", type=click.IntRange(1), help="Take tasks in processes of their own, this many.")
def work(queues: tuple[str, ...], processes: int | None) -> None:
    """Do the tasks of QUEUES until SIGTERM: default, opponents-quick, opponents.

    A task in a process of its own is ended when it takes too long.
    """
    from events.runtime.queues import Queue
    from events.runtime.settings import Settings
    from workers.celery_app import run_worker

    unknown = [queue for queue in queues if queue not in list(Queue)]
    if unknown:
        raise click.BadParameter(f"there is no queue {unknown[0]!r}, only {', '.join(Queue)}", param_hint="QUEUES")
    raise SystemExit(run_worker(Settings.from_environment(), [Queue(queue) for queue in queues], processes))


def boxed(lines: list[str]) -> str:
    """Return ``lines`` in a frame."""
    width = max(map(len, lines))
    inner = [f"│  {line:<{width}}  │" for line in lines]
    return "\n".join(["╭" + "─" * (width + 4) + "╮", *inner, "╰" + "─" * (width + 4) + "╯"])


def _on_signals(react: Callable[[], None]) -> None:
    def reaction(_: int, __: FrameType | None) -> None:
        react()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, reaction)
