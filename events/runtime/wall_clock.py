"""The wall clock of the server, the only source of the instants of events, and instants as text."""

import time
from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def now_ms() -> int:
    """Return the present instant in milliseconds since 1970 UTC."""
    return time.time_ns() // 1_000_000


def rfc3339(at: int) -> str:
    """Return ``at`` (milliseconds since 1970 UTC) as RFC 3339 with milliseconds; beyond the calendar, as a number."""
    try:
        return (_EPOCH + timedelta(milliseconds=at)).strftime("%Y-%m-%dT%H:%M:%S.") + f"{at % 1000:03d}Z"
    except OverflowError:
        return f"{at} ms"
