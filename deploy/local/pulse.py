"""The supervisor's end of the beats (``events.runtime.beats``): which threads of a child are heard, which silent."""

import os
import time
from contextlib import suppress
from typing import NamedTuple

MAX_START_S = 120.0
"""Until a child that is to beat must have done so for the first time."""

START = "start"


class Line(NamedTuple):
    """A line of work of one process."""

    pid: int
    name: str


class Silence(NamedTuple):
    """A line that should have been heard of, and for how many seconds it was not."""

    line: Line
    seconds: float


class Pulse:
    """The pipe in which one child and the processes below it beat."""

    def __init__(self) -> None:
        self._reader, self.writer = os.pipe()
        for end in (self._reader, self.writer):
            os.set_blocking(end, False)
        self._heard: dict[Line, tuple[float, float]] = {}
        self._rest = b""

    def begin(self, leader: int) -> None:
        """Expect to hear from the child, whose first process is ``leader``; close the end that it has inherited."""
        self._close_writer()
        self._heard = {Line(leader, START): (time.monotonic(), MAX_START_S)}

    def close(self) -> None:
        """Listen no more."""
        self._close_writer()
        os.close(self._reader)

    def listen(self) -> list[Line]:
        """Return the lines that have beaten since the last call."""
        beaten = []
        now = time.monotonic()
        for message in self._messages():
            with suppress(ValueError):
                pid, name, extra_s = message.split(" ")
                line = Line(int(pid), name)
                self._heard = {each: heard for each, heard in self._heard.items() if each.name != START}
                if extra_s == "-":
                    self._heard.pop(line, None)
                else:
                    self._heard[line] = (now, float(extra_s))
                    beaten.append(line)
        return beaten

    def heard_from(self) -> frozenset[int]:
        """Return the processes that are expected to beat."""
        return frozenset(line.pid for line in self._heard)

    def silence(self, max_silence_s: float) -> Silence | None:
        """Return a line that has been silent for too long, if any; lines of processes that have ended are forgotten."""
        now = time.monotonic()
        for line, (heard, extra_s) in list(self._heard.items()):
            if now - heard <= max_silence_s + extra_s:
                continue
            del self._heard[line]
            if _exists(line.pid):
                return Silence(line, now - heard)
        return None

    def _close_writer(self) -> None:
        if self.writer >= 0:
            os.close(self.writer)
            self.writer = -1

    def _messages(self) -> list[str]:
        with suppress(BlockingIOError):
            while received := os.read(self._reader, 65536):
                self._rest += received
        *messages, self._rest = self._rest.split(b"\n")
        return [message.decode(errors="replace") for message in messages]


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True
