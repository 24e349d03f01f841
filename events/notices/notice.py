"""A notice: the entry of the ledger about one fact and one person, with its deliveries."""

import base64
import hashlib
from dataclasses import dataclass

from events.notices.kinds import DeliveryState, NoticeChannel, NoticeKind

ID_BYTES = 15
"""Of a digest: 24 letters of base 32."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """A notice on its way through one channel to one ``target``.

    ``target`` is the id of a webhook endpoint or a push subscription, empty for mail. ``reason`` is a sentence for the
    person: why it is sent then, why it was not sent, or what was answered. ``due`` is the instant of the next attempt,
    None when there is none; ``at`` that of the last change. Instants are milliseconds since 1970 UTC.
    """

    channel: NoticeChannel
    target: str = ""
    state: DeliveryState
    reason: str
    due: int | None = None
    attempts: int = 0
    at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """What a person was to be told of, what was decided and why.

    ``fact`` names what happened, the same however often it is found: it determines ``id`` together with ``player``.
    ``version`` is that of the match in which the fact is found. ``summary`` is a sentence without anything private.
    ``reason`` says what was decided about the fact as a whole. ``at`` is when it happened, ``decided_at`` when it was
    decided, ``deadline`` by when it must be dealt with, if that was known (milliseconds since 1970 UTC).
    """

    id: str
    player: str
    kind: NoticeKind
    match: str | None
    version: int
    fact: str
    summary: str
    reason: str
    at: int
    decided_at: int
    deadline: int | None = None
    deliveries: tuple[Delivery, ...] = ()


def notice_id(fact: str, player: str) -> str:
    """Return the id of the notice about ``fact`` to ``player``: 24 lower-case letters and digits of base 32."""
    digest = hashlib.sha256(f"{fact}\n{player}".encode()).digest()[:ID_BYTES]
    return base64.b32encode(digest).decode().lower()
