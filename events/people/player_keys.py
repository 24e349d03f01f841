"""The public keys with which people sign their moves and acts (docs/proof/player-keys.md).

Crash-safe: the log of administration has a key before it counts or stops counting. Killed in between, the person does
it again, and the log says it twice.
"""

import base64
import secrets
from collections.abc import Callable
from typing import NamedTuple

from domain.match.player_signatures import PlayerPublicKey
from events.people.administration import Administration
from events.runtime.connections import StoreClient
from events.runtime.errors import LimitReachedError
from events.runtime.keys import PeopleKeys
from events.store.converter import pack, unpack, write_value

MAX_PLAYER_KEYS = 10
MAX_KEY_NAME_LENGTH = 60
NONCE_BYTES = 32
MAX_NONCE_AGE_S = 600
ADDED = "player-key-added"
REMOVED = "player-key-removed"


class PlayerKey(NamedTuple):
    """A key of a person: its id (the thumbprint of ``key``), its name, and when it was added."""

    id: str
    name: str
    key: PlayerPublicKey
    added_at: int


class PlayerKeys:
    """The keys of all people."""

    def __init__(
        self, client: StoreClient, prefix: str, now: Callable[[], int], administration: Administration
    ) -> None:
        self._client = client
        self._keys = PeopleKeys(prefix)
        self._now = now
        self._administration = administration

    def begin(self, person: str) -> str:
        """Return a fresh nonce, 32 random bytes in base64url, for the next key of a person; an earlier one is void."""
        nonce = base64.urlsafe_b64encode(secrets.token_bytes(NONCE_BYTES)).decode().rstrip("=")
        self._client.set(self._keys.player_key_nonce(person), nonce, ex=MAX_NONCE_AGE_S)
        return nonce

    def redeem(self, person: str, nonce: str) -> bool:
        """Return whether ``nonce`` is the one that was made for the person last; it is void from then on."""
        stored = self._client.getdel(self._keys.player_key_nonce(person))
        return stored is not None and secrets.compare_digest(stored, nonce.encode(errors="replace"))

    def add(self, person: str, key_id: str, name: str, key: PlayerPublicKey) -> PlayerKey:
        """Add a key that a person has shown to hold, or rename it. Raises LimitReachedError."""
        present = self.of(person)
        if len(present) >= MAX_PLAYER_KEYS and all(player_key.id != key_id for player_key in present):
            raise LimitReachedError(f"a person can have {MAX_PLAYER_KEYS} keys at most: remove one first")
        added = PlayerKey(key_id, name, key, self._now())
        facts = {"person": person, "key": key_id, "public": write_value(key)}
        self._administration.record(ADDED, person, facts)
        self._client.hset(self._keys.player_keys(person), key_id, pack(added))
        return added

    def of(self, person: str) -> list[PlayerKey]:
        """Return the keys of a person, oldest first."""
        keys = [unpack(PlayerKey, packed) for packed in self._client.hgetall(self._keys.player_keys(person)).values()]
        return sorted(keys, key=lambda key: (key.added_at, key.id))

    def find(self, person: str, key_id: str) -> PlayerKey | None:
        """Return the key of a person that has this id; None when the person has no such key."""
        packed = self._client.hget(self._keys.player_keys(person), key_id)
        return None if packed is None else unpack(PlayerKey, packed)

    def remove(self, person: str, key_id: str) -> bool:
        """Remove a key of a person; return False when the person has no such key. Its signatures stay valid."""
        key = self._keys.player_keys(person)
        if not self._client.hexists(key, key_id):
            return False
        self._administration.record(REMOVED, person, {"person": person, "key": key_id})
        self._client.hdel(key, key_id)
        return True

    def erase(self, person: str) -> None:
        """Delete the keys of a person with their names; the log and the events keep the public parts."""
        self._client.delete(self._keys.player_keys(person), self._keys.player_key_nonce(person))
