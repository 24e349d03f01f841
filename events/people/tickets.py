"""Tickets: what a client shows once, in an address, in the place of its session or token.

Clients that are redirected to another port or host leave their token behind. A ticket leads to where the session or
token is kept, so it is worth nothing when that has ended.
"""

import hashlib
import secrets
from typing import Any

from events.runtime.connections import StoreClient
from events.runtime.keys import InstallationKeys

TICKET_S = 60


class Tickets:
    """Tickets in the Redis of ``client``, where the store keeps a hash of each. Methods raise redis errors."""

    def __init__(self, client: StoreClient, prefix: str) -> None:
        self._client = client
        self._keys = InstallationKeys(prefix)

    def issue(self, credential: str) -> str:
        """Return a ticket that stands for ``credential`` once, within TICKET_S."""
        ticket = secrets.token_urlsafe(24)
        self._client.set(self._key(ticket), credential, ex=TICKET_S)
        return ticket

    def redeem(self, ticket: str) -> str | None:
        """Return for which credential the ticket stands and make it worthless; None for one that is worthless."""
        # Crash-safe: a reply that is lost costs the client one more redirection.
        credential: Any = self._client.getdel(self._key(ticket))
        return None if credential is None else credential.decode()

    def _key(self, ticket: str) -> str:
        return self._keys.ticket(hashlib.sha256(ticket.encode()).hexdigest())
