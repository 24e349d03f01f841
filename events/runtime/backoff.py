"""Growing delays between attempts that fail."""

from typing import NamedTuple

_MAX_DOUBLINGS = 64


class Backoff(NamedTuple):
    """Delays that double with every failure in a row, from ``first`` to ``longest``, both in one unit of time."""

    first: float
    longest: float

    def after(self, failures: int) -> float:
        """Return the delay after ``failures`` failures in a row (at least 1), in the unit of ``first``."""
        return min(self.first * (1 << min(failures - 1, _MAX_DOUBLINGS)), self.longest)
