"""Rate limits, counted in Redis for all processes together; an unreachable store does not lift them."""

import hashlib
import math
import time
import tomllib
from ipaddress import IPv6Address, IPv6Network, ip_address
from pathlib import Path
from typing import NamedTuple

from flask import Flask, current_app, g, request
from limits import RateLimitItem, parse

from api.http.problems import Problem
from events.people.chats import MAX_BYTES_OF_PERSON
from events.runtime.connections import StoreClient, translating
from events.runtime.counters import fixed_windows

EXTENSION = "rookery-limits"

SITE_SHARE = 8
"""A site (/48 of IPv6), which one customer may own, has this many times the limit of one network (/64)."""


class Limits(NamedTuple):
    """The limits of an app, in the notation of the limits package; ``EXCEEDED`` names the uses that each counts.

    They count per person, sign-ins and sign-ups per network address, reads and computations of anonymous callers, too.
    The nearest trusted proxy names the address; limits leave room for a school behind one. IPv6 addresses count
    by network and by site: every customer has 2**64 of them. Jobs of workers count by their nodes.
    """

    writes: str = "600/minute"
    sign_in: str = "10/minute"
    sign_ins: str = "60/minute"
    sign_up: str = "60/hour"
    guests: str = "200/hour"
    all_guests: str = "600/minute"
    archives: str = "10/hour"
    jobs: str = "600000/hour"
    own_reviews: str = "5/day"
    other_reviews: str = "2/day"
    calendars: str = "40/day"
    matches: str = "600/hour"
    all_matches: str = "3000/hour"
    guest_matches: str = "30/hour"
    words: str = "600/hour"
    chat_bytes: str = MAX_BYTES_OF_PERSON
    reports: str = "50/day"
    puzzles: str = "100/day"
    invitations: str = "20/day"
    test_notices: str = "30/hour"
    sends: str = "60/hour"
    webhook_addresses: str = "60/hour"
    reads: str = "1200/minute"
    computations: str = "300/minute"
    confirmations: str = "5/hour"
    confirmations_by_network: str = "30/hour"
    mail_links: str = "60/hour"
    refusals: str = "600/minute"
    resets: str = "3/hour"
    resets_by_network: str = "30/hour"
    player_keys: str = "30/day"


ANNOUNCED = frozenset({"writes", "reads", "computations"})
"""The limits whose remainder responses of the API state. The others would show the attempts of strangers."""

EXCEEDED: dict[str, str] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text())
"""The problem's detail when a limit is used up."""


class RateLimits:
    """Counts in the Redis of ``client``, from the first request on; making it does not connect."""

    def __init__(self, client: StoreClient, prefix: str, limits: Limits) -> None:
        self._limiter = fixed_windows(client, prefix)
        self.unreachable_until = 0.0
        self.items: dict[str, RateLimitItem] = {name: parse(limit) for name, limit in limits._asdict().items()}

    @translating
    def spend(self, limit: str, *who: str, share: int = 1, cost: int = 1) -> int:
        """Count ``cost`` uses of ``share`` times ``limit`` by ``who``; return the remainder, or raise the problem."""
        item = self.items[limit]
        # Counters hold names and addresses as hashes only.
        who = tuple(hashlib.sha256(part.encode(errors="replace")).hexdigest()[:32] for part in who)
        if share > 1:
            item = type(item)(item.amount * share, item.multiples)
        used = self._limiter.storage.incr(item.key_for(limit, *who), item.get_expiry(), amount=cost)
        if used > item.amount:
            resets = self._limiter.get_window_stats(item, limit, *who).reset_time
            raise too_many(limit, math.ceil(resets - time.time()))
        return item.amount - used


def install(app: Flask, limits: RateLimits) -> None:
    """Let ``app`` limit its callers."""
    app.extensions[EXTENSION] = limits


def rate_limits() -> RateLimits:
    """Return the limits of the current app."""
    limits: RateLimits = current_app.extensions[EXTENSION]
    return limits


def spend(limit: str, *who: str, cost: int = 1) -> int:
    """Count ``cost`` uses of ``limit`` by ``who`` and return how many remain; raises the problem too-many-requests."""
    return rate_limits().spend(limit, *who, cost=cost)


def too_many(limit: str, seconds: int) -> Problem:
    """Return the problem of ``limit``, which is used up for ``seconds``."""
    wait = max(1, seconds)
    announce(limit, 0, wait)
    return Problem("too-many-requests", f"{EXCEEDED[limit]} Wait {wait} seconds.", headers={"Retry-After": str(wait)})


def announce(limit: str, remaining: int, resets_in_s: int | None = None) -> None:
    """Let the response tell the remainder of a limit to plan with (draft-ietf-httpapi-ratelimit-headers-10)."""
    if limit not in ANNOUNCED:
        return
    item = rate_limits().items[limit]
    window = "" if resets_in_s is None else f";t={max(0, resets_in_s)}"
    g.rate_limit = {
        "RateLimit-Policy": f'"{limit}";q={item.amount};w={item.get_expiry()}',
        "RateLimit": f'"{limit}";r={max(0, remaining)}{window}',
    }


def address() -> str:
    """Return the network that the request comes from: an IPv4 address, or an IPv6 network of 64 bits."""
    return networks(request.remote_addr or "unknown")[0]


def spend_by_address(limit: str, *who: str, cost: int = 1) -> int:
    """Count uses of ``limit`` at the caller's address and its site; return the remainder, raises too-many-requests."""
    network, *site = networks(request.remote_addr or "unknown")
    remaining = rate_limits().spend(limit, *who, network, cost=cost)
    for whole in site:
        rate_limits().spend(limit, *who, whole, share=SITE_SHARE, cost=cost)
    return remaining


def networks(remote: str) -> list[str]:
    """Return the names that an address is counted by: itself; for IPv6 its networks of 64 and of 48 bits."""
    try:
        parsed = ip_address(remote)
    except ValueError:
        return [remote]
    if not isinstance(parsed, IPv6Address):
        return [str(parsed)]
    if parsed.ipv4_mapped is not None:
        return [str(parsed.ipv4_mapped)]
    return [str(IPv6Network((parsed, bits), strict=False)) for bits in (64, 48)]
