"""The wall clock of the server: the only place that asks what time it is for an event."""

import time


def now_ms() -> int:
    """Return the present instant in milliseconds since 1970 UTC."""
    return time.time_ns() // 1_000_000
