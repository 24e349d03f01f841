"""The supervisor's end of a child's beats (``events.runtime.beats``): which of its loops are alive, which silent."""

import os
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

from events.runtime.beats import NEED

MAX_START_S = 120.0
"""The time within which a child must send its first beat."""

START = "start"


class Loop(NamedTuple):
    """A thread or main loop that beats, in one process; the ``pid`` of START is that of the child, whatever it is."""

    pid: int
    name: str


class Silence(NamedTuple):
    """A loop whose beat is overdue, and the seconds since its last one."""

    loop: Loop
    seconds: float


class BeatPipe:
    """The pipe into which one child and its descendants write their beats."""

    def __init__(self) -> None:
        self._reader, self.writer = os.pipe()
        for end in (self._reader, self.writer):
            os.set_blocking(end, False)
        self._last_beats: dict[Loop, tuple[float, float]] = {}
        self._partial = b""
        self._needed: set[str] = set()

    def expect_start(self) -> None:
        """Expect a first beat of the child, and close the write end that it has inherited."""
        self._close_writer()
        self._last_beats = {Loop(0, START): (time.monotonic(), MAX_START_S)}

    def close(self) -> None:
        """Close both ends."""
        self._close_writer()
        os.close(self._reader)

    def read(self) -> list[Loop]:
        """Return the loops that have beaten since the last call."""
        beaten = []
        now = time.monotonic()
        for message in self._read_messages():
            if message.startswith(NEED):
                self._needed.add(message.removeprefix(NEED))
                continue
            with suppress(ValueError):
                pid, name, extra_s = message.split(" ")
                loop = Loop(int(pid), name)
                self._last_beats = {loop: beat for loop, beat in self._last_beats.items() if loop.name != START}
                if extra_s == "-":
                    self._last_beats.pop(loop, None)
                else:
                    self._last_beats[loop] = (now, float(extra_s))
                    beaten.append(loop)
        return beaten

    def take_needed(self) -> Sequence[str]:
        """Return the programs that were said to be needed since the last call."""
        needed, self._needed = tuple(self._needed), set()
        return needed

    def pids(self) -> frozenset[int]:
        """Return the ids of the processes that are expected to beat."""
        return frozenset(loop.pid for loop in self._last_beats)

    def find_silence(self, max_silence_s: float) -> Silence | None:
        """Return a loop that has been silent for too long, if any; loops of processes that have exited are dropped."""
        now = time.monotonic()
        for loop, (last_beat, extra_s) in list(self._last_beats.items()):
            if now - last_beat <= max_silence_s + extra_s:
                continue
            del self._last_beats[loop]
            if not loop.pid or _is_running(loop.pid):
                return Silence(loop, now - last_beat)
        return None

    def _close_writer(self) -> None:
        if self.writer >= 0:
            os.close(self.writer)
            self.writer = -1

    def _read_messages(self) -> list[str]:
        with suppress(BlockingIOError):
            while received := os.read(self._reader, 65536):
                self._partial += received
        *messages, self._partial = self._partial.split(b"\n")
        return [message.decode(errors="replace") for message in messages]


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True
