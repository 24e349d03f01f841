"""Requests and the processor time that they take."""

import json
import time
from statistics import median
from typing import Any, NamedTuple


class Asked(NamedTuple):
    """A request: its operation as the document names it, the path that is asked for, its body, and who asks."""

    operation: str
    path: str
    body: Any = None
    name: str = "anna"


REFERENCE_MS = 4.0
"""The processor time of the fixed computation on the machine that the limits are meant for."""

_REFERENCE = json.dumps({str(number): [number, str(number) * 3, {"half": number / 2}] for number in range(4000)})


class Cost(NamedTuple):
    """The processor time that a request took, in milliseconds, each time, and the status of its last answer."""

    asked: Asked
    turns_ms: tuple[float, ...]
    status: int

    @property
    def least_ms(self) -> float:
        """The least of the times: other work on the machine adds to all others."""
        return min(self.turns_ms)

    @property
    def median_ms(self) -> float:
        return median(self.turns_ms)


def slowness() -> float:
    """Return the multiple of REFERENCE_MS that a fixed computation takes now, at least 1.

    The same machine may be twice as slow a second later, when others use its processor: also in processor time.
    """
    taken = []
    for _ in range(3):
        began = time.thread_time()
        values = json.loads(_REFERENCE)
        json.dumps(sorted(values, key=lambda name: values[name][1]))
        taken.append(1000 * (time.thread_time() - began))
    return max(1.0, min(taken) / REFERENCE_MS)
