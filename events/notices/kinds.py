"""The closed sets of words about notices. A stored value is never renamed; new ones may be added."""

from enum import StrEnum


class NoticeKind(StrEnum):
    """What a notice is about; people choose for each kind when they are told."""

    TURN = "turn"
    DEADLINE = "deadline"
    OFFER = "offer"
    CHAT = "chat"
    INVITATION = "invitation"
    STARTED = "started"
    ENDED = "ended"
    CASE = "case"
    RULING = "ruling"


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
    """It was tried and given up; the reason says what was answered."""


class WhoMayWrite(StrEnum):
    """What a mail needs beside a valid token to act for a person, who chooses it."""

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
