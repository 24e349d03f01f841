"""The worker of the live stream: one greenlet per connection, with a maximum number of connections per address.

gunicorn's worker closes a connection that has not sent a complete request within ``keepalive`` seconds.
"""

import os
import sys
from collections import Counter
from types import ModuleType
from typing import Any

import gevent
from gunicorn.workers.ggevent import GeventWorker

MAX_CONNECTIONS_PER_ADDRESS = 1100
"""Slightly more than the streams of an address, so that further ones get an error. Behind a trusted proxy it counts."""

_REPLACED = ("queue", "select", "signal", "socket", "ssl", "subprocess", "threading", "time")
"""Modules of the standard library in which gevent replaces functions and classes. Of ``os`` nothing here needs it."""

_remembered: list[tuple[ModuleType, str, ModuleType, str]] = []


def remember_names() -> None:
    """Remember where names are that other modules have taken from those in which gevent replaces them.

    To be called in a nursery: a search in the stream's own process would write to pages that it shares.
    """
    taken = {
        id(value): (sys.modules[source], original)
        for source in _REPLACED
        for original, value in vars(sys.modules[source]).items()
        if callable(value)
    }
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] not in {"gevent", *sys.stdlib_module_names}:
            for attribute, value in getattr(module, "__dict__", {}).items():
                if id(value) in taken:
                    _remembered.append((module, attribute, *taken[id(value)]))


class StreamWorker(GeventWorker):  # type: ignore[misc]
    """A gevent worker that closes connections beyond the limit of an address."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._open: Counter[str] = Counter()
        # Read here: modules imported before gevent has patched the sockets would keep the unpatched ones. The
        # application itself refuses a value that is not a number.
        self._unlimited = os.environ.get("ROOKERY_TRUSTED_PROXIES", "0") not in ("", "0")

    def patch(self) -> None:
        """Let gevent replace blocking functions, also where they were imported from before (``remember_names``)."""
        super().patch()
        for module, name, source, original in _remembered:
            setattr(module, name, getattr(source, original, None))  # functions without greenlets are removed

    def handle_exit(self, sig: int, frame: object) -> None:  # noqa: ARG002
        """Stop at once: clients reconnect and receive the events since."""
        gevent.spawn(self._end)  # functions that wait cannot be called in signal handlers

    def _end(self) -> None:
        self.cfg.worker_exit(None, self)
        os._exit(0)  # an interpreter that ends still takes locks, and gevent's are gone by then

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
