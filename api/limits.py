"""How often somebody may do what, counted in Redis for all processes together.

A store that is away is no leave to go on: its error reaches the caller as 503, like everywhere else.
"""

import math
import time
from typing import NamedTuple

from flask import Flask, current_app, request
from flask_limiter import Limiter
from limits import RateLimitItem, parse
from redis import Redis

from api.problems import Problem
from events.settings import Settings

EXTENSION = "rookery-limits"


class Limits(NamedTuple):
    """The limits of an app, in the notation of the limits package.

    Writes count per person; sign-ins per name and address, and all together per address; sign-ups and guests per
    address. An address is what the nearest trusted proxy says.
    """

    writes: str = "600/minute"
    sign_in: str = "10/minute"
    sign_ins: str = "60/minute"
    sign_up: str = "60/hour"
    guests: str = "200/hour"


def install(app: Flask, settings: Settings, client: Redis, limits: Limits) -> None:
    """Let ``app`` count in the Redis of ``client``; counting begins with the first request, not here."""
    limiter = Limiter(
        address,
        app=app,
        storage_uri="redis://",  # the scheme alone: the pool knows the place
        storage_options={"connection_pool": client.connection_pool, "key_prefix": f"{settings.prefix}limits"},  # type: ignore[dict-item]
        strategy="fixed-window",
    )
    items = {name: parse(limit) for name, limit in limits._asdict().items()}
    app.extensions[EXTENSION] = (limiter, items)


def spend(limit: str, *who: str) -> None:
    """Count one use of ``limit`` by ``who``; raises the problem too-many-requests when it is used up."""
    limiter: Limiter
    items: dict[str, RateLimitItem]
    limiter, items = current_app.extensions[EXTENSION]
    item = items[limit]
    if not limiter.limiter.hit(item, limit, *who):
        resets = limiter.limiter.get_window_stats(item, limit, *who).reset_time
        wait = max(1, math.ceil(resets - time.time()))
        raise Problem("too-many-requests", f"Wait {wait} seconds.", headers={"Retry-After": str(wait)})


def address() -> str:
    """Return the network address that the request comes from."""
    return request.remote_addr or "unknown"
