"""A relay that runs beside a test, in a thread of its process."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread
from unittest.mock import patch

from workers import consumers
from workers.relay import Relay

BLOCK_MS = 100
"""A relay that waits for events no longer than that ends soon when it is told to."""


@contextmanager
def running(relay: Relay) -> Iterator[Event]:
    """Run ``relay`` until the block ends or what is yielded is set; after the block it works no more."""
    stop = Event()
    thread = Thread(target=relay.run, args=[stop])
    with patch.object(consumers, "BLOCK_MS", BLOCK_MS):
        thread.start()
        try:
            yield stop
        finally:
            stop.set()
            thread.join()
