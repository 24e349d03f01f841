"""Values that are cheap to keep and expensive to load again, bounded by their size."""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from threading import Lock
from typing import Any, TypeVar

K = TypeVar("K", bound=Hashable)
Measured = tuple[Any, int]
"""A value, and how many bytes it counts for."""


class Remembered:
    """Values by key; those that were not used for longest are forgotten first."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._bytes = 0
        self._values: OrderedDict[Hashable, Measured] = OrderedDict()
        self._lock = Lock()

    def get(self, keys: Sequence[K], load: Callable[[list[K]], Sequence[Measured]]) -> list[Any]:
        """Return the values of ``keys``; ``load`` returns those that are not remembered, all of them at once."""
        with self._lock:
            values = {key: self._values[key][0] for key in keys if key in self._values}
            for key in values:
                self._values.move_to_end(key)
        missing = [key for key in dict.fromkeys(keys) if key not in values]
        if missing:
            for key, measured in zip(missing, load(missing), strict=True):
                values[key] = measured[0]
                self._remember(key, measured)
        return [values[key] for key in keys]

    def _remember(self, key: Hashable, measured: Measured) -> None:
        with self._lock:
            if key in self._values:
                return
            self._values[key] = measured
            self._bytes += measured[1]
            while self._bytes > self._max_bytes and len(self._values) > 1:
                self._bytes -= self._values.popitem(last=False)[1][1]
