"""Printing that never blocks: a stalled or closed reader or a full disk must not stop the server."""

import os
import sys
from queue import Full, Queue
from threading import Thread

MAX_QUEUED_LINES = 1000
CLOSE_TIMEOUT_S = 2.0
OUT, ERR = 1, 2


class Printer:
    """Prints lines from a thread of its own. Lines that cannot be printed are counted and reported later."""

    def __init__(self) -> None:
        self._queue: Queue[tuple[int, str]] = Queue(MAX_QUEUED_LINES)
        self._lost = 0
        self._thread = Thread(target=self._print_all, name="printer", daemon=True)
        self._thread.start()

    def print(self, text: str, descriptor: int = ERR) -> None:
        """Queue ``text`` to be printed as a line; never raises and never waits."""
        try:
            self._queue.put_nowait((descriptor, text))
        except Full:
            self._lost += 1

    def close(self) -> None:
        """Print the queued lines, as far as that takes no longer than CLOSE_TIMEOUT_S."""
        self.print("", -1)
        self._thread.join(CLOSE_TIMEOUT_S)

    def _print_all(self) -> None:
        while True:
            descriptor, text = self._queue.get()
            if descriptor < 0:
                return
            lost, self._lost = self._lost, 0
            if lost:
                text = f"({lost} lines could not be printed)\n{text}"
            try:
                _write(descriptor, f"{text}\n".encode(sys.stdout.encoding or "utf-8", "replace"))
            except OSError:
                self._lost += lost + 1


def _write(descriptor: int, content: bytes) -> None:
    while content:
        content = content[os.write(descriptor, content) :]
