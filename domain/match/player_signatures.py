"""What a match records of an act that a player has signed with a key of their own.

The signature is checked before the command, and again by everyone who verifies the match
(``events.proof.player_signatures``). Here it is a value: no rule of a match depends on it.
"""

from dataclasses import dataclass

from domain.match.enums import PlayerKeyKind


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayerPublicKey:
    """The public part of a player's key as the members of a JSON Web Key (RFC 7517): Ed25519, or P-256 with ``y``."""

    crv: str
    kty: str
    x: str
    y: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayerSignature:
    """A player's signature under an act, over the match as it stood after ``version``, which the player has seen.

    ``signature`` has 64 bytes in hexadecimal. Of a passkey ``authenticator_data`` (hexadecimal) and ``client_data`` are
    what its authenticator and the browser have signed with it (Web Authentication, section 7.2); of a device key None.
    """

    key: PlayerPublicKey
    kind: PlayerKeyKind
    signature: str
    version: int
    authenticator_data: str | None = None
    client_data: str | None = None
