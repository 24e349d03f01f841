"""Mail that comes back: reports of other servers that a mail was not delivered (RFC 3464), read and counted."""

import hashlib
import re
from email import message_from_bytes
from email.message import Message
from typing import NamedTuple

from events.notify.addresses import (
    HARD_SCORE,
    SOFT_SCORE,
    AddressStore,
    MailAddress,
    address_digest,
    plain,
    with_bounce,
    with_problem,
)
from events.runtime.wall_clock import read_header_date

MAX_READ_BYTES = 64_000
"""Of a report: its words stand before the mail that comes back with it."""

_STATUS = re.compile(r"([245])\.(\d{1,3})\.(\d{1,3})")
_MACHINE = re.compile(r"\b(mailer-daemon|postmaster)@", re.IGNORECASE)


class Bounce(NamedTuple):
    """A mail that was not delivered: ``hard`` if the address itself is wrong, with the words of the server."""

    hard: bool
    reason: str
    arrived_at: int | None = None
    recipient: str = ""


def read_bounce(content: bytes) -> Bounce | None:
    """Return the report of a mail to a bounce address; None for one that reports no failure, as an automatic reply."""
    try:
        message = message_from_bytes(content[:MAX_READ_BYTES])
        for part in message.walk():
            if part.get_content_type() == "message/delivery-status":
                return _read_status(part)
        if _MACHINE.search(_field(message, "From")):
            return Bounce(hard=False, reason=plain(_field(message, "Subject")))
    except Exception:
        # The parser raises errors of many kinds for malformed MIME, which reports nothing that can be believed.
        return None
    return None


def is_hard(status: str) -> bool:
    """Tell whether an enhanced status code (RFC 3463) says that the address is wrong, not the mail or the moment."""
    matched = _STATUS.search(status)
    return bool(matched and matched[1] == "5" and (matched[2] == "1" or (matched[2], matched[3]) == ("2", "1")))


def record_bounce(addresses: AddressStore, player: str, content: bytes, now: int) -> str:
    """Count the report ``content`` about mail to ``player``, once; return the act that followed, in words."""
    bounce = read_bounce(content)
    if bounce is None:
        return "It reports no mail that was not delivered, so nothing was counted."
    stored = addresses.read(player)
    if stored.wanted is not None and address_digest(bounce.recipient) == address_digest(stored.wanted):
        problem = f"The mail came back: {bounce.reason}"
        addresses.change(player, lambda before: with_problem(before, before.wanted or "", problem))
        return "The mail that asks to confirm an address came back."
    if _is_of_former_address(bounce, stored):
        return "It is about mail to a former address, so nothing was counted."
    digest = hashlib.sha256(content).hexdigest()[:16]
    score = HARD_SCORE if bounce.hard else SOFT_SCORE
    after = addresses.change(player, lambda before: with_bounce(before, digest, score, bounce.reason, now))
    counted = "A mail to you came back."
    return counted if after.reachable else f"{counted} Notices by mail are paused."


def _is_of_former_address(bounce: Bounce, stored: MailAddress) -> bool:
    confirmed_at = stored.confirmed_at
    return confirmed_at is None or (bounce.arrived_at is not None and bounce.arrived_at < confirmed_at - 60_000)


def _read_status(part: "Message[str, str]") -> Bounce | None:
    blocks = part.get_payload()
    if not isinstance(blocks, list) or not blocks:
        return None
    arrived_at = read_header_date(_field(blocks[0], "Arrival-Date"))
    for block in blocks[1:] or blocks:
        if _field(block, "Action").strip().lower() == "failed":
            status = _field(block, "Status")
            said = _field(block, "Diagnostic-Code").partition(";")[2].strip() or status
            recipient = _field(block, "Original-Recipient") or _field(block, "Final-Recipient")
            return Bounce(is_hard(status), plain(said), arrived_at, recipient.partition(";")[2].strip())
    return None


def _field(part: object, name: str) -> str:
    return str(part.get(name, "")) if isinstance(part, Message) else ""
