"""Printing that never blocks: a reader that has stopped or gone, or a full disk, is no reason to stop serving."""

import os
import sys
from queue import Full, Queue
from threading import Thread

MAX_WAITING_LINES = 1000
FLUSH_S = 2.0
OUT, ERR = 1, 2


class Printer:
    """Prints lines from a thread of its own. What cannot be printed is counted, and told when something can be."""

    def __init__(self) -> None:
        self._waiting: Queue[tuple[int, str]] = Queue(MAX_WAITING_LINES)
        self._lost = 0
        self._thread = Thread(target=self._print_all, name="printer", daemon=True)
        self._thread.start()

    def say(self, words: str, descriptor: int = ERR) -> None:
        """Print ``words`` as a line, soon; never raises and never waits."""
        try:
            self._waiting.put_nowait((descriptor, words))
        except Full:
            self._lost += 1

    def close(self) -> None:
        """Print what still waits, as far as that takes no longer than FLUSH_S."""
        self.say("", -1)
        self._thread.join(FLUSH_S)

    def _print_all(self) -> None:
        while True:
            descriptor, words = self._waiting.get()
            if descriptor < 0:
                return
            lost, self._lost = self._lost, 0
            if lost:
                words = f"({lost} lines could not be printed)\n{words}"
            try:
                _write(descriptor, f"{words}\n".encode(sys.stdout.encoding or "utf-8", "replace"))
            except OSError:
                self._lost += lost + 1


def _write(descriptor: int, content: bytes) -> None:
    while content:
        content = content[os.write(descriptor, content) :]
