"""Keys of players in tests: those of a program, and those of an authenticator made of software."""

import hashlib
import json
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import cbor2
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256

from api.resources.player_keys import REGISTRATION
from domain.match.enums import PlayerKeyKind
from domain.match.player_signatures import PlayerPublicKey, PlayerSignature
from events.proof.player_signatures import Statement, base64url, from_base64url, key_id
from events.proof.public_keys import signed_bytes
from events.store.converter import write_value
from tests.support.bundles import envelopes
from tests.support.callers import Answer, Caller
from tests.support.matches import PlayedMatch

ORIGIN = "http://localhost"
"""Where the test client of the app asks."""


@dataclass(frozen=True)
class Signer:
    """A key of a player, which follows from ``seed``; on ``curve`` Ed25519 or P-256.

    ``origin`` is None for a device key; for a passkey where its browser says that it was used.
    """

    seed: int = 1
    curve: str = "Ed25519"
    origin: str | None = None
    flags: int = 1
    client: dict[str, object] = field(default_factory=dict)

    @cached_property
    def _private(self) -> Ed25519PrivateKey | ec.EllipticCurvePrivateKey:
        if self.curve == "Ed25519":
            return Ed25519PrivateKey.from_private_bytes(self.seed.to_bytes(32))
        return ec.derive_private_key(self.seed + 1000, ec.SECP256R1())

    @property
    def public(self) -> PlayerPublicKey:
        """The public part."""
        if isinstance(self._private, Ed25519PrivateKey):
            raw = self._private.public_key().public_bytes_raw()
            return PlayerPublicKey(crv="Ed25519", kty="OKP", x=base64url(raw))
        numbers = self._private.public_key().public_numbers()
        x, y = (base64url(number.to_bytes(32)) for number in (numbers.x, numbers.y))
        return PlayerPublicKey(crv="P-256", kty="EC", x=x, y=y)

    @property
    def id(self) -> str:
        """The id of the key."""
        return key_id(self.public)

    def raw_signature(self, message: bytes) -> bytes:
        """Return the 64 bytes of a signature over ``message``, the same ones every time."""
        if isinstance(self._private, Ed25519PrivateKey):
            return self._private.sign(message)
        encoded = self._private.sign(message, ec.ECDSA(SHA256(), deterministic_signing=True))
        return b"".join(number.to_bytes(32) for number in decode_dss_signature(encoded))

    def answer(self, challenge: bytes, version: int) -> PlayerSignature:
        """Return the signature that answers ``challenge``."""
        if self.origin is None:
            signature = self.raw_signature(challenge).hex()
            return PlayerSignature(key=self.public, kind=PlayerKeyKind.DEVICE, signature=signature, version=version)
        host = self.origin.split("//")[1].split(":")[0]
        authenticator_data = hashlib.sha256(host.encode()).digest() + bytes([self.flags]) + (7).to_bytes(4)
        said = {
            "type": "webauthn.get",
            "challenge": base64url(challenge),
            "origin": self.origin,
            "crossOrigin": False,
            **self.client,
        }
        client_data = json.dumps(said, separators=(",", ":"))
        message = authenticator_data + hashlib.sha256(client_data.encode()).digest()
        return PlayerSignature(
            key=self.public,
            kind=PlayerKeyKind.PASSKEY,
            signature=self.raw_signature(message).hex(),
            version=version,
            authenticator_data=authenticator_data.hex(),
            client_data=client_data,
        )

    def sign(self, match: PlayedMatch, act: str, seat: int, version: int | None = None) -> PlayerSignature:
        """Return the signature under ``act`` in ``match`` as it stands after ``version`` (None: the last event)."""
        seen = envelopes(match.events, match.name)[-1 if version is None else version - 1]
        return self.answer(Statement(act, seen.id, match.name, seat, seen.version).challenge, seen.version)


DEVICE = Signer(1)
BROWSER = Signer(2, "P-256")
PASSKEY = Signer(3, "P-256", ORIGIN)
"""One of each kind."""


class Authenticator:
    """An authenticator made of software that holds ``signer``, and answers as a browser passes it on."""

    def __init__(self, signer: Signer = PASSKEY) -> None:
        self.signer = signer
        self.credential = base64url(signer.seed.to_bytes(16))

    def make(self, nonce: str, origin: str = ORIGIN) -> dict[str, str]:
        """Return the passkey that is made for ``nonce``, as the API takes it."""
        numbers = (from_base64url(part) for part in (self.signer.public.x, self.signer.public.y or ""))
        cose = {1: 2, 3: -7, -1: 1, **dict(zip((-2, -3), numbers, strict=True))}
        credential = from_base64url(self.credential)
        attested = bytes(16) + len(credential).to_bytes(2) + credential + cbor2.dumps(cose)
        # Flags: user present, attested credential included (Web Authentication, section 6.1).
        authenticator_data = hashlib.sha256(b"localhost").digest() + b"\x41" + bytes(4) + attested
        client = {"type": "webauthn.create", "challenge": nonce, "origin": origin, "crossOrigin": False}
        attestation = {"fmt": "none", "attStmt": {}, "authData": authenticator_data}
        return {
            "credential": self.credential,
            "client_data": base64url(json.dumps(client, separators=(",", ":")).encode()),
            "attestation_object": base64url(cbor2.dumps(attestation)),
        }


def add_device_key(caller: Caller, signer: Signer = DEVICE, name: str = "A key") -> Answer:
    """Let ``caller`` add a device key; return the answer."""
    nonce = caller.post("/me/player-key-nonces").json["nonce"]
    challenge = hashlib.sha256(signed_bytes(REGISTRATION, {"nonce": nonce, "person": caller.id})).digest()
    device = {"key": write_value(signer.public), "signature": signer.raw_signature(challenge).hex()}
    return caller.post(
        "/me/player-keys", {"name": name, "password": f"the secret of {caller.name}", "nonce": nonce, "device": device}
    )


def signed_act(caller: Caller, signer: Signer, match_id: str, act: str, seat: int) -> dict[str, Any]:
    """Return the member ``signed`` of an act of ``caller`` in the match as it stands now."""
    version = caller.get(f"/matches/{match_id}").json["version"]
    (event,) = caller.get(f"/matches/{match_id}/events?after={version - 1}").json["items"]
    signed = signer.answer(Statement(act, event["id"], match_id, seat, version).challenge, version)
    sent = {**write_value(signed), "key": signer.id}
    del sent["kind"]
    return sent
