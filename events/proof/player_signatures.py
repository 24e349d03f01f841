"""Moves and acts that players have signed with keys of their own, and the check (docs/proof/player-keys.md)."""

import binascii
import hashlib
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256

from domain.match.enums import Channel
from domain.match.player_signatures import MAX_EVENTS_AFTER_SIGNING, PlayerPublicKey, PlayerSignature
from events.proof.documents import DocumentError, read_shape
from events.proof.public_keys import base64url, from_base64url, signed_bytes
from events.store.converter import shape_of, write_value
from events.store.envelope import Envelope, canonical_json

KIND = "rookery act 1"
MOVE = "move-submitted"

ACTS: Mapping[str, str] = {
    MOVE: "move",
    "draw-accepted": "agreement to a draw",
    "draw-offered": "draw offer",
    "player-resigned": "resignation",
    "ruling-appealed": "appeal",
}

_MEANWHILE = frozenset({MOVE, "clock-paused", "clock-resumed"})
"""The events that may lie between the version seen and the act: moves, which are signed with it, clock pauses."""

_TAKEN_BACK = "moves-taken-back"
_SIGNATURE = shape_of(PlayerSignature)
_SIGNATURE_TEXT = re.compile(r"[0-9a-f]{128}")
_COORDINATE_BYTES = 32
_FIELD = 2**256 - 2**224 + 2**192 + 2**96 - 1
"""Coordinates of points of P-256 are below this prime."""


class SignedStatement(NamedTuple):
    """A statement of a player: the type of the event, the match (``digest`` at ``version``), later ``moves``."""

    act: str
    digest: str
    match: str
    moves: tuple[str, ...]
    seat: int
    version: int

    @property
    def message(self) -> bytes:
        """The bytes that are signed."""
        return signed_bytes(KIND, self._asdict())


class SignedAct(NamedTuple):
    """An act with a valid signature: the event's version, type and actor, and the id of the key."""

    version: int
    type: str
    actor: str
    key: str


def key_id(key: PlayerPublicKey) -> str:
    """Return the id of a player's key: its thumbprint (RFC 7638), 43 letters."""
    return base64url(hashlib.sha256(canonical_json(write_value(key))).digest())


def check_signed(signed: PlayerSignature, message: bytes) -> None:
    """Raise DocumentError, its place within ``signed``, unless that is a signature under ``message``."""
    verifier = _read_key(signed.key)
    if _SIGNATURE_TEXT.fullmatch(signed.signature) is None:
        raise DocumentError("signature", "it is not 64 bytes in lower-case hexadecimal")
    raw = bytes.fromhex(signed.signature)
    try:
        numbers = (int.from_bytes(part) for part in (raw[:32], raw[32:]))
        verifier.verify(encode_dss_signature(*numbers), message, ec.ECDSA(SHA256()))
    except InvalidSignature:
        raise DocumentError(
            "signature", f"it is not the signature of key {key_id(signed.key)} under this act"
        ) from None


def find_signed_acts(match_id: str, events: Sequence[Envelope]) -> Iterator[SignedAct]:
    """Yield each signed act of a match with a verified chain; raises DocumentError at the first fault."""
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
            _refuse_other_version(signed.version, event, events)
            seen, moves = events[signed.version - 1].id, tuple(_moves(events, signed.version, number))
            check_signed(signed, SignedStatement(event.type, seen, match_id, moves, seat, signed.version).message)
        except DocumentError as fault:
            if fault.place.startswith("events["):
                raise
            raise DocumentError(f"{place}.signed{'.' * bool(fault.place)}{fault.place}", fault.reason) from None
        yield SignedAct(event.version, event.type, event.actor, key_id(signed.key))


def in_words(acts: Sequence[SignedAct]) -> str:
    """Return the signers and their acts, each kind of act once for a player and a key."""
    versions: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for act in acts:
        versions[act.actor, ACTS[act.type], act.key].append(str(act.version))
    parts = []
    for (actor, kind, key), numbers in versions.items():
        several = len(numbers) > 1
        parts.append(f"{kind}{'s' * several} of {actor} (version{'s' * several} {', '.join(numbers)}) by key {key}")
    return "; ".join(parts)


def _refuse_other_version(seen: int, event: Envelope, events: Sequence[Envelope]) -> None:
    """Raise DocumentError unless the act can follow version ``seen``: an act laid down until moves are taken back."""
    if not 1 <= seen < event.version:
        raise DocumentError("version", f"an act at version {event.version} is signed over an earlier one, not {seen}")
    if event.version - seen > MAX_EVENTS_AFTER_SIGNING + 1:
        raise DocumentError("version", f"more than {MAX_EVENTS_AFTER_SIGNING} events lie between it and version {seen}")
    between = events[seen : event.version - 1]
    laid_down = event.data.get("channel") == Channel.CONDITIONAL and any(
        event_between.type == MOVE for event_between in between
    )
    for other in between:
        if other.type == _TAKEN_BACK if laid_down else other.type not in _MEANWHILE:
            words = f"it is over version {seen}, and version {other.version}, {other.type}, lies between"
            raise DocumentError("version", words)


def _moves(events: Sequence[Envelope], seen: int, number: int) -> Iterator[str]:
    for place in range(seen, number + 1):
        if events[place].type == MOVE:
            move = events[place].data.get("move")
            if type(move) is not str:
                raise DocumentError(f"events[{place}].data.move", "a move is a text")
            yield move


def _read_key(key: PlayerPublicKey) -> ec.EllipticCurvePublicKey:
    if (key.kty, key.crv) != ("EC", "P-256"):
        raise DocumentError("key", "it is no P-256 key")
    x, y = _coordinate(key.x), _coordinate(key.y)
    try:
        return ec.EllipticCurvePublicNumbers(x, y, ec.SECP256R1()).public_key()
    except ValueError:
        raise DocumentError("key", "it is no point of the curve P-256") from None


def _coordinate(text: str) -> int:
    try:
        raw = from_base64url(text)
    except binascii.Error:
        raw = b""
    number = int.from_bytes(raw)
    if len(raw) != _COORDINATE_BYTES or number >= _FIELD:
        raise DocumentError("key", "its coordinates are not 32 bytes in base64url, or not below the prime of the curve")
    return number
