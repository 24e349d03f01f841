"""A notice: the entry of the ledger about one fact and one person, with its deliveries."""

import base64
import hashlib
import json
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeVar

from events.store.converter import read_value, write_value


class NoticeKind(StrEnum):
    """The kind of a notice; people choose for each kind when they are told."""

    TURN = "turn"
    DEADLINE = "deadline"
    OFFER = "offer"
    CHAT = "chat"
    INVITATION = "invitation"
    STARTED = "started"
    ENDED = "ended"
    CASE = "case"
    RULING = "ruling"
    CONTEST = "contest"
    """Of seeks and tournaments."""


class NoticeChannel(StrEnum):
    """How a notice reaches a person."""

    MAIL = "mail"
    PUSH = "push"
    WEBHOOK = "webhook"


class Timing(StrEnum):
    """When a person is told about facts of a kind."""

    AT_ONCE = "at-once"
    DIGEST = "digest"
    NEVER = "never"


class DeliveryState(StrEnum):
    """How far a delivery has come."""

    WAITING = "waiting"
    """It is due at an instant that the ledger names."""

    SENT = "sent"
    NOT_SENT = "not-sent"
    """It was decided against; the reason says why."""

    FAILED = "failed"
    """It was tried and given up; the reason repeats the answer."""


class WhoMayWrite(StrEnum):
    """The condition beside a valid token under which a mail acts for a person, who chooses it."""

    TOKEN_AND_FROM = "token-and-from"  # noqa: S105
    TOKEN_FROM_AND_DMARC = "token-from-and-dmarc"  # noqa: S105


class WhoMayInvite(StrEnum):
    """Who may invite a person to matches, beside blocking; those who have finished a match together are acquainted."""

    ANYONE = "anyone"
    NO_GUESTS = "no-guests"
    """Guests only once they are acquainted."""

    ACQUAINTED = "acquainted"
    NOBODY = "nobody"


class PauseCause(StrEnum):
    """Why nothing but answers is sent to a confirmed mail address."""

    BOUNCES = "bounces"
    STOPPED = "stopped"
    """The person stopped it, by the link or the command in a mail."""


ID_BYTES = 15
"""Of a digest: 24 letters of base 32."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoticeDelivery:
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
    """A notice to a person: its fact, the decision and the reason.

    ``fact`` and ``player`` determine ``id``. ``summary`` is a sentence without anything private, ``reason`` one on
    the decision; ``at`` is when it happened.
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
    deliveries: tuple[NoticeDelivery, ...] = ()


def notice_id(fact: str, player: str) -> str:
    """Return the id of the notice about ``fact`` to ``player``: 24 lower-case letters and digits of base 32."""
    digest = hashlib.sha256(f"{fact}\n{player}".encode()).digest()[:ID_BYTES]
    return base64.b32encode(digest).decode().lower()


T = TypeVar("T")


def to_json(value: Any) -> str:
    """Return ``value``, the instance of a class, as JSON text."""
    return json.dumps(write_value(value), separators=(",", ":"))


def from_json(made: type[T], text: str | bytes) -> T:
    """Return the instance of ``made`` that ``to_json`` wrote. Raises ValueError with the place and the reason."""
    return read_value(made, json.loads(text))
