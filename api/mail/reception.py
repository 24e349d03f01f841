"""The replies to a server that brings mail: who may be written to, how much, and whether a mail was accepted.

Replies are those of SMTP with enhanced status codes (RFC 5321, RFC 3463).
"""

import hashlib
import re
from dataclasses import dataclass

import structlog
from limits import parse

from events.installation import Installation
from events.notify.inbox import ReceivedMail, mail_digest, text_digest
from events.notify.mail.admission import MAX_HEADERS_BYTES, author_of, has_too_many_headers, header, read_headers
from events.notify.mail.recipients import NoSuchAddressError, Recipient, Recipients, WorthlessAddressError
from events.runtime.connections import StoreClient, translating
from events.runtime.counters import fixed_windows
from events.runtime.errors import StoreError

MAIL_LIMITS = {
    "mail-token": "30/hour",  # mails to one address
    "mail-player": "200/day",  # mails to all addresses of one person
    "mail-sender": "300/hour",  # mails with one envelope sender
    "mail-stranger": "120/hour",  # refused addresses, by the server that named them
    "mail-postmaster": "20/hour",  # mails to the operator, by the envelope sender
    "mail-postmaster-peer": "60/hour",  # the same, by the server that brings them
}


class MailLimits:
    """The limits of incoming mail, MAIL_LIMITS; making them does not connect."""

    def __init__(self, client: StoreClient, prefix: str) -> None:
        self._limiter = fixed_windows(client, prefix)
        self._items = {name: parse(limit) for name, limit in MAIL_LIMITS.items()}

    @translating
    def spend(self, limit: str, who: str) -> bool:
        """Count one use of ``limit`` by ``who``; return False when it is used up. Raises StoreError."""
        return self._limiter.hit(self._items[limit], limit, _hashed(who))

    @translating
    def is_left(self, limit: str, who: str) -> bool:
        """Tell whether ``limit`` is not used up by ``who``, without counting. Raises StoreError."""
        return self._limiter.test(self._items[limit], limit, _hashed(who))


def _hashed(who: str) -> str:
    """Return ``who`` as counters hold it: addresses are stored as hashes only."""
    return hashlib.sha256(who.encode(errors="replace")).hexdigest()[:32]


MAX_MAIL_BYTES = 1_000_000
MAX_SUBJECT_CHARACTERS = 200
OPERATOR_NAMES = ("postmaster", "abuse")
"""Whose mail is the operator's (RFC 2142)."""

OK = "250 2.1.5 OK"
ACCEPTED = "250 2.0.0 Accepted"
UNKNOWN = "550 5.1.1 There is no such address here"
WORTHLESS = "550 5.7.1 This address is not valid: it has expired, or was not made for a match of yours"
NO_RELAY = "550 5.7.1 Mail for other domains is not taken here"
TOO_MANY = "450 4.7.1 Too many mails: try again in an hour"
TOO_MANY_REFUSED = "450 4.7.1 Too many wrong addresses: try again in an hour"
FULL = "452 4.2.2 Earlier mails of this person are still to be read: try again later"
UNAVAILABLE = "451 4.3.0 The mail cannot be stored now: try again later"
TOO_MANY_HEADERS = f"552 5.3.4 The headers of a mail have at most {MAX_HEADERS_BYTES} bytes"
BARE_LINE_END = "550 5.5.2 The lines of a mail end with CR and LF; this one has one without the other"

_BARE = re.compile(rb"(?<!\r)\n|\r(?!\n)")

log = structlog.get_logger("gateway")


@dataclass(frozen=True, slots=True)
class Postmaster:
    """The operator, as the recipient of a mail of ``sender`` that ``peer`` brings."""

    sender: str
    peer: str | None

    @property
    def uses(self) -> tuple[tuple[str, str], ...]:
        """The limits that a mail counts for, and by whom, once it is delivered."""
        by_sender = ("mail-postmaster", self.sender)
        return (by_sender,) if self.peer is None else (by_sender, ("mail-postmaster-peer", self.peer))


class Reception:
    """Judges recipients and stores mail for one installation, in which mail must be set. Safe to share by threads."""

    def __init__(self, installation: Installation, domain: str) -> None:
        self._installation = installation
        self._domain = domain.casefold()
        self._limits = MailLimits(installation.client, installation.prefix)

    def judge(self, address: str, return_path: str, peer: str | None) -> tuple[str, Recipient | Postmaster | None]:
        """Return the reply to RCPT, and the recipient if accepted; ``peer`` is None for the operator's own server."""
        try:
            return self._judge(address, return_path, peer)
        except StoreError as error:
            log.warning("cannot judge a recipient", error=str(error))
            return UNAVAILABLE, None

    def accept(self, recipient: Recipient | Postmaster, return_path: str, content: bytes) -> str:
        """Return the reply to a mail whose ``content`` has come in; a positive one only when it is stored."""
        if _BARE.search(content):
            return BARE_LINE_END
        if has_too_many_headers(content):
            return TOO_MANY_HEADERS
        try:
            return self._accept(recipient, return_path, content)
        except StoreError as error:
            log.warning("cannot store a mail", error=str(error))
            return UNAVAILABLE

    def _judge(self, address: str, return_path: str, peer: str | None) -> tuple[str, Recipient | Postmaster | None]:
        local_part, at, domain = address.rpartition("@")
        if not at:
            local_part, domain = address, self._domain
        if domain.casefold() != self._domain:
            return NO_RELAY, None
        if local_part.casefold() in OPERATOR_NAMES:
            postmaster = Postmaster(return_path.casefold(), peer)
            return (OK, postmaster) if all(self._limits.is_left(*use) for use in postmaster.uses) else (TOO_MANY, None)
        if peer is not None and not self._limits.is_left("mail-stranger", peer):
            return TOO_MANY_REFUSED, None
        try:
            recipient = self._find(local_part)
        except (NoSuchAddressError, WorthlessAddressError) as refusal:
            if peer is not None:
                self._limits.spend("mail-stranger", peer)
            return (UNKNOWN if isinstance(refusal, NoSuchAddressError) else WORTHLESS), None
        # Reports of bounces are counted apart: they must not keep a person from answering.
        kind = recipient.local_part[:1]
        counted = [("mail-token", recipient.local_part), ("mail-player", f"{kind} {recipient.player}")]
        if return_path:
            counted.append(("mail-sender", return_path.casefold()))
        if not all(self._limits.spend(limit, who) for limit, who in counted):
            return TOO_MANY, None
        return OK, recipient

    def _find(self, local_part: str) -> Recipient:
        installation = self._installation
        return Recipients(installation.matches, installation.addresses).find(local_part, installation.now())

    def _accept(self, recipient: Recipient | Postmaster, return_path: str, content: bytes) -> str:
        headers = read_headers(content)
        sender, now, inbox = author_of(headers) or "", self._installation.now(), self._installation.inbox
        if isinstance(recipient, Postmaster):
            if not all(self._limits.spend(*use) for use in recipient.uses):
                return TOO_MANY
            inbox.keep_for_postmaster(sender or return_path, content, now)
            return ACCEPTED
        local_part = recipient.local_part
        mail = ReceivedMail(
            digest=mail_digest(header(headers, "Message-ID"), local_part, content),
            player=recipient.player,
            recipient=local_part,
            return_path=return_path,
            sender=sender,
            subject=header(headers, "Subject")[:MAX_SUBJECT_CHARACTERS],
            size=len(content),
            at=now,
            text=text_digest(content),
        )
        # Crash-safe: the mail is accepted only after it is stored. Killed in between, the other server was not told and
        # sends it again; then its digest is known, and nothing happens twice.
        if not inbox.add(mail, content):
            return FULL
        log.info("accepted", mail=mail.digest, player=mail.player, bytes=mail.size)
        return ACCEPTED
