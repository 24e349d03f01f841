"""JSON lines on standard error, for machines to read. Locals never appear in tracebacks: they may hold secrets."""

import logging
import sys

import structlog


def configure() -> None:
    """Log as JSON lines from now on, in this process."""
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        # Looked up anew for each line: under a test runner standard error is another one in each test.
        logger_factory=lambda *_: structlog.PrintLogger(sys.stderr),
    )
