"""How the process of the live stream takes connections in: a greenlet for each, up to a number for each address.

A connection that has not sent a whole request within gunicorn's ``keepalive`` seconds is closed by gunicorn's worker.
"""

import os
from collections import Counter
from typing import Any

from gunicorn.workers.ggevent import GeventWorker

MAX_CONNECTIONS_PER_ADDRESS = 1100
"""Somewhat more than may watch: the others hear why they cannot. Behind a trusted proxy the proxy counts."""


class StreamWorker(GeventWorker):  # type: ignore[misc]
    """A gevent worker that gives up connections beyond what one address may have."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._open: Counter[str] = Counter()
        # Read here: what the application imports before gevent has replaced the sockets would keep the old ones.
        # A value that is no number is refused by the application itself.
        self._unlimited = os.environ.get("ROOKERY_TRUSTED_PROXIES", "0") not in ("", "0")

    def handle_exit(self, sig: int, frame: object) -> None:
        """Stop at once: clients connect again and receive what happened meanwhile."""
        self.handle_quit(sig, frame)

    def handle(self, listener: Any, client: Any, addr: Any) -> None:
        """Serve a connection, or close it at once."""
        if self._unlimited:
            super().handle(listener, client, addr)
            return
        address = addr[0]
        if self._open[address] >= MAX_CONNECTIONS_PER_ADDRESS:
            client.close()
            return
        self._open[address] += 1
        try:
            super().handle(listener, client, addr)
        finally:
            self._open[address] -= 1
            if not self._open[address]:
                del self._open[address]
