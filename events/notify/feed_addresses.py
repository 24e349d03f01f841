"""The secret addresses of feeds, for programs that cannot sign in: revocable, stored as a digest, for feeds alone."""

import hashlib
import hmac
from typing import NamedTuple

from events.notify.player_store import PlayerStore
from events.store.converter import pack, unpack

MAX_SECRET_LENGTH = 100


class FeedAddress(NamedTuple):
    """The address of a person's feeds, by the SHA-256 of its secret (hexadecimal), and when it was made."""

    digest: str
    created_at: int


class FeedAddresses(PlayerStore):
    """The feed addresses of all people: one each."""

    def begin(self, player: str, letters: str, now: int) -> str:
        """Replace the address of ``player``; return its secret: the owner's id, then ``letters``."""
        secret = f"{player}-{letters}"
        self._client.set(self._key(player), pack(FeedAddress(_digest(secret), now)))
        return secret

    def of(self, player: str) -> FeedAddress | None:
        """Return the address of ``player``, None without one."""
        stored = self._client.get(self._key(player))
        return None if stored is None else unpack(FeedAddress, stored)

    def owner(self, secret: str) -> str | None:
        """Return whose address has this ``secret``, None when it was revoked, replaced or never existed."""
        player, separator, _ = secret.rpartition("-")
        if not separator or len(secret) > MAX_SECRET_LENGTH:
            return None
        address = self.of(player)
        return player if address is not None and hmac.compare_digest(address.digest, _digest(secret)) else None

    def revoke(self, player: str) -> bool:
        """Revoke the address of ``player``; return False when there is none."""
        return bool(self._client.delete(self._key(player)))

    def erase(self, player: str) -> None:
        """Erase the address of ``player``."""
        self.revoke(player)

    def _key(self, player: str) -> str:
        return self._keys(player).feed_address(player)


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode(errors="replace")).hexdigest()
