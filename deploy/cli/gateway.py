"""Incoming mail: the gateway that takes it, and mail to the postmaster."""

import asyncio
import signal
import ssl
from pathlib import Path

import click

from api.mail.gateway import Gateway, Listening
from api.mail.reception import Reception
from deploy.cli.alive import heartbeat_option, keep_beats
from deploy.cli.output import CliError
from deploy.cli.target import open_installation, target_options
from events.installation import Installation
from events.runtime import tracing
from events.runtime.logs import configure
from events.runtime.settings import Settings
from events.runtime.wall_clock import rfc3339

PORT = 8025
_FILE = click.Path(dir_okay=False, exists=True, path_type=Path)


@click.command()
@click.option("--bind", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", type=click.IntRange(1, 65535), default=PORT, show_default=True)
@click.option("--lmtp", is_flag=True, help="Speak LMTP, for the operator's own mail server, instead of SMTP.")
@click.option("--certificate", type=_FILE, help="Certificate chain and key, PEM: offers STARTTLS.")
@heartbeat_option
def gateway(bind: str, port: int, lmtp: bool, certificate: Path | None, heartbeat: Path | None) -> None:
    """Take mail for ROOKERY_MAIL_DOMAIN until SIGTERM, and store it to be read by a worker."""
    configure()
    keep_beats(heartbeat)
    settings = Settings.from_environment()
    if settings.mail is None:
        raise CliError("set ROOKERY_SMTP_URL and ROOKERY_MAIL_DOMAIN: without them there is no mail to take")
    reception = Reception(Installation(settings), settings.mail.domain)
    listening = Listening(bind, port, lmtp, None if certificate is None else _tls(certificate))
    tracing.start(settings.otlp_url, "gateway")
    try:
        asyncio.run(_run(Gateway(reception, settings.mail.domain, listening)))
    except OSError as error:
        raise CliError(f"port {port} on {bind} cannot be used: {error.strerror}") from error
    finally:
        tracing.stop()


async def _run(gateway: Gateway) -> None:
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    await gateway.run(stop)


def _tls(certificate: Path) -> ssl.SSLContext:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    try:
        context.load_cert_chain(certificate)
    except (OSError, ssl.SSLError) as error:
        raise CliError(f"{certificate} is no certificate with its key: {error}") from error
    return context


@click.command()
@target_options
@click.option("--delete", "number", metavar="ID", help="Delete this mail.")
def postmaster(number: str | None) -> None:
    """Show the mails that were sent to postmaster and abuse in the last 30 days, or delete one."""
    installation = open_installation()
    if number is not None:
        if not installation.inbox.delete_postmaster_mail(number):
            raise CliError(f"there is no mail {number}")
        click.echo(f"Deleted {number}.")
        return
    mails = installation.inbox.postmaster_mails()
    for mail in mails:
        click.echo(f"--- {mail.id}, {rfc3339(mail.at)}, from {mail.sender}\n{_plain(mail.content)}\n")
    if not mails:
        click.echo("No mails.")


def _plain(content: bytes) -> str:
    """Return a mail as text that a terminal shows and does not obey."""
    text = content.decode(errors="replace")
    return "".join(letter if letter.isprintable() or letter == "\n" else " " for letter in text.replace("\r\n", "\n"))
