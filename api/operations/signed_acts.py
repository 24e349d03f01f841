"""Acts that players sign with keys of their own: what is sent, and its check before the act counts."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from marshmallow import fields, validate

from api.access.auth import own_origin, require_person
from api.access.matches import own_match
from api.http.conditions import expected_version
from api.http.problems import Problem
from api.http.schemas import StrictInteger, StrictSchema, StrictString, pattern
from api.services import services
from domain.match.guards import seat_of
from domain.match.player_signatures import PlayerSignature
from events.proof.documents import DocumentError
from events.proof.player_signatures import (
    MAX_AUTHENTICATOR_DATA_BYTES,
    MAX_CLIENT_DATA_CHARACTERS,
    Statement,
    check_signature,
    origin_of,
)
from events.store.contract import VersionTag, tag_of

MAX_VERSION = 2**53 - 1


class ActSignature(StrictSchema):
    """A signature of the caller's key under an act: docs/proof/player-keys.md."""

    key = StrictString(
        required=True,
        validate=pattern("[A-Za-z0-9_-]{43}", "must be the id of a key"),
        metadata={"description": "The id of a key of the caller"},
    )
    signature = StrictString(
        required=True,
        validate=pattern("[0-9a-f]{128}", "must be 64 bytes in lower-case hexadecimal"),
        metadata={"description": "Ed25519, or ECDSA of P-256 with SHA-256 as r and s, 32 bytes each"},
    )
    version = StrictInteger(
        required=True,
        validate=validate.Range(1, MAX_VERSION, error="must be a version of the match"),
        metadata={"description": "The version of the match that is signed: the last one there is"},
    )
    authenticator_data = StrictString(
        validate=pattern(
            f"([0-9a-f]{{2}}){{37,{MAX_AUTHENTICATOR_DATA_BYTES}}}", "must be bytes in lower-case hexadecimal"
        ),
        metadata={"description": "Of a passkey: authenticatorData"},
    )
    client_data = StrictString(
        validate=validate.Length(1, MAX_CLIENT_DATA_CHARACTERS),
        metadata={"description": "Of a passkey: clientDataJSON as text"},
    )


class ActRequest(StrictSchema):
    """The body of an act that can be signed."""

    signed = fields.Nested(ActSignature, metadata={"description": "A signature of the caller's own key, if wanted"})


class Signed(NamedTuple):
    """A signature that has been checked, and the version of the match that it is over; None without one."""

    signature: PlayerSignature | None = None
    version: VersionTag | None = None


def checked_signature(sent: Mapping[str, Any] | None, match_id: str, act: str) -> Signed:
    """Return the signature that was ``sent`` under ``act``, the type of an event; nothing when none was.

    Raises the problems no-such-match, no-such-player-key, invalid-signature and invalid-fields.
    """
    if sent is None:
        return Signed()
    person = require_person()
    loaded = own_match(match_id)
    seat = seat_of(loaded.state, person.id)
    key = services().player_keys.of(person.id).find(sent["key"])
    if key is None:
        raise Problem("no-such-player-key", "You have no key with this id: add it in your settings.")
    signed = PlayerSignature(
        key=key.key,
        kind=key.kind,
        signature=sent["signature"],
        version=sent["version"],
        authenticator_data=sent.get("authenticator_data"),
        client_data=sent.get("client_data"),
    )
    # Of the events, not of the state: a repeated request is about a version that has passed.
    events = services().store.read(match_id, signed.version - 1, 1)
    if not events:
        reason = f"must be a version of the match, which has {loaded.head.version}"
        raise Problem("invalid-fields", f"signed.version {reason}.", {"signed.version": [reason]})
    seen = events[0]
    tag = tag_of(seen)
    if expected_version() not in (None, tag):
        reason = "is another version than that of If-Match"
        raise Problem("invalid-fields", f"signed.version {reason}.", {"signed.version": [reason]})
    try:
        check_signature(signed, Statement(act, seen.id, match_id, seat, signed.version))
    except DocumentError as fault:
        raise _invalid(fault.place, fault.reason) from None
    if origin_of(signed) not in (None, own_origin()):
        raise _invalid("client_data", f"the passkey was used on another site than {own_origin()}")
    return Signed(signed, tag)


def _invalid(place: str, reason: str) -> Problem:
    return Problem("invalid-signature", f"The signature cannot count: {reason}.", {f"signed.{place}": [reason]})
