"""Push subscriptions: the browsers in which a person wants notices, and how the last delivery to each went.

One belongs to its session and ends with it; an ended one stays listed for a while, without its keys, with the reason.
"""

import base64
import hashlib
from collections.abc import Callable
from typing import NamedTuple

from events.notify.player_store import PlayerStore
from events.runtime.connections import StorePipeline
from events.runtime.errors import LimitReachedError
from events.runtime.transactions import transact
from events.store.converter import pack, unpack

MAX_SUBSCRIPTIONS = 10
MAX_LABEL_LENGTH = 60
ENDED_KEPT_MS = 30 * 24 * 3_600_000
MAX_ENDED = 10
_ID_BYTES = 15
"""Of a digest: 24 letters of base 32."""


class Subscription(NamedTuple):
    """A browser in which ``player`` gets notices, named by ``label``.

    ``point`` and ``secret`` are p256dh and auth (RFC 8291, base64url). ``delivered_at`` is the last accepted message,
    ``answer`` the outcome of the last one at ``answered_at``; ``ended`` says why it has ended, "" while it has not.
    """

    id: str
    endpoint: str
    point: str
    secret: str
    label: str
    session: str
    created_at: int
    delivered_at: int | None = None
    answer: str = ""
    answered_at: int | None = None
    ended: str = ""


def subscription_id(endpoint: str) -> str:
    """Return the id of the subscription at ``endpoint``: 24 lower-case letters and digits of base 32."""
    digest = hashlib.sha256(endpoint.encode()).digest()[:_ID_BYTES]
    return base64.b32encode(digest).decode().lower()


class Subscriptions(PlayerStore):
    """The subscriptions of all people."""

    def of(self, player: str) -> list[Subscription]:
        """Return the subscriptions of ``player``, ended ones too, oldest first."""
        stored = self._client.hgetall(self._key(player)).values()
        return sorted(
            (unpack(Subscription, packed) for packed in stored),
            key=lambda subscription: (subscription.created_at, subscription.id),
        )

    def live(self, player: str) -> list[Subscription]:
        """Return the subscriptions of ``player`` that have not ended, oldest first."""
        return [subscription for subscription in self.of(player) if not subscription.ended]

    def find(self, player: str, id: str) -> Subscription | None:
        """Return the subscription of ``player`` with this id, ended or not; None when there is none."""
        stored = self._client.hget(self._key(player), id)
        return None if stored is None else unpack(Subscription, stored)

    def save(self, player: str, subscription: Subscription, replaces: str | None = None) -> Subscription:
        """Store ``subscription`` in place of its id and of ``replaces``; raises LimitReachedError."""
        key = self._key(player)

        def write(pipeline: StorePipeline) -> Subscription:
            stored = {entry.id: entry for entry in _unpacked(pipeline.hgetall(key))}
            before = stored.pop(subscription.id, None)
            gone = {id for id in (replaces,) if id in stored}
            gone |= _outdated([entry for id, entry in stored.items() if id not in gone], subscription.created_at)
            live = [id for id, entry in stored.items() if id not in gone and not entry.ended]
            if len(live) >= MAX_SUBSCRIPTIONS:
                raise LimitReachedError(f"{MAX_SUBSCRIPTIONS} browsers can get notices at most: remove one first")
            saved = subscription if before is None else _continued(subscription, before)
            pipeline.multi()
            pipeline.hset(key, saved.id, pack(saved))
            if gone:
                pipeline.hdel(key, *gone)
            return saved

        return transact(self._client, [key], write)

    def record(self, player: str, id: str, answer: str, now: int, *, delivered: bool) -> None:
        """Record the outcome of a message for a subscription; nothing happens when that has been removed."""
        self._change(
            player,
            id,
            lambda old: old._replace(
                answer=answer, answered_at=now, delivered_at=now if delivered else old.delivered_at
            ),
        )

    def end(self, player: str, id: str, reason: str, now: int, session: str | None = None) -> None:
        """End a subscription for a ``reason``, a sentence, unless it belongs to another session by now (None: any)."""

        def ended(old: Subscription) -> Subscription:
            if session is not None and old.session != session:
                return old
            return old._replace(endpoint="", point="", secret="", session="", ended=reason, answered_at=now)

        self._change(player, id, ended)

    def remove(self, player: str, id: str) -> bool:
        """Remove a subscription; return False when ``player`` has none with this id."""
        return bool(self._client.hdel(self._key(player), id))

    def erase(self, player: str) -> None:
        """Erase the subscriptions of ``player``."""
        self._client.delete(self._key(player))

    def _change(self, player: str, id: str, change: Callable[[Subscription], Subscription]) -> None:
        key = self._key(player)

        def write(pipeline: StorePipeline) -> None:
            stored = pipeline.hget(key, id)
            if stored is None:
                return
            pipeline.multi()
            pipeline.hset(key, id, pack(change(unpack(Subscription, stored))))

        transact(self._client, [key], write)

    def _key(self, player: str) -> str:
        return self._keys(player).subscriptions(player)


def _unpacked(stored: dict[bytes, bytes]) -> list[Subscription]:
    return [unpack(Subscription, packed) for packed in stored.values()]


def _continued(subscription: Subscription, before: Subscription) -> Subscription:
    return subscription._replace(
        created_at=before.created_at,
        delivered_at=before.delivered_at,
        answer=before.answer,
        answered_at=before.answered_at,
    )


def _outdated(subscriptions: list[Subscription], now: int) -> set[str]:
    ended = sorted(
        (subscription for subscription in subscriptions if subscription.ended),
        key=lambda subscription: -(subscription.answered_at or 0),
    )
    return {
        subscription.id
        for place, subscription in enumerate(ended)
        if place >= MAX_ENDED or (subscription.answered_at or 0) < now - ENDED_KEPT_MS
    }
