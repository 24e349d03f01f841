"""Headers of every response: its request id, and security headers for browsers."""

from functools import lru_cache
from urllib.parse import urlsplit, urlunsplit

from flask import Flask, Response, g, request

from api.access.auth import session_cookie
from api.access.request_ids import HEADER
from api.http.problems import SECRET_ARGUMENTS
from api.services import services

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")

_NOT_SNIFFED = ("X-Content-Type-Options", "nosniff")
_PATH_FOR_THIS_SITE = ("Referrer-Policy", "same-origin")
_WITHOUT_PATH = ("Referrer-Policy", "strict-origin")
"""For paths with a secret, which the servers of pictures and scripts would log."""

_FOR_DOCUMENTS = (
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Permissions-Policy", "camera=(), microphone=(), geolocation=()"),
)

_POLICY_FOR_DATA = "default-src 'none'; frame-ancestors 'none'"
_DOCUMENTS = frozenset({"text/html", "image/svg+xml"})
_PARTS_OF_PAGES = frozenset({"application/javascript", "text/css", "text/javascript"})
"""Media types that browsers do not display as documents: the headers of the page that uses them protect them."""


def register(app: Flask) -> None:
    """Give each response of ``app`` its headers."""
    app.after_request(_add)


def stream_origin(configured: str, host: str) -> str:
    """Return the public base URL of the live stream for a page on ``host``.

    A stream on the loopback interface gets the name of the page: browsers do not send cookies of one name to another.
    """
    parts, name = urlsplit(configured), without_port(host)
    if name in LOOPBACK and (parts.hostname in LOOPBACK or parts.hostname == "::1"):
        parts = parts._replace(netloc=f"{name}:{parts.port}" if parts.port else name)
    return urlunsplit(parts).rstrip("/")


def without_port(host: str) -> str:
    """Return ``host``, as in a URL or in the header Host, without its port."""
    name, colon, port = host.rpartition(":")
    return name if colon and port.isdecimal() else host


def _add(response: Response) -> Response:
    if response.mimetype in _PARTS_OF_PAGES:
        response.headers.extend([_NOT_SNIFFED])
        return response
    settings = services().settings
    added = [_NOT_SNIFFED, ("X-Frame-Options", "DENY"), (HEADER, g.get("request_id", ""))]
    if response.mimetype in _DOCUMENTS:
        added += _FOR_DOCUMENTS
    if any(map((request.view_args or {}).get, SECRET_ARGUMENTS)):
        added.append(_WITHOUT_PATH)
    elif response.mimetype in _DOCUMENTS:
        added.append(_PATH_FOR_THIS_SITE)
    if "Content-Security-Policy" not in response.headers:  # a picture that is opened as a document has a stricter one
        policy = _policy(settings.stream_url, request.host) if response.mimetype in _DOCUMENTS else _POLICY_FOR_DATA
        added.append(("Content-Security-Policy", policy))
    if settings.secure_cookies:
        added.append(("Strict-Transport-Security", "max-age=31536000"))
    if request.path.startswith("/api/"):
        added.append(("Vary", "Cookie, Authorization"))
        if "Cache-Control" not in response.headers:
            added.append(("Cache-Control", "private, no-cache"))
        if session_cookie(settings) not in request.cookies:  # pages do not plan by it, and every byte of theirs counts
            added += g.get("rate_limit", {}).items()
    response.headers.extend(added)
    return response


@lru_cache(maxsize=256)
def _policy(stream_url: str, host: str) -> str:
    stream = urlsplit(stream_origin(stream_url, host))
    return (
        f"default-src 'self'; connect-src 'self' {stream.scheme}://{stream.netloc}; object-src 'none'; "
        "base-uri 'none'; frame-ancestors 'none'; form-action 'self'"
    )
