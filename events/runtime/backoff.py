"""Growing delays between attempts that fail, and delays that the other side asks for."""

from typing import NamedTuple

from events.runtime.wall_clock import read_header_date

_MAX_DOUBLINGS = 64


class Backoff(NamedTuple):
    """Delays that double with every failure in a row, from ``first`` to ``longest``, both in one unit of time."""

    first: float
    longest: float

    def after(self, failures: int) -> float:
        """Return the delay after ``failures`` failures in a row (at least 1), in the unit of ``first``."""
        return min(self.first * (1 << min(failures - 1, _MAX_DOUBLINGS)), self.longest)


def read_retry_after(header: str | None, now: int) -> int | None:
    """Return the wait in milliseconds that Retry-After asks for (RFC 9110, 10.2.3), unbounded; None for none."""
    text = (header or "").strip()
    if text.isascii() and text.isdigit():
        return int(text[:12]) * 1000
    at = read_header_date(text)
    return None if at is None else max(0, at - now)
