"""Tickets: what a client presents once, in an address, in place of its session or token.

Clients that are redirected to another port or host drop their token. A ticket refers to the stored session or token, so
it becomes invalid when that ends.
"""

import hashlib
import secrets
from typing import Any

from events.runtime.connections import StoreClient
from events.runtime.keys import InstallationKeys

TICKET_S = 60


class Tickets:
    """The tickets of an installation, of which only hashes are stored.

    Methods raise StoreUnavailableError when the store is unreachable.
    """

    def __init__(self, client: StoreClient, prefix: str) -> None:
        self._client = client
        self._keys = InstallationKeys(prefix)

    def issue(self, credential: str) -> str:
        """Return a ticket that can be redeemed for ``credential`` once, within TICKET_S seconds."""
        ticket = secrets.token_urlsafe(24)
        self._client.set(self._key(ticket), credential, ex=TICKET_S)
        return ticket

    def redeem(self, ticket: str) -> str | None:
        """Invalidate ``ticket`` and return its credential; None for an invalid one."""
        # Crash-safe: a reply that is lost costs the client one more redirection.
        credential: Any = self._client.getdel(self._key(ticket))
        return None if credential is None else credential.decode()

    def _key(self, ticket: str) -> str:
        return self._keys.ticket(hashlib.sha256(ticket.encode()).hexdigest())
