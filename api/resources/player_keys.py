"""Keys with which the caller signs acts that settle a match: docs/proof/player-keys.md."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from flask import Blueprint
from marshmallow import ValidationError, fields, validate, validates_schema
from msgspec import Meta

from api.access.auth import own_origin, require_person
from api.access.limits import spend, spend_by_address
from api.addresses import PREFIX
from api.endpoints import endpoint
from api.http.answers import Answer, Instant, one_of
from api.http.problems import Problem
from api.http.schemas import EmptyBody, StrictBoolean, StrictSchema, StrictString, pattern
from api.operations.passkeys import InvalidPasskeyError, read_passkey, relying_party
from api.services import services
from domain.match.enums import PlayerKeyKind
from domain.match.player_signatures import PlayerPublicKey, PlayerSignature
from events.people.person import Person
from events.people.player_keys import MAX_KEY_NAME_LENGTH, MAX_PLAYER_KEYS, TooManyPlayerKeysError
from events.people.player_keys import PlayerKey as KeptKey
from events.proof.documents import DocumentError
from events.proof.player_signatures import check_signed, from_base64url, key_id
from events.proof.public_keys import signed_bytes
from events.runtime.wall_clock import rfc3339
from events.store.converter import write_value

blueprint = Blueprint("player_keys", __name__, url_prefix=PREFIX)

REGISTRATION = "rookery player key 1"
"""The first line of what a device key signs when it is added."""

MAX_BASE64_CHARACTERS = 8192
_COORDINATE = pattern("[A-Za-z0-9_-]{43}", "must be 32 bytes in base64url")


def _base64url(description: str) -> StrictString:
    return StrictString(
        required=True,
        validate=pattern(f"[A-Za-z0-9_-]{{1,{MAX_BASE64_CHARACTERS}}}", "must be base64url without padding"),
        metadata={"description": description},
    )


class WebKey(StrictSchema):
    """The public part of a JSON Web Key, Ed25519 or P-256."""

    crv = StrictString(required=True, validate=validate.OneOf(["Ed25519", "P-256"]))
    kty = StrictString(required=True, validate=validate.OneOf(["OKP", "EC"]))
    x = StrictString(required=True, validate=_COORDINATE)
    y = StrictString(validate=_COORDINATE)


class DeviceKeyRequest(StrictSchema):
    """A key that a program or a browser keeps."""

    key = fields.Nested(WebKey, required=True)
    signature = StrictString(
        required=True,
        validate=pattern("[0-9a-f]{128}", "must be 64 bytes in lower-case hexadecimal"),
        metadata={"description": "Of this key over the SHA-256 of what docs/proof/player-keys.md says"},
    )


class PasskeyRequest(StrictSchema):
    """What an authenticator has answered to a browser."""

    credential = _base64url("The id of the credential")
    client_data = _base64url("clientDataJSON")
    attestation_object = _base64url("attestationObject")


class PlayerKeyRequest(StrictSchema):
    name = StrictString(
        required=True,
        validate=validate.Length(1, MAX_KEY_NAME_LENGTH, error=f"must have 1 to {MAX_KEY_NAME_LENGTH} characters"),
        metadata={"description": "How its owner calls it"},
    )
    password = StrictString(required=True, validate=validate.Length(1, 128), metadata={"description": "Of the caller"})
    nonce = StrictString(
        required=True,
        validate=pattern("[A-Za-z0-9_-]{43}", "must be a nonce of this server"),
        metadata={"description": "As it was made for the caller last; it counts once, for ten minutes"},
    )
    device = fields.Nested(DeviceKeyRequest)
    passkey = fields.Nested(PasskeyRequest)

    @validates_schema(skip_on_field_errors=True)
    def refuse_unless_one(self, sent: Mapping[str, Any], **_: Any) -> None:
        """Raise ValidationError unless one kind of key was sent."""
        if ("device" in sent) == ("passkey" in sent):
            raise ValidationError("must be sent, or else passkey, but not both", "device")


class SigningRequest(StrictSchema):
    signs_acts = StrictBoolean(
        required=True, metadata={"description": "Whether pages ask the caller to sign acts that settle a match"}
    )


class PlayerKey(Answer):
    id: Annotated[str, Meta(description="The thumbprint of the key (RFC 7638)")]
    name: str
    kind: Annotated[str, one_of(PlayerKeyKind)]
    key: Annotated[Mapping[str, str], Meta(description="The public part as a JSON Web Key")]
    credential: Annotated[str | None, Meta(description="The id by which an authenticator knows a passkey")]
    added_at: Instant


class PlayerKeyList(Answer):
    items: Annotated[Sequence[PlayerKey], Meta(description="Oldest first")]
    most: Annotated[int, Meta(description="How many a person can have")]
    person: Annotated[str, Meta(description="The id of the caller")]
    signs_acts: Annotated[bool, Meta(description="Whether pages ask the caller to sign")]


class Nonce(Answer):
    nonce: Annotated[str, Meta(description="32 random bytes, base64url: the challenge of a new passkey")]
    person: Annotated[str, Meta(description="The id of the caller")]
    relying_party: Annotated[str, Meta(description="The host of this site, to which passkeys belong")]


@blueprint.get("/me/player-keys")
@endpoint(answer=PlayerKeyList, signed_in=True)
def list_keys() -> PlayerKeyList:
    """The keys with which the caller signs"""
    person = require_person()
    kept = services().player_keys.of(person.id)
    return PlayerKeyList(
        items=[_represent(key) for key in kept.keys],
        most=MAX_PLAYER_KEYS,
        person=person.id,
        signs_acts=kept.signs_acts,
    )


@blueprint.post("/me/player-key-nonces")
@endpoint(201, answer=Nonce, body=EmptyBody, signed_in=True, session_only=True)
def make_nonce(_: object) -> Nonce:
    """Begin to add a key; only a session can"""
    person = require_person()
    return Nonce(
        nonce=services().player_keys.begin(person.id), person=person.id, relying_party=relying_party(own_origin())
    )


@blueprint.post("/me/player-keys")
@endpoint(201, answer=PlayerKey, body=PlayerKeyRequest, signed_in=True, session_only=True, problems=[409])
def add_key(sent: Mapping[str, Any]) -> PlayerKey:
    """Add a key with which the caller signs, given the password; only a session can"""
    person = require_person()
    spend("player_keys", person.id)
    _require_password(person, sent["password"])
    if not services().player_keys.redeem(person.id, sent["nonce"]):
        raise _refused("nonce", "the nonce was used, or is older than ten minutes: begin again")
    kind, credential = PlayerKeyKind.DEVICE, None
    if "device" in sent:
        key = _device_key(person, sent["nonce"], sent["device"])
    else:
        try:
            credential, key = read_passkey(from_base64url(sent["nonce"]), own_origin(), sent["passkey"])
        except InvalidPasskeyError as error:
            raise _refused("passkey", f"the passkey was not accepted: {error}") from error
        kind = PlayerKeyKind.PASSKEY
    try:
        return _represent(
            services().player_keys.add(person.id, key_id(key), sent["name"], kind, key, credential),
        )
    except TooManyPlayerKeysError as error:
        raise Problem("too-many-player-keys", f"{error}.".capitalize()) from error


@blueprint.delete("/me/player-keys/<key>")
@endpoint(204, signed_in=True, session_only=True, problems=[404])
def remove_key(key: str) -> None:
    """Remove a key; what it has signed stays valid"""
    if not services().player_keys.remove(require_person().id, key):
        raise Problem("no-such-player-key", "You have no key with this id.")


@blueprint.put("/me/signing")
@endpoint(204, body=SigningRequest, signed_in=True)
def set_signing(sent: Mapping[str, bool]) -> None:
    """Say whether pages ask the caller to sign acts that settle a match"""
    services().player_keys.ask_to_sign(require_person().id, sent["signs_acts"])


def _require_password(person: Person, password: str) -> None:
    """Raise a problem unless ``password`` is that of ``person``: a session that was left open adds no key."""
    if person.kind == "guest":
        raise Problem("sign-up-required", "Sign up first: a guest has no password, by which a key is added.")
    spend_by_address("sign_in", person.name.lower())
    if services().people.sign_in(person.name, password) != person:
        raise Problem("invalid-fields", "That is not your password.", {"password": ["is not your password"]})


def _device_key(person: Person, nonce: str, sent: Mapping[str, Any]) -> PlayerPublicKey:
    """Return the device key that was sent; raises the problem invalid-player-key unless it has signed ``nonce``."""
    key = PlayerPublicKey(**sent["key"])
    challenge = hashlib.sha256(signed_bytes(REGISTRATION, {"nonce": nonce, "person": person.id})).digest()
    signed = PlayerSignature(key=key, kind=PlayerKeyKind.DEVICE, signature=sent["signature"], version=1)
    try:
        check_signed(signed, challenge)
    except DocumentError as fault:
        reason = "it has not signed the nonce" if fault.place == "signature" else fault.reason
        raise _refused(f"device.{fault.place}", f"the key was not accepted: {reason}") from None
    return key


def _refused(place: str, reason: str) -> Problem:
    return Problem("invalid-player-key", f"{reason[0].upper()}{reason[1:]}.", {place: [reason]})


def _represent(key: KeptKey) -> PlayerKey:
    return PlayerKey(
        id=key.id,
        name=key.name,
        kind=key.kind,
        key=write_value(key.key),
        credential=key.credential,
        added_at=rfc3339(key.added_at),
    )
