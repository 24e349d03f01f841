"""Passkeys that are added to an account, checked by the package webauthn: the only module that needs it.

It is loaded when the first passkey is added, which few processes ever see; signatures are checked without it.
"""

from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import urlsplit

from domain.match.player_signatures import PlayerPublicKey
from events.proof.player_signatures import base64url

ED25519 = 6
"""The curve in COSE (RFC 9053)."""


class InvalidPasskeyError(ValueError):
    """What an authenticator has answered cannot count; the message says why."""


class Passkey(NamedTuple):
    """A passkey: the id by which its authenticator knows it (base64url), and its public key."""

    credential: str
    key: PlayerPublicKey


def relying_party(origin: str) -> str:
    """Return the id of the relying party of a site: its host (Web Authentication, section 4)."""
    return urlsplit(origin).hostname or ""


def read_passkey(nonce: bytes, origin: str, sent: Mapping[str, str]) -> Passkey:
    """Return the passkey that an authenticator has made for ``nonce`` on the pages of ``origin``.

    ``sent`` has the members ``credential``, ``client_data`` and ``attestation_object``, all base64url. Raises
    InvalidPasskeyError. No attestation is asked for.
    """
    # Its import takes as long as a thousand requests.
    from webauthn import verify_registration_response  # noqa: PLC0415
    from webauthn.helpers import decode_credential_public_key  # noqa: PLC0415
    from webauthn.helpers.cose import COSEAlgorithmIdentifier  # noqa: PLC0415
    from webauthn.helpers.decode_credential_public_key import (  # noqa: PLC0415
        DecodedEC2PublicKey,
        DecodedOKPPublicKey,
    )

    credential = {
        "id": sent["credential"],
        "rawId": sent["credential"],
        "response": {"clientDataJSON": sent["client_data"], "attestationObject": sent["attestation_object"]},
        "type": "public-key",
    }
    try:
        verified = verify_registration_response(
            credential=credential,
            expected_challenge=nonce,
            expected_rp_id=relying_party(origin),
            expected_origin=origin,
            supported_pub_key_algs=[COSEAlgorithmIdentifier.EDDSA, COSEAlgorithmIdentifier.ECDSA_SHA_256],
        )
        decoded = decode_credential_public_key(verified.credential_public_key)
    except Exception as error:
        # Whatever its parsers raise on what a stranger has sent: nothing has changed.
        raise InvalidPasskeyError(str(error)[:200] or type(error).__name__) from error
    identity = base64url(verified.credential_id)
    if isinstance(decoded, DecodedOKPPublicKey) and decoded.crv == ED25519:
        return Passkey(identity, PlayerPublicKey(crv="Ed25519", kty="OKP", x=base64url(decoded.x)))
    if isinstance(decoded, DecodedEC2PublicKey):
        x, y = base64url(decoded.x), base64url(decoded.y)
        return Passkey(identity, PlayerPublicKey(crv="P-256", kty="EC", x=x, y=y))
    raise InvalidPasskeyError("its key is neither an Ed25519 nor a P-256 key")
