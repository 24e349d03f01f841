"""A witness over HTTP: one address to post to, and a page that says whose it is."""

import sqlite3
from collections.abc import Callable, Iterable
from typing import Any

import structlog
from limits import RateLimitItemPerMinute
from limits.storage import MemoryStorage
from limits.strategies import FixedWindowRateLimiter
from waitress.server import create_server

from events.transparency.witness_protocol import MAX_REQUEST_BYTES, PATH
from events.transparency.witnessing import TEXT_TYPE, Witness, WitnessReply

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


def serve_witness(witness: Witness, bind: str, port: int, proxy: str | None) -> Any:
    """Return a server that listens; ``run`` answers until it is interrupted, ``close`` ends it. Raises OSError.

    ``proxy`` is the address whose X-Forwarded-For says who asks; None for none.
    """
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
