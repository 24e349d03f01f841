"""Acts that players have signed with keys of their own: what is signed, and the check (docs/proof/player-keys.md).

A signature shows that the holder of the key has consented to the act in the match as it stood then. That the key is a
certain player's is the statement of the server: it logs when a person adds a key (``events.people.player_keys``).
"""

import base64
import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256

from domain.match.enums import PlayerKeyKind
from domain.match.player_signatures import PlayerPublicKey, PlayerSignature
from events.proof.documents import DocumentError, read_shape
from events.proof.public_keys import signed_bytes
from events.store.converter import shape_of, write_value
from events.store.envelope import Envelope, canonical_json

KIND = "rookery act 1"
"""The first line of what is hashed to the challenge of an act."""

ACTS: Mapping[str, str] = {
    "draw-accepted": "agreement to a draw",
    "draw-offered": "draw offer",
    "player-resigned": "resignation",
    "ruling-appealed": "appeal",
}
"""The types of events that can be signed, and what they are in words."""

MAX_CLIENT_DATA_CHARACTERS = 4096
MAX_CLIENT_DATA_BRACKETS = 32
"""How often [ and { may occur in it: browsers write one, and parsers differ in how deep they read."""

MAX_AUTHENTICATOR_DATA_BYTES = 1024
MIN_AUTHENTICATOR_DATA_BYTES = 37
"""The hash of the relying party, the flags and the counter (Web Authentication, section 6.1)."""

_MEANWHILE = frozenset({"calendar-set", "clock-paused", "clock-resumed"})
"""What the server may record between what a player has seen and the player's act."""

_SIGNATURE = shape_of(PlayerSignature)
_COORDINATE = re.compile(r"[A-Za-z0-9_-]{43}")
_HEXADECIMAL = re.compile(r"(?:[0-9a-f]{2})*")
_ORIGIN = re.compile(r"https?://([a-z0-9.-]+)(?::[0-9]+)?")
_HASH_BYTES = 32
_USER_PRESENT = 1


class Statement(NamedTuple):
    """What a player signs: the act, and the match as the player has seen it.

    ``act`` is the type of the event, ``digest`` the chain digest at ``version`` in hexadecimal.
    """

    act: str
    digest: str
    match: str
    seat: int
    version: int

    @property
    def challenge(self) -> bytes:
        """The 32 bytes that a device key signs, and that a passkey is challenged with."""
        return hashlib.sha256(signed_bytes(KIND, self._asdict())).digest()


def key_id(key: PlayerPublicKey) -> str:
    """Return the id of a player's key: its thumbprint (RFC 7638), 43 letters."""
    return base64url(hashlib.sha256(canonical_json(write_value(key))).digest())


def base64url(raw: bytes) -> str:
    """Return ``raw`` in base64url without padding (RFC 4648 section 5)."""
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def from_base64url(text: str) -> bytes:
    """Return the bytes of ``text``, base64url without padding; raises ValueError."""
    return base64.b64decode(text + "=" * (-len(text) % 4), b"-_", validate=True)


def check_signature(signed: PlayerSignature, statement: Statement) -> None:
    """Raise DocumentError, its place within ``signed``, unless ``signed`` is a signature under ``statement``."""
    check_signed(signed, statement.challenge)


def check_signed(signed: PlayerSignature, challenge: bytes) -> None:
    """Raise DocumentError like ``check_signature`` unless ``signed`` answers ``challenge`` (32 bytes)."""
    verifier = _read_key(signed.key)
    if len(signed.signature) != 2 * 64 or _HEXADECIMAL.fullmatch(signed.signature) is None:
        raise DocumentError("signature", "it is not 64 bytes in lower-case hexadecimal")
    message = challenge
    if signed.kind == PlayerKeyKind.PASSKEY:
        message = _check_assertion(signed, challenge)
    elif signed.authenticator_data is not None:
        raise DocumentError("authenticator_data", "it belongs to passkeys only")
    elif signed.client_data is not None:
        raise DocumentError("client_data", "it belongs to passkeys only")
    raw = bytes.fromhex(signed.signature)
    try:
        if isinstance(verifier, Ed25519PublicKey):
            verifier.verify(raw, message)
        else:
            numbers = (int.from_bytes(part) for part in (raw[:32], raw[32:]))
            verifier.verify(encode_dss_signature(*numbers), message, ec.ECDSA(SHA256()))
    except InvalidSignature:
        raise DocumentError(
            "signature", f"it is not the signature of key {key_id(signed.key)} under this act"
        ) from None


def origin_of(signed: PlayerSignature) -> str | None:
    """Return the origin on whose page a passkey was used; None for a device key. ``signed`` has been checked."""
    return None if signed.client_data is None else str(json.loads(signed.client_data)["origin"])


def find_signed_acts(match_id: str, events: Sequence[Envelope]) -> Iterator[str]:
    """Yield each signed act of a match in words; raises DocumentError with the place of the first fault.

    ``events`` are all events of the match, whose chain has been verified.
    """
    for number, event in enumerate(events):
        if "signed" not in event.data:
            continue
        place = f"events[{number}].data"
        if event.type not in ACTS:
            raise DocumentError(f"{place}.signed", f"an event of the type {event.type} is never signed")
        try:
            signed: PlayerSignature = read_shape(_SIGNATURE, event.data["signed"])
            seat = event.data.get("seat")
            if type(seat) is not int:
                raise DocumentError(f"{place}.seat", "a seat is a whole number")
            _read_key(signed.key)
            _refuse_other_version(signed.version, event, events[:number])
            statement = Statement(event.type, events[signed.version - 1].id, match_id, seat, signed.version)
            check_signature(signed, statement)
        except DocumentError as fault:
            if fault.place.startswith("events["):
                raise
            raise DocumentError(f"{place}.signed{'.' * bool(fault.place)}{fault.place}", fault.reason) from None
        yield f"{ACTS[event.type]} of {event.actor} (version {event.version}) by {_key_in_words(signed)}"


def _refuse_other_version(seen: int, event: Envelope, before: Sequence[Envelope]) -> None:
    """Raise DocumentError unless nothing but pauses of clocks lies between version ``seen`` and ``event``."""
    if not 1 <= seen < event.version:
        raise DocumentError("version", f"an act at version {event.version} is signed over an earlier one, not {seen}")
    between = next((each for each in before[seen:] if each.type not in _MEANWHILE), None)
    if between is not None:
        words = f"it is over version {seen}, and version {between.version}, {between.type}, lies between"
        raise DocumentError("version", words)


def _key_in_words(signed: PlayerSignature) -> str:
    origin = origin_of(signed)
    where = "device key" if origin is None else "passkey"
    return f"{where} {key_id(signed.key)}{'' if origin is None else f' on {origin}'}"


def _read_key(key: PlayerPublicKey) -> Ed25519PublicKey | ec.EllipticCurvePublicKey:
    form = key.kty, key.crv, key.y is None
    if form not in (("OKP", "Ed25519", True), ("EC", "P-256", False)):
        raise DocumentError("key", "it is neither an Ed25519 nor a P-256 key")
    coordinates = [_coordinate(each) for each in (key.x, key.y) if each is not None]
    if len(coordinates) == 1:
        return Ed25519PublicKey.from_public_bytes(coordinates[0])
    try:
        x, y = map(int.from_bytes, coordinates)
        return ec.EllipticCurvePublicNumbers(x, y, ec.SECP256R1()).public_key()
    except ValueError:
        raise DocumentError("key", "it is no point of the curve P-256") from None


def _coordinate(text: str) -> bytes:
    try:
        raw = from_base64url(text) if _COORDINATE.fullmatch(text) else b""
    except ValueError:
        raw = b""
    if len(raw) != _HASH_BYTES or base64url(raw) != text:
        raise DocumentError("key", "its coordinates are not 32 bytes in base64url")
    return raw


def _check_assertion(signed: PlayerSignature, challenge: bytes) -> bytes:
    """Return what the authenticator of a passkey has signed; raises DocumentError (Web Authentication, section 7.2)."""
    packed, text = signed.authenticator_data, signed.client_data
    if packed is None or _HEXADECIMAL.fullmatch(packed) is None or len(packed) < 2 * MIN_AUTHENTICATOR_DATA_BYTES:
        raise DocumentError(
            "authenticator_data", f"it is not {MIN_AUTHENTICATOR_DATA_BYTES} or more bytes in lower-case hexadecimal"
        )
    authenticator_data = bytes.fromhex(packed)
    if text is None:
        raise DocumentError("client_data", "a passkey signs what its browser says")
    client = _read_client_data(text)
    if client.get("type") != "webauthn.get":
        raise DocumentError("client_data", "it is not of a use of a passkey (webauthn.get)")
    if client.get("challenge") != base64url(challenge):
        raise DocumentError("client_data", "its challenge is not that of this act in this match")
    if client.get("crossOrigin") is True:
        raise DocumentError("client_data", "the passkey was used by a page of another site")
    origin = client.get("origin")
    matched = _ORIGIN.fullmatch(origin) if isinstance(origin, str) else None
    if matched is None:
        raise DocumentError("client_data", "its origin is not that of a web site")
    if authenticator_data[:_HASH_BYTES] != hashlib.sha256(matched[1].encode()).digest():
        raise DocumentError("authenticator_data", f"the passkey is not one of {matched[1]}")
    if not authenticator_data[_HASH_BYTES] & _USER_PRESENT:
        raise DocumentError("authenticator_data", "nobody was present when the passkey was used")
    return authenticator_data + hashlib.sha256(text.encode()).digest()


def _read_client_data(text: str) -> Mapping[str, Any]:
    if text.count("[") + text.count("{") > MAX_CLIENT_DATA_BRACKETS:
        raise DocumentError("client_data", f"it has more than {MAX_CLIENT_DATA_BRACKETS} opening brackets")
    try:
        # Numbers are not used, and an int may not have thousands of digits.
        client = json.loads(text, parse_int=float, parse_constant=_refuse_constant)
    except ValueError:
        raise DocumentError("client_data", "it is not JSON") from None
    if not isinstance(client, dict):
        raise DocumentError("client_data", "it is no JSON object")
    return client


def _refuse_constant(name: str) -> float:
    raise ValueError(name)
