"""Who is calling when a proxy stands in front: only as many proxies are believed as the operator says there are."""

from environs import Env, validate
from flask import Flask
from werkzeug.middleware.proxy_fix import ProxyFix


def behind_proxies(app: Flask) -> Flask:
    """Return ``app``, which takes addresses and scheme from the last ROOKERY_TRUSTED_PROXIES (default 0) proxies.

    Without this all callers would have the address of the proxy, and share one limit; believing more proxies than there
    are would let callers choose their address. Raises environs.EnvError for a value that is no number of proxies.
    """
    proxies = trusted_proxies()
    if proxies:
        app.wsgi_app = ProxyFix(app.wsgi_app, x_for=proxies, x_proto=proxies, x_host=0)  # type: ignore[method-assign]
    return app


def trusted_proxies() -> int:
    """Return how many proxies in front of this process tell addresses and scheme; raises environs.EnvError."""
    return Env().int("ROOKERY_TRUSTED_PROXIES", 0, validate=validate.Range(min=0))
