"""Keys with which the caller signs moves and acts: docs/proof/player-keys.md."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from flask import Blueprint
from marshmallow import fields, validate
from msgspec import Meta

from api.access.auth import require_person
from api.access.limits import spend
from api.addresses import PREFIX
from api.endpoints import endpoint
from api.http.answers import Answer, Instant
from api.http.problems import Problem
from api.http.schemas import EmptyBody, PresentPassword, StrictSchema, StrictString, pattern
from api.operations.signed_acts import signature_field
from api.services import services
from domain.match.player_signatures import PlayerPublicKey, PlayerSignature
from events.people.player_keys import MAX_KEY_NAME_LENGTH, MAX_PLAYER_KEYS, PlayerKey as KeptKey
from events.proof.documents import DocumentError
from events.proof.player_signatures import check_signed, key_id
from events.proof.public_keys import signed_bytes
from events.runtime.errors import LimitReachedError
from events.store.converter import write_value

blueprint = Blueprint("player_keys", __name__, url_prefix=PREFIX)

REGISTRATION = "rookery player key 1"
"""The first line of the text that a key signs when it is added."""

_COORDINATE = pattern("[A-Za-z0-9_-]{43}", "must be 32 bytes in base64url")


class WebKey(StrictSchema):
    """The public part of a JSON Web Key of P-256."""

    crv = StrictString(required=True, validate=validate.OneOf(["P-256"]))
    kty = StrictString(required=True, validate=validate.OneOf(["EC"]))
    x = StrictString(required=True, validate=_COORDINATE)
    y = StrictString(required=True, validate=_COORDINATE)


class PlayerKeyRequest(StrictSchema):
    name = StrictString(1, MAX_KEY_NAME_LENGTH, required=True, about="How its owner calls it")
    password = PresentPassword(about="Of the caller: a session that was left open adds no key")
    nonce = StrictString(
        required=True,
        validate=pattern("[A-Za-z0-9_-]{43}", "must be a nonce of this server"),
        about="As it was made for the caller last; it counts once, for ten minutes",
    )
    key = fields.Nested(WebKey, required=True)
    signature = signature_field("Of this key under the nonce, as docs/proof/player-keys.md says", required=True)


class PlayerKey(Answer):
    id: Annotated[str, Meta(description="The thumbprint of the key (RFC 7638)")]
    name: str
    key: Annotated[Mapping[str, str], Meta(description="The public part as a JSON Web Key")]
    added_at: Instant


class PlayerKeyList(Answer):
    items: Annotated[Sequence[PlayerKey], Meta(description="Oldest first")]
    most: Annotated[int, Meta(description="How many a person can have")]
    person: Annotated[str, Meta(description="The id of the caller")]


class Nonce(Answer):
    nonce: Annotated[str, Meta(description="32 random bytes, base64url")]
    person: Annotated[str, Meta(description="The id of the caller")]


@blueprint.get("/me/player-keys")
@endpoint(answer=PlayerKeyList, signed_in=True)
def list_player_keys() -> PlayerKeyList:
    """List the caller's keys

    The public keys with which the caller signs.
    """
    person = require_person()
    kept = services().player_keys.of(person.id)
    return PlayerKeyList(items=[_represent(key) for key in kept], most=MAX_PLAYER_KEYS, person=person.id)


@blueprint.post("/me/player-key-nonces")
@endpoint(201, answer=Nonce, body=EmptyBody, signed_in=True, session_only=True)
def make_nonce(_: object) -> Nonce:
    """Begin to add a key

    The answer is what the new key has to sign. Only a session can.
    """
    person = require_person()
    return Nonce(nonce=services().player_keys.begin(person.id), person=person.id)


@blueprint.post("/me/player-keys")
@endpoint(201, answer=PlayerKey, body=PlayerKeyRequest, signed_in=True, session_only=True, problems=[409])
def add_key(sent: Mapping[str, Any]) -> PlayerKey:
    """Add a key

    With which the caller signs. It needs the password, and only a session can.
    """
    person = require_person()
    spend("player_keys", person.id)
    if not services().player_keys.redeem(person.id, sent["nonce"]):
        raise _refused("nonce", "the nonce was used, or is older than ten minutes: begin again")
    key = PlayerPublicKey(**sent["key"])
    message = signed_bytes(REGISTRATION, {"nonce": sent["nonce"], "person": person.id})
    try:
        check_signed(PlayerSignature(key=key, signature=sent["signature"], version=1), message)
    except DocumentError as fault:
        reason = "it has not signed the nonce" if fault.place == "signature" else fault.reason
        raise _refused(fault.place, f"the key was not accepted: {reason}") from None
    try:
        return _represent(services().player_keys.add(person.id, key_id(key), sent["name"], key))
    except LimitReachedError as error:
        raise Problem("too-many-player-keys", f"{error}.".capitalize()) from error


@blueprint.delete("/me/player-keys/<key>")
@endpoint(204, signed_in=True, session_only=True, problems=[404])
def remove_key(key: str) -> None:
    """Remove a key

    Its signatures stay valid.
    """
    if not services().player_keys.remove(require_person().id, key):
        raise Problem("no-such-player-key", "You have no key with this id.")


def _refused(place: str, reason: str) -> Problem:
    return Problem("invalid-player-key", f"{reason[0].upper()}{reason[1:]}.", {place: [reason]})


def _represent(key: KeptKey) -> PlayerKey:
    return PlayerKey.of(key, key=write_value(key.key))
