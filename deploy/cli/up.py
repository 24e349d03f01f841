"""Running an installation on this machine."""

import os
import signal
import sys
from pathlib import Path
from queue import Full, Queue
from threading import Thread

import click

from deploy.cli.output import CliError
from deploy.local.compiled import find_build, has_builds
from deploy.local.embedded import ALWAYS, EVERYSEC
from deploy.local.installation import InstallationError, LocalInstallation
from deploy.local.ports import Ports
from domain.build import COMPILED

MAX_QUEUED_LINES = 1000
CLOSE_TIMEOUT_S = 2.0
OUT, ERR = 1, 2


class Printer:
    """Prints lines from a thread of its own. Lines that cannot be printed are counted and reported later."""

    def __init__(self) -> None:
        self._queue: Queue[tuple[int, str]] = Queue(MAX_QUEUED_LINES)
        self._lost = 0
        self._thread = Thread(target=self._print_all, name="printer", daemon=True)
        self._thread.start()

    def print(self, text: str, descriptor: int = ERR) -> None:
        """Queue ``text`` to be printed as a line; never raises and never waits."""
        try:
            self._queue.put_nowait((descriptor, text))
        except Full:
            self._lost += 1

    def close(self) -> None:
        """Print the queued lines, as far as that takes no longer than CLOSE_TIMEOUT_S."""
        self.print("", -1)
        self._thread.join(CLOSE_TIMEOUT_S)

    def _print_all(self) -> None:
        while True:
            descriptor, text = self._queue.get()
            if descriptor < 0:
                return
            lost, self._lost = self._lost, 0
            if lost:
                text = f"({lost} lines could not be printed)\n{text}"
            try:
                _write(descriptor, f"{text}\n".encode(sys.stdout.encoding or "utf-8", "replace"))
            except OSError:
                self._lost += lost + 1


def _write(descriptor: int, content: bytes) -> None:
    while content:
        content = content[os.write(descriptor, content) :]


PORT = click.IntRange(1, 65535)


@click.command()
@click.option("--port", type=PORT, default=8000, show_default=True, help="Pages and API.")
@click.option("--stream-port", type=PORT, default=8001, show_default=True, help="Live updates.")
@click.option("--server-port", type=PORT, default=6479, show_default=True, help="Embedded server, without REDIS_URL.")
@click.option("--mail-port", type=PORT, default=8025, show_default=True, help="Incoming mail, where mail is set.")
@click.option("--bind", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--var",
    type=click.Path(file_okay=False, path_type=Path),
    default="var",
    show_default=True,
    help="Directory for everything persistent.",
)
@click.option("--opponents", type=click.IntRange(1), default=max((os.cpu_count() or 1) // 2, 1), show_default=True)
@click.option(
    "--fsync",
    type=click.Choice([ALWAYS, EVERYSEC]),
    default=ALWAYS,
    show_default=True,
    help="When the embedded server flushes a write: before acknowledging it, or within about a second.",
)
@click.option("--accept-loss", is_flag=True, help="Start although events that were on the disk are missing.")
def up(  # noqa: PLR0913
    port: int,
    stream_port: int,
    server_port: int,
    mail_port: int,
    bind: str,
    var: Path,
    opponents: int,
    fsync: str,
    accept_loss: bool,
) -> None:
    """Start everything here and keep it running until Ctrl-C.

    Matches are stored below the directory --var. --opponents is the number of processes that search for the opponents'
    moves.
    """
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)
    printer = Printer()
    try:
        ports = Ports(port, stream_port, server_port, mail_port)
        installation = LocalInstallation(
            var, ports, bind, opponents, on_message=printer.print, fsync=fsync, accept_loss=accept_loss
        )
        installation.compiled = find_build()
        printer.print(f"Starting Rookery on {installation.var}", OUT)
        printer.print(describe_build(installation.compiled), OUT)
        if installation.settings.mail is None:
            printer.print(
                "No mail is set, so nobody is told by mail: ROOKERY_SMTP_URL and ROOKERY_MAIL_DOMAIN set it.", OUT
            )
        if fsync == EVERYSEC:
            printer.print("--fsync everysec: a power cut may cost what was played in about the last second")
        installation.start()
        _run(installation, printer)
    except InstallationError as error:
        raise CliError(str(error)) from error
    except KeyboardInterrupt:
        printer.print("Stopped while starting.", OUT)
    finally:
        printer.close()


def describe_build(build: Path | None) -> str:
    """Return a line that says whether the opponents search in compiled code, and how to get it."""
    if build is not None or COMPILED:
        return "The opponents search in compiled code."
    stale = "; what was compiled is of other sources" if has_builds() else ""
    return f"The opponents search in plain Python{stale}: `make compile` makes them several times as fast."


def _run(installation: LocalInstallation, printer: Printer) -> None:
    """Keep ``installation`` running until it is interrupted or fails, then stop it. Raises InstallationError."""
    try:
        logs = f"Logs: {installation.var / 'log'}   Ctrl-C stops it"
        printer.print(draw_box([f"Rookery is ready:  {installation.url}", logs]), OUT)
        installation.wait()
    except KeyboardInterrupt:
        pass
    finally:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        printer.print("\nStopping.", OUT)
        installation.stop()
        printer.print("Stopped; all matches are stored.", OUT)


def draw_box(lines: list[str]) -> str:
    """Return ``lines`` in a box."""
    width = max(map(len, lines))
    inner = [f"│  {line:<{width}}  │" for line in lines]
    return "\n".join(["╭" + "─" * (width + 4) + "╮", *inner, "╰" + "─" * (width + 4) + "╯"])
