"""Compression of responses with Brotli or gzip, whichever the client prefers.

Where compressed sizes may be watched, a secret must not stand in one response with text that an attacker chooses
(BREACH): pages hold no token that a request has to show (cookies are SameSite, and the origin of a request is checked),
and a response that does hold a secret, such as a new token, is never one to a request from another site. Live streams
are not documents: they are never compressed.
"""

import gzip

import brotli
from flask import Flask, Response, request

COMPRESSIBLE = frozenset({
    "application/atom+xml", "application/javascript", "application/json", "application/problem+json", "image/svg+xml",
    "text/calendar", "text/css", "text/html", "text/javascript", "text/plain",
})  # fmt: skip
"""Media types that are text."""

CODINGS = ("br", "gzip")
"""The content codings that are offered, the best first."""

MIN_BYTES = 400
"""Compressing a shorter body costs more than it saves."""

MAX_BYTES = 1_000_000
"""A longer body is sent uncompressed: compressing it would take longer than a request may."""

BROTLI_QUALITY = 7
GZIP_LEVEL = 6


def register(app: Flask) -> None:
    """Let ``app`` compress its responses. Handlers that change their bodies or headers are registered afterwards."""
    app.after_request(_compress)


def accepted_coding() -> str | None:
    """Return the one of ``CODINGS`` that the client of this request prefers, None when it accepts none of them."""
    best = request.accept_encodings.best_match((*CODINGS, "identity"))
    return best if best in CODINGS else None


def compressed(content: bytes, coding: str, thoroughly: bool = False) -> bytes:
    """Return ``content`` in the content coding ``coding``; ``thoroughly`` if it is sent often."""
    if coding == "br":
        return bytes(brotli.compress(content, quality=11 if thoroughly else BROTLI_QUALITY))
    return gzip.compress(content, 9 if thoroughly else GZIP_LEVEL, mtime=0)


def _compress(response: Response) -> Response:
    if response.mimetype not in COMPRESSIBLE:
        return response
    others = response.headers.get("Vary")
    response.headers["Vary"] = f"{others}, Accept-Encoding" if others else "Accept-Encoding"
    if (
        "Accept-Encoding" not in request.headers
        or response.is_streamed
        or response.status_code in (204, 206, 304)
        or "Content-Encoding" in response.headers
        or not MIN_BYTES <= (response.content_length or 0) <= MAX_BYTES
    ):
        return response
    coding = accepted_coding()
    if coding is not None:
        # The ETag stays as it is: it names a version of a match, which clients send back as If-Match.
        response.set_data(compressed(response.get_data(), coding))
        response.headers["Content-Encoding"] = coding
    return response
