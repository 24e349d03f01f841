"""Tokens in mail addresses: the subject of a mail that is written to such an address, and for whom it may speak.

In base 32: format version, kind, then for a match the seat, the version tag (4 bytes of version, 8 of digest) and its
id, for a player a detail and the id; at last 12 bytes of an HMAC-SHA256 (RFC 2104) under a secret of the player.
"""

import base64
import binascii
import hashlib
import hmac
import re
from dataclasses import dataclass
from enum import IntEnum

from domain.match.state import MatchState
from domain.match.terms import DAY
from events.store.contract import DIGEST_DIGITS, VersionTag

FORMAT = 1
MAC_BYTES = 12
MIN_SECRET_BYTES = 16
MAX_VERSION = 2**32 - 1
MAX_PLAIN_ID_CHARACTERS = 10
MAX_TOKEN_CHARACTERS = 62
"""A local part has at most 64 octets (RFC 5321, 4.5.3.1.1), two of which name the use of the address."""

EXPIRY_MS = 30 * DAY
"""For so long after the end of a match its tokens are read."""

REPLY_PREFIX = "r-"
BOUNCE_PREFIX = "b-"
_DOMAIN_SEPARATION = b"rookery mail token\n"
_TOKEN = re.compile(r"[a-z2-7]+")
_PACKED_ID = re.compile(r"([a-z])([a-z2-7]{16})")
_PLAIN_ID = re.compile(rf"[\x21-\x7e]{{1,{MAX_PLAIN_ID_CHARACTERS}}}")


class TokenKind(IntEnum):
    """The use of a token. A number is never given to another kind."""

    REPLY = 1
    """Commands about a match, from the seat, to the position that the mail shows."""

    CONFIRM_RESIGNATION = 2
    """The same, in the answer to ``resign``: there it resigns."""

    ACCOUNT = 3
    """Commands that are about no match, in answer to a digest."""

    BOUNCE = 4

    UNSUBSCRIBE = 5
    """Turns notices by mail off; ``detail`` says which."""


MATCH_KINDS = frozenset({TokenKind.REPLY, TokenKind.CONFIRM_RESIGNATION})


class TokenError(ValueError):
    """A text that is no token, or one that the secret has not made. ``str(error)`` says which."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchToken:
    """``seat`` of ``match_id`` may answer to a mail that shows the match at the version of ``tag``."""

    kind: TokenKind
    match_id: str
    seat: int
    tag: VersionTag


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayerToken:
    """``player`` is meant; ``detail`` (0 to 255) belongs to the kind."""

    kind: TokenKind
    player: str
    detail: int = 0


Token = MatchToken | PlayerToken


def write_token(token: Token, secret: bytes) -> str:
    """Return ``token`` as at most 62 letters and digits; raises ValueError for a value that has no place in it."""
    packed = _pack(token)
    return _encode(packed + _mac(packed, secret))


def read_token(text: str) -> Token:
    """Return the token that ``text`` claims to be: to be believed only after ``verify_token``. Raises TokenError."""
    return _unpack(_decode(text)[:-MAC_BYTES])


def verify_token(text: str, secret: bytes) -> Token:
    """Return the token that ``text`` is; raises TokenError unless it was written with ``secret``."""
    stored = _decode(text)
    packed, mac = stored[:-MAC_BYTES], stored[-MAC_BYTES:]
    if not hmac.compare_digest(_mac(packed, secret), mac):
        raise TokenError("this address was not made for this player, or has been made worthless since")
    return _unpack(packed)


def is_expired(state: MatchState, now: int) -> bool:
    """Tell whether the tokens of a match are no longer read: 30 days after its end."""
    return state.result.ended_at is not None and now >= state.result.ended_at + EXPIRY_MS


def reply_address(text: str, domain: str) -> str:
    """Return the address at ``domain`` that commands are sent to with the token ``text``."""
    return f"{REPLY_PREFIX}{text}@{domain}"


def bounce_address(text: str, domain: str) -> str:
    """Return the envelope sender with the token ``text``: where servers report that a mail was not delivered."""
    return f"{BOUNCE_PREFIX}{text}@{domain}"


def _mac(packed: bytes, secret: bytes) -> bytes:
    if len(secret) < MIN_SECRET_BYTES:
        raise ValueError(f"a secret has at least {MIN_SECRET_BYTES} bytes")
    return hmac.digest(secret, _DOMAIN_SEPARATION + packed, hashlib.sha256)[:MAC_BYTES]


def _encode(stored: bytes) -> str:
    return base64.b32encode(stored).decode().rstrip("=").lower()


def _decode(text: str) -> bytes:
    plain = text.lower()
    if len(plain) > MAX_TOKEN_CHARACTERS or not _TOKEN.fullmatch(plain):
        raise TokenError("this is no address of ours")
    try:
        stored = base64.b32decode(plain.upper() + "=" * (-len(plain) % 8))
    except binascii.Error:
        raise TokenError("this address is not complete") from None
    # Unused bits at the end must be zero: a token has one form only.
    if len(stored) <= MAC_BYTES or _encode(stored) != plain:
        raise TokenError("this address is not complete")
    return stored


def _pack(token: Token) -> bytes:
    is_of_match = isinstance(token, MatchToken)
    if is_of_match != (token.kind in MATCH_KINDS):
        raise ValueError(f"a token of kind {token.kind.name} is {'not ' * is_of_match}about a match")
    head = bytes([FORMAT, token.kind])
    if isinstance(token, PlayerToken):
        return head + bytes([token.detail]) + _pack_id(token.player)
    if not 0 <= token.tag.version <= MAX_VERSION or len(token.tag.digest) != DIGEST_DIGITS:
        raise ValueError(f"{token.tag} is no version tag")
    tag = token.tag.version.to_bytes(4, "big") + bytes.fromhex(token.tag.digest)
    return head + bytes([token.seat]) + tag + _pack_id(token.match_id)


def _unpack(packed: bytes) -> Token:
    if packed[0] != FORMAT or len(packed) < 4:
        raise TokenError("this address is of a form that is not known here")
    try:
        kind = TokenKind(packed[1])
    except ValueError:
        raise TokenError("this address is for nothing that is known here") from None
    if kind not in MATCH_KINDS:
        return PlayerToken(kind=kind, player=_unpack_id(packed[3:]), detail=packed[2])
    if len(packed) < 16:
        raise TokenError("this address is not complete")
    tag = VersionTag(int.from_bytes(packed[3:7], "big"), packed[7:15].hex())
    return MatchToken(kind=kind, match_id=_unpack_id(packed[15:]), seat=packed[2], tag=tag)


def _pack_id(name: str) -> bytes:
    """Return the bytes of an id: its letter and 10 bytes as ids are made, else its length and its characters."""
    if packed := _PACKED_ID.fullmatch(name):
        return packed[1].encode() + base64.b32decode(packed[2].upper())
    if not _PLAIN_ID.fullmatch(name):
        raise ValueError(f"the id {name!r} does not fit into an address")
    return bytes([len(name)]) + name.encode()


def _unpack_id(packed: bytes) -> str:
    if packed[0] <= MAX_PLAIN_ID_CHARACTERS:
        name = packed[1:].decode("ascii", "replace")
        if len(packed) == packed[0] + 1 and _PLAIN_ID.fullmatch(name) and not _PACKED_ID.fullmatch(name):
            return name
    elif len(packed) == 11 and ord("a") <= packed[0] <= ord("z"):
        return chr(packed[0]) + _encode(packed[1:])
    raise TokenError("this address is not complete")
