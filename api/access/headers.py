"""Headers of every response: its request id, and security headers for browsers."""

import re
import secrets
from functools import lru_cache
from ipaddress import ip_address
from urllib.parse import urlsplit, urlunsplit

from flask import Flask, Response, g
from werkzeug.exceptions import BadHost
from werkzeug.middleware.proxy_fix import ProxyFix

from api.access.auth import SAFE_METHODS, session_cookie
from api.http.bodies import current_request, request_globals
from api.http.problems import SECRET_ARGUMENTS, Problem
from api.services import services
from events.runtime import origin, tracing

HEADER = "X-Request-Id"
_WELL_FORMED = re.compile("[A-Za-z0-9-]{8,64}")


def register_ids(app: Flask) -> None:
    """Give each request of ``app`` an id: that of a proxy in front if it is well-formed, else a random one."""
    app.before_request(_begin)
    app.teardown_request(_end)


def _begin() -> None:
    received, kept = current_request(), request_globals()
    given = received.headers.get(HEADER, "")
    request_id = given if _WELL_FORMED.fullmatch(given) else secrets.token_hex(8)
    match_id = (received.view_args or {}).get("match_id")
    fields = {"match": match_id} if match_id else {}
    work = [origin.request(request_id, **fields)]
    if received.method not in SAFE_METHODS and tracing.is_on():  # commands are traced, reads are not
        name = f"{received.method} {received.endpoint or 'none'}"
        work.append(tracing.span(name, request=request_id, **fields))
    # Entered one by one: the other work of ExitStack is a hundredth of a request.
    for block in work:
        block.__enter__()
    kept.request_id, kept.work = request_id, work


def _end(_: BaseException | None) -> None:
    for block in reversed(g.pop("work", [])):
        block.__exit__(None, None, None)


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
    headers, mimetype = response.headers, response.mimetype
    if mimetype in _PARTS_OF_PAGES:
        headers.add(*_NOT_SNIFFED)
        return response
    received, kept, settings = current_request(), request_globals(), services().settings
    added = [_NOT_SNIFFED, ("X-Frame-Options", "DENY"), (HEADER, kept.get("request_id", ""))]
    if mimetype in _DOCUMENTS:
        added += _FOR_DOCUMENTS
    if any(map((received.view_args or {}).get, SECRET_ARGUMENTS)):
        added.append(_WITHOUT_PATH)
    elif mimetype in _DOCUMENTS:
        added.append(_PATH_FOR_THIS_SITE)
    if "Content-Security-Policy" not in headers:  # a picture that is opened as a document has a stricter one
        policy = _policy(settings.stream_url, received.host) if mimetype in _DOCUMENTS else _POLICY_FOR_DATA
        added.append(("Content-Security-Policy", policy))
    if settings.secure_cookies:
        added.append(("Strict-Transport-Security", "max-age=31536000"))
    if received.path.startswith("/api/"):
        added.append(("Vary", "Cookie, Authorization"))
        if "Cache-Control" not in headers:
            added.append(("Cache-Control", "private, no-cache"))
        # Pages do not plan by it, and every byte of theirs counts.
        if session_cookie(settings) not in received.headers.get("Cookie", ""):
            added += kept.get("rate_limit", {}).items()
    for name, value in added:
        headers.add(name, value)
    return response


@lru_cache(maxsize=256)
def _policy(stream_url: str, host: str) -> str:
    stream = urlsplit(stream_origin(stream_url, host))
    return (
        f"default-src 'self'; connect-src 'self' {stream.scheme}://{stream.netloc}; object-src 'none'; "
        "base-uri 'none'; frame-ancestors 'none'; form-action 'self'"
    )


FOR_PROBES = frozenset({"healthz", "readyz", "metrics"})
"""Endpoints that answer under any host: they name none, and probes ask by addresses of their own."""


def register_hosts(app: Flask) -> None:
    """Let ``app`` refuse requests for other hosts."""
    app.before_request(_refuse_other_hosts)


@lru_cache(maxsize=16)
def served_hosts(*public_urls: str) -> frozenset[str]:
    """Return the hosts of the public addresses; the loopback hosts too where none of these is a name."""
    configured = (urlsplit(url).netloc.lower() for url in public_urls)
    hosts = frozenset(map(without_port, configured)).difference(LOOPBACK)
    return hosts if any(map(_is_name, hosts)) else hosts.union(LOOPBACK)


def _is_name(host: str) -> bool:
    try:
        ip_address(host.strip("[]"))
    except ValueError:
        return True
    return False


def _refuse_other_hosts() -> None:
    received = current_request()
    sent = received.environ.get("HTTP_HOST", "")
    if "," in sent or (not sent and received.environ.get("SERVER_PROTOCOL") == "HTTP/1.1"):
        raise BadHost  # RFC 9112, section 3.2
    if received.endpoint in FOR_PROBES:
        return
    host = without_port(received.host).lower()
    if not host:
        raise BadHost
    settings = services().settings
    if host not in served_hosts(settings.page_url, settings.stream_url):
        detail = f"This server is not {host[:100]}. Its operator names its hosts: ROOKERY_PAGE_URL, ROOKERY_STREAM_URL."
        raise Problem("other-host", detail)


def behind_proxies(app: Flask, trusted_proxies: int) -> Flask:
    """Return ``app``, which takes addresses and scheme from the last ``trusted_proxies`` proxies.

    Trusting more proxies than there are would let callers choose their address.
    """
    if trusted_proxies:
        app.wsgi_app = ProxyFix(  # type: ignore[method-assign]
            app.wsgi_app, x_for=trusted_proxies, x_proto=trusted_proxies, x_host=0
        )
    return app
