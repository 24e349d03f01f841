"""How much mail is taken, counted in Redis for all gateways together."""

import hashlib
from collections.abc import Mapping

from limits import parse

from events.runtime.connections import StoreClient, translating
from events.runtime.counters import fixed_windows

MAIL_LIMITS: Mapping[str, str] = {
    "mail-token": "30/hour",  # mails to one address
    "mail-player": "200/day",  # mails to all addresses of one person
    "mail-sender": "300/hour",  # mails with one envelope sender
    "mail-stranger": "120/hour",  # refused addresses, by the server that named them
    "mail-postmaster": "20/hour",  # mails to the operator, by the envelope sender
    "mail-postmaster-peer": "60/hour",  # the same, by the server that brings them
}


class MailLimits:
    """The limits of incoming mail; making them does not connect. ``limits`` replaces some of MAIL_LIMITS."""

    def __init__(self, client: StoreClient, prefix: str, limits: Mapping[str, str] | None = None) -> None:
        self._limiter = fixed_windows(client, prefix)
        self._items = {name: parse(limit) for name, limit in {**MAIL_LIMITS, **(limits or {})}.items()}

    @translating
    def spend(self, limit: str, who: str) -> bool:
        """Count one use of ``limit`` by ``who``; return False when it is used up. Raises StoreError."""
        return self._limiter.hit(self._items[limit], limit, _hashed(who))

    @translating
    def is_left(self, limit: str, who: str) -> bool:
        """Tell whether ``limit`` is not used up by ``who``, without counting. Raises StoreError."""
        return self._limiter.test(self._items[limit], limit, _hashed(who))


def _hashed(who: str) -> str:
    """Return ``who`` as counters hold it: addresses are stored as hashes only."""
    return hashlib.sha256(who.encode(errors="replace")).hexdigest()[:32]
