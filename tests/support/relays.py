"""A relay that runs beside a test, in a thread of its process."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread

from workers.relay import Relay


@contextmanager
def running(relay: Relay) -> Iterator[Event]:
    """Run ``relay`` until the block ends or what is yielded is set; after the block it works no more."""
    stop = Event()
    thread = Thread(target=relay.run, args=[stop])
    thread.start()
    try:
        yield stop
    finally:
        stop.set()
        thread.join()
