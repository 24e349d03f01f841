"""Messages on Redis that are none of Celery's: dropped and logged, since kombu would end one worker after the other."""

from queue import Empty
from typing import Any

import structlog
from kombu.transport import TRANSPORT_ALIASES, redis

log = structlog.get_logger("worker")


class _DroppingChannel:
    def _brpop_read(self, **options: Any) -> Any:
        try:
            return super()._brpop_read(**options)  # type: ignore[misc]
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            # Crash-safe: the broker has it no more, and says of no task that it was done.
            log.exception("a broken message was dropped")
            raise Empty from error


class BrokerChannel(_DroppingChannel, redis.Channel):
    """A channel to one server."""


class SentinelChannel(_DroppingChannel, redis.SentinelChannel):
    """A channel to a server that sentinels name."""


class Transport(redis.Transport):
    """The transport of ``redis://``."""

    Channel = BrokerChannel


class SentinelTransport(redis.SentinelTransport):
    """The transport of ``sentinel://``."""

    Channel = SentinelChannel


def install() -> None:
    """Let the broker be read through these classes."""
    aliases = {"redis": Transport, "rediss": Transport, "sentinel": SentinelTransport}
    TRANSPORT_ALIASES.update({scheme: f"{made.__module__}:{made.__name__}" for scheme, made in aliases.items()})
