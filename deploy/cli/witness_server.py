"""``rookery witness serve``: a witness over HTTP, one address to post to, and a page that says whose it is."""

import sqlite3
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import click
import structlog
from limits import RateLimitItemPerMinute
from limits.storage import MemoryStorage
from limits.strategies import FixedWindowRateLimiter
from waitress.server import create_server

from deploy.cli.output import CliError
from events.proof.documents import DocumentError
from events.proof.notes import ED25519, NoteKey, check_key_name, parse_vkey
from events.proof.transparency.witness_protocol import MAX_REQUEST_BYTES, PATH
from events.proof.witness import TEXT_TYPE, Witness, WitnessReply, WitnessState
from events.runtime.logs import configure

PORT = 8030

MAX_REQUESTS_PER_MINUTE = 120
"""From one address: a log asks a few times an hour."""

THREADS = 4

_REASONS = {
    200: "OK",
    400: "Bad Request",
    403: "Forbidden",
    404: "Not Found",
    405: "Method Not Allowed",
    409: "Conflict",
    422: "Unprocessable Entity",
    429: "Too Many Requests",
    503: "Service Unavailable",
}

Environ = dict[str, Any]
StartResponse = Callable[[str, list[tuple[str, str]]], Any]

log = structlog.get_logger("witness")


class WitnessApp:
    """The WSGI application of a witness."""

    def __init__(self, witness: Witness) -> None:
        self._witness = witness
        self._limiter = FixedWindowRateLimiter(MemoryStorage())
        self._limit = RateLimitItemPerMinute(MAX_REQUESTS_PER_MINUTE)

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Answer a request."""
        reply = self._answer(environ)
        headers = [("Content-Type", reply.content_type), ("Content-Length", str(len(reply.body)))]
        if reply.status == 429:
            headers.append(("Retry-After", "60"))
        start_response(f"{reply.status} {_REASONS[reply.status]}", headers)
        return [reply.body]

    def _answer(self, environ: Environ) -> WitnessReply:
        method, path = environ["REQUEST_METHOD"], environ["PATH_INFO"]
        if not self._limiter.hit(self._limit, environ.get("REMOTE_ADDR", "")):
            return _text(429, f"at most {MAX_REQUESTS_PER_MINUTE} requests a minute are answered")
        if path == "/" and method in ("GET", "HEAD"):
            return _text(200, self._witness.key.public.vkey)
        if path != PATH:
            return _text(404, f"a witness answers POST {PATH} (c2sp.org/tlog-witness)")
        if method != "POST":
            return _text(405, f"a checkpoint is sent with POST {PATH}")
        body = environ["wsgi.input"].read(MAX_REQUEST_BYTES + 1)
        try:
            return self._witness.add_checkpoint(body)
        except (OSError, sqlite3.Error) as error:
            log.error("the state cannot be read or written", error=str(error))
            return _text(503, "the state of this witness cannot be read or written now")


@click.command()
@click.option("--name", required=True, help="The name of this witness: a host and a path, as club.example/witness.")
@click.option("--log", "vkeys", multiple=True, required=True, help="Verifier key of a log; may be repeated.")
@click.option(
    "--state",
    required=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="Directory of its key and memory. It must never go back to an older state: no backup, no snapshot.",
)
@click.option("--bind", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", type=click.IntRange(1, 65535), default=PORT, show_default=True)
@click.option("--proxy", help="Address of the proxy in front, which is believed who asks.")
def serve(name: str, vkeys: tuple[str, ...], state: Path, bind: str, port: int, proxy: str | None) -> None:
    """Cosign the checkpoints of other logs until SIGTERM (c2sp.org/tlog-witness).

    Its verifier key is printed first, for those logs to add.
    """
    configure()
    logs = [_read_log(vkey) for vkey in vkeys]
    try:
        check_key_name(name)
        memory = WitnessState(state)
        made = Witness(memory.key(name), logs, memory, lambda: int(time.time()))
        server = serve_witness(made, bind, port, proxy)
    except (DocumentError, ValueError) as error:
        raise CliError(str(error)) from None
    except OSError as error:
        raise CliError(f"{error.strerror}: {error.filename or f'port {port} on {bind}'}") from None
    except sqlite3.Error as error:
        raise CliError(f"the memory of the witness in {state} cannot be used: {error}") from None
    click.echo(made.key.public.vkey)
    server.run()


def serve_witness(witness: Witness, bind: str, port: int, proxy: str | None) -> Any:
    """Return a server that listens; ``proxy`` is the address whose X-Forwarded-For says who asks. Raises OSError."""
    trusted = {} if proxy is None else {"trusted_proxy": proxy, "trusted_proxy_headers": {"x-forwarded-for"}}
    return create_server(
        WitnessApp(witness),
        host=bind,
        port=port,
        threads=THREADS,
        ident=None,
        max_request_body_size=MAX_REQUEST_BYTES + 1,
        clear_untrusted_proxy_headers=True,
        **trusted,
    )


def _text(status: int, words: str) -> WitnessReply:
    return WitnessReply(status, TEXT_TYPE, f"{words}\n".encode())


def _read_log(vkey: str) -> NoteKey:
    try:
        key = parse_vkey(vkey)
    except DocumentError as fault:
        raise CliError(f"--log: {fault}") from None
    if key.type != ED25519:
        raise CliError("--log: the verifier key is that of a witness (type 04); a log has one of type 01")
    return key
