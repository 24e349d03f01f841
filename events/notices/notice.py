"""A notice: the entry of the ledger about one fact and one person, with its deliveries."""

import base64
import hashlib
from dataclasses import dataclass

from events.notices.kinds import DeliveryState, NoticeChannel, NoticeKind

ID_BYTES = 15
"""Of a digest: 24 letters of base 32."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """A notice on its way through a channel to a ``target``: a webhook endpoint or push subscription, "" for mail.

    ``reason`` is a sentence for the person; ``due`` is the next attempt (None: none), ``at`` the last change.
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

    ``fact`` and ``player`` determine ``id``. ``summary`` is a sentence without anything private, ``reason`` what was
    decided; ``at`` is when it happened.
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
