"""Keys of players in tests."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256

from api.resources.player_keys import REGISTRATION
from domain.match.player_signatures import PlayerPublicKey, PlayerSignature
from events.proof.player_signatures import MOVE, SignedStatement, key_id
from events.proof.public_keys import base64url, signed_bytes
from events.store.converter import write_value
from tests.support.bundles import envelopes
from tests.support.callers import Answer, Caller
from tests.support.matches import PlayedMatch


@dataclass(frozen=True)
class Signer:
    """A key of a player, which follows from ``seed``."""

    seed: int = 1

    @cached_property
    def _private(self) -> ec.EllipticCurvePrivateKey:
        return ec.derive_private_key(self.seed + 1000, ec.SECP256R1())

    @property
    def public(self) -> PlayerPublicKey:
        numbers = self._private.public_key().public_numbers()
        x, y = (base64url(number.to_bytes(32)) for number in (numbers.x, numbers.y))
        return PlayerPublicKey(crv="P-256", kty="EC", x=x, y=y)

    @property
    def id(self) -> str:
        return key_id(self.public)

    def sign(self, message: bytes) -> str:
        """Return the signature of ``message`` in hexadecimal, the same one every time."""
        encoded = self._private.sign(message, ec.ECDSA(SHA256(), deterministic_signing=True))
        return b"".join(number.to_bytes(32) for number in decode_dss_signature(encoded)).hex()

    def signed(self, statement: SignedStatement) -> PlayerSignature:
        """Return the signature under ``statement``."""
        return PlayerSignature(key=self.public, signature=self.sign(statement.message), version=statement.version)

    def sign_act(
        self, match: PlayedMatch, act: str, seat: int, moves: Sequence[str] = (), version: int | None = None
    ) -> PlayerSignature:
        """Return the signature under ``act`` after ``moves`` that follow ``version`` (None: the last event)."""
        seen = envelopes(match.events, match.name)[-1 if version is None else version - 1]
        return self.signed(SignedStatement(act, seen.id, match.name, tuple(moves), seat, seen.version))


SIGNER, OTHER_SIGNER = Signer(1), Signer(2)


def add_key(caller: Caller, signer: Signer = SIGNER, name: str = "A key") -> Answer:
    """Let ``caller`` add a key; return the answer."""
    nonce = caller.post("/me/player-key-nonces").json["nonce"]
    signature = signer.sign(signed_bytes(REGISTRATION, {"nonce": nonce, "person": caller.id}))
    sent = {"name": name, "password": f"the secret of {caller.name}", "nonce": nonce}
    return caller.post("/me/player-keys", {**sent, "key": write_value(signer.public), "signature": signature})


def statement_now(caller: Caller, match_id: str, act: str, seat: int, moves: Sequence[str] = ()) -> SignedStatement:
    version = caller.get(f"/matches/{match_id}").json["version"]
    (event,) = caller.get(f"/matches/{match_id}/events?after={version - 1}").json["items"]
    return SignedStatement(act, event["id"], match_id, tuple(moves), seat, version)


def signed_act(
    caller: Caller, signer: Signer, match_id: str, act: str, seat: int, moves: Sequence[str] = ()
) -> dict[str, Any]:
    """Return the member ``signed`` of an act of ``caller`` in the match as it stands now."""
    statement = statement_now(caller, match_id, act, seat, moves)
    return {"key": signer.id, "signature": signer.sign(statement.message), "version": statement.version}


def signed_move(caller: Caller, signer: Signer, match_id: str, seat: int, *moves: str) -> dict[str, Any]:
    """Return the body of a signed move, or of several moves of one turn."""
    body: dict[str, Any] = {"move": moves[0]} if len(moves) == 1 else {"moves": list(moves)}
    return body | {"signed": signed_act(caller, signer, match_id, MOVE, seat, moves)}
