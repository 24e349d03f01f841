"""The hosts under which an installation is served, and how many proxies in front of it are trusted.

Another host, which feeds, redirects and caches would carry on, is refused before anything else is looked at.
"""

from functools import lru_cache
from ipaddress import ip_address
from urllib.parse import urlsplit

from flask import Flask, request
from werkzeug.exceptions import BadHost
from werkzeug.middleware.proxy_fix import ProxyFix

from api.access.headers import LOOPBACK, without_port
from api.http.problems import Problem
from api.services import services

FOR_PROBES = frozenset({"healthz", "readyz", "metrics"})
"""Endpoints that answer under any host: they name none, and probes ask by addresses of their own."""


def register(app: Flask) -> None:
    """Let ``app`` refuse requests for other hosts."""
    app.before_request(_refuse_other_hosts)


@lru_cache(maxsize=16)
def served_hosts(*public_urls: str) -> frozenset[str]:
    """Return the hosts of the public addresses; the loopback hosts too where none of these is a name.

    ``rookery up`` sets the address that it is bound to.
    """
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
    sent = request.environ.get("HTTP_HOST", "")
    if "," in sent or (not sent and request.environ.get("SERVER_PROTOCOL") == "HTTP/1.1"):
        raise BadHost  # RFC 9112, section 3.2
    if request.endpoint in FOR_PROBES:
        return
    host = without_port(request.host).lower()
    if not host:
        raise BadHost
    settings = services().settings
    if host not in served_hosts(settings.page_url, settings.stream_url):
        detail = f"This server is not {host[:100]}. Its operator names its hosts: ROOKERY_PAGE_URL, ROOKERY_STREAM_URL."
        raise Problem("other-host", detail)


def behind_proxies(app: Flask, trusted_proxies: int) -> Flask:
    """Return ``app``, which takes addresses and scheme from the last ``trusted_proxies`` proxies.

    Without this all callers would have the address of the proxy, and share one limit; trusting more proxies than there
    are would let callers choose their address.
    """
    if trusted_proxies:
        app.wsgi_app = ProxyFix(  # type: ignore[method-assign]
            app.wsgi_app, x_for=trusted_proxies, x_proto=trusted_proxies, x_host=0
        )
    return app
