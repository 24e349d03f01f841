"""The wall clock of the server, the only source of the instants of events, and instants as text."""

import time
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def now_ms() -> int:
    """Return the present instant in milliseconds since 1970 UTC."""
    return time.time_ns() // 1_000_000


def rfc3339(at: int) -> str:
    """Return ``at`` as RFC 3339 with milliseconds; beyond the calendar, as a number."""
    try:
        return (_EPOCH + timedelta(milliseconds=at)).strftime("%Y-%m-%dT%H:%M:%S.") + f"{at % 1000:03d}Z"
    except OverflowError:
        return f"{at} ms"


def read_header_date(date: str) -> int | None:
    """Return the instant of a date in a header (RFC 5322, 3.3), in UTC if it names no zone; None for no date."""
    try:
        at = parsedate_to_datetime(date)
        return int((at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp() * 1000)
    except (ValueError, TypeError, OverflowError):
        return None
