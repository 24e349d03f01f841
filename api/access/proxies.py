"""The address of callers behind proxies: only as many proxies are trusted as the operator has configured."""

from flask import Flask
from werkzeug.middleware.proxy_fix import ProxyFix


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
