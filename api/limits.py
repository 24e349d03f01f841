"""How often somebody may do what, counted in Redis for all processes together.

A store that is away is no leave to go on: its error reaches the caller as 503, like everywhere else.
"""

import math
import time
from typing import NamedTuple

from flask import Flask, current_app, request
from limits import RateLimitItem, parse
from limits.storage import RedisStorage
from limits.strategies import FixedWindowRateLimiter
from redis import Redis

from api.problems import Problem

EXTENSION = "rookery-limits"


class Limits(NamedTuple):
    """The limits of an app, in the notation of the limits package.

    Writes, archives and moves computed again count per person; sign-ins per name and address, and all together per
    address; sign-ups and guests per address. An address is what the nearest trusted proxy says.
    """

    writes: str = "600/minute"
    sign_in: str = "10/minute"
    sign_ins: str = "60/minute"
    sign_up: str = "60/hour"
    guests: str = "200/hour"
    archives: str = "10/hour"
    recomputations: str = "60/hour"
    calendars: str = "120/hour"


class RateLimits:
    """Counts in the Redis of ``client``, from the first request on; making it does not connect."""

    def __init__(self, client: Redis, prefix: str, limits: Limits) -> None:
        # The scheme alone: the pool knows the place.
        storage = RedisStorage("redis://", connection_pool=client.connection_pool, key_prefix=f"{prefix}limits")
        self._limiter = FixedWindowRateLimiter(storage)
        self.items: dict[str, RateLimitItem] = {name: parse(limit) for name, limit in limits._asdict().items()}

    def spend(self, limit: str, *who: str) -> None:
        """Count one use of ``limit`` by ``who``; raises the problem too-many-requests when it is used up."""
        item = self.items[limit]
        if not self._limiter.hit(item, limit, *who):
            resets = self._limiter.get_window_stats(item, limit, *who).reset_time
            raise too_many(math.ceil(resets - time.time()))


def install(app: Flask, limits: RateLimits) -> None:
    """Let ``app`` limit its callers."""
    app.extensions[EXTENSION] = limits


def rate_limits() -> RateLimits:
    """Return the limits of the current app."""
    found: RateLimits = current_app.extensions[EXTENSION]
    return found


def spend(limit: str, *who: str) -> None:
    """Count one use of ``limit`` of the current app by ``who``; raises the problem too-many-requests."""
    rate_limits().spend(limit, *who)


def too_many(seconds: int) -> Problem:
    """Return the problem of a limit that is used up for ``seconds``."""
    wait = max(1, seconds)
    return Problem("too-many-requests", f"Wait {wait} seconds.", headers={"Retry-After": str(wait)})


def address() -> str:
    """Return the network address that the request comes from."""
    return request.remote_addr or "unknown"
