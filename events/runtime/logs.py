"""JSON lines on standard error, for machines to read. Locals never appear in tracebacks: they may hold secrets."""

import logging
import sys
from threading import Lock
from typing import Any

import structlog

from events.runtime.origin import add_origin

_LevelFilter: Any = structlog.make_filtering_bound_logger(logging.INFO)


class LostLines:
    """Counts the log lines of this process that could not be written, until one can be."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._count = 0

    def add(self, count: int) -> None:
        """Count ``count`` more."""
        with self._lock:
            self._count += count

    def take(self) -> int:
        """Return how many were lost since the last call."""
        with self._lock:
            count, self._count = self._count, 0
        return count


LOST = LostLines()


class SafeLogger(_LevelFilter):  # type: ignore[misc]
    """A logger that never raises, on a full disk either; its next line says ``lines_lost``."""

    def _proxy_to_logger(self, method_name: str, event: str | None = None, **fields: Any) -> None:
        lost = LOST.take()
        try:
            super()._proxy_to_logger(method_name, event, **fields, **({"lines_lost": lost} if lost else {}))
        except Exception:
            LOST.add(lost + 1)


def configure() -> None:
    """Log as JSON lines from now on, in this process."""
    structlog.configure(
        processors=[
            add_origin,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(),
        ],
        wrapper_class=SafeLogger,
        # Looked up for each line: a test runner replaces standard error in each test.
        logger_factory=lambda *_: structlog.PrintLogger(sys.stderr),
    )
