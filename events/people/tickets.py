"""Tickets: presented once, in an address, in place of a session or token, by clients that are redirected."""

import hashlib
import secrets

from events.people.credentials import belonging_to, with_digest
from events.runtime.connections import StoreClient
from events.runtime.keys import InstallationKeys

TICKET_S = 60


class Tickets:
    """The tickets of an installation, of which only hashes are stored."""

    def __init__(self, client: StoreClient, prefix: str) -> None:
        self._client = client
        self._keys = InstallationKeys(prefix)

    def issue(self, credential: str) -> str:
        """Return a ticket that can be redeemed for ``credential`` once, within TICKET_S seconds."""
        ticket = secrets.token_urlsafe(24)
        key = self._key(ticket)
        self._client.set(key, with_digest(key, credential), ex=TICKET_S)
        return ticket

    def redeem(self, ticket: str) -> str | None:
        """Invalidate ``ticket`` and return its credential; None for an invalid one."""
        # Crash-safe: a reply that is lost costs the client one more redirection.
        key = self._key(ticket)
        stored = self._client.getdel(key)
        return None if stored is None else belonging_to(key, stored).decode()

    def _key(self, ticket: str) -> str:
        return self._keys.ticket(hashlib.sha256(ticket.encode()).hexdigest())
