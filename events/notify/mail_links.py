"""Links in mail that need no sign-in: to confirm its address or choose a new password.

A link carries the player, the second at which it expires, and an HMAC-SHA256 over its purpose and subject. Nothing
is stored.
"""

import base64
import hashlib
import hmac
import re
from enum import StrEnum
from typing import NamedTuple

MAC_BYTES = 15
MAX_LINK_CHARACTERS = 120
CONFIRMATION_MS = 24 * 3600 * 1000
PASSWORD_RESET_MS = 3600 * 1000
USED = "This link has been used already, or another one has taken its place."
_LINK = re.compile(r"(?P<player>[a-z0-9]{1,40})\.(?P<expires>[0-9a-f]{1,10})\.(?P<mac>[a-z2-7]{24})")


class LinkPurpose(StrEnum):
    """The use of a link."""

    CONFIRMATION = "confirmation"
    PASSWORD_RESET = "password-reset"  # noqa: S105 - the name of the purpose


class LinkError(ValueError):
    """A link that is not valid, or no longer; the message says why, in a sentence for its reader."""


class Link(NamedTuple):
    """The claim of a link, to be believed only after ``verify_link``."""

    player: str
    expires_s: int
    mac: str


def write_link(purpose: LinkPurpose, player: str, subject: str, expires_at: int, secret: bytes) -> str:
    """Return a link for ``player`` that is valid until ``expires_at``, while ``subject`` stays the same."""
    expires_s = expires_at // 1000
    return f"{player}.{expires_s:x}.{_mac(purpose, player, subject, expires_s, secret)}"


def reset_subject(password_mark: str, address: str | None) -> str:
    """Return the subject of a link to choose a password: worthless once password or ``address`` has changed."""
    return f"{password_mark} {address or ''}"


def read_link(text: str) -> Link:
    """Return the claim in the text of a link. Raises LinkError."""
    matched = _LINK.fullmatch(text.strip().lower())
    if matched is None:
        raise LinkError("This link is not complete: copy all of it from the mail.")
    return Link(matched["player"], int(matched["expires"], 16), matched["mac"])


def verify_link(link: Link, purpose: LinkPurpose, subject: str, secret: bytes, now: int) -> None:
    """Raise LinkError unless ``link`` is good for ``purpose`` and ``subject`` at ``now``."""
    expected = _mac(purpose, link.player, subject, link.expires_s, secret)
    if not hmac.compare_digest(expected, link.mac):
        raise LinkError(USED)
    if now >= link.expires_s * 1000:
        raise LinkError("This link has expired: ask for another one.")


def _mac(purpose: LinkPurpose, player: str, subject: str, expires_s: int, secret: bytes) -> str:
    signed = "\n".join(("rookery link", purpose, player, str(expires_s), subject)).encode()
    return base64.b32encode(hmac.digest(secret, signed, hashlib.sha256)[:MAC_BYTES]).decode().lower()
