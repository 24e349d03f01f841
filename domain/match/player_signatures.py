"""The record of an act that a player has signed with a key of their own: no rule depends on it.

It is checked before the command, and by everyone who verifies the match (``events.proof.player_signatures``).
"""

from dataclasses import dataclass

MAX_EVENTS_AFTER_SIGNING = 1000
"""Between the version signed over and the act: an answer that was laid down earlier is recorded unsigned."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayerPublicKey:
    """The public part of a player's key, a point of P-256, as the members of a JSON Web Key (RFC 7517)."""

    crv: str
    kty: str
    x: str
    y: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayerSignature:
    """A player's signature (64 bytes in hex) under an act, over the match after ``version`` and the moves since."""

    key: PlayerPublicKey
    signature: str
    version: int
