"""Receipts: what the server signs for who has acted, so that it cannot tell another story of the match later.

A receipt is a document (``events.proof.documents``): canonical JSON and a line feed. It states the chain digest of the
last event that an act has appended, which covers that event and every one before it. A bundle of the match that has
another digest at that version is the proof, by two signatures of the server, that it has told two stories.
"""

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any, NamedTuple

import structlog

from events.proof.bundle import Bundle
from events.proof.documents import LINE_FEED, DocumentError, read_document, read_shape, write_document
from events.proof.keys import KeyRing, SigningKey
from events.proof.public_keys import KeySet
from events.runtime.errors import StoreError
from events.store.contract import Head
from events.store.converter import Digest, SignatureText, shape_of, write_value
from events.store.time import MAX_CLOCK_DIFFERENCE_MS

FORMAT = 1
KIND = "rookery receipt 1"
"""The first line of what is signed."""

MAX_RECEIPT_BYTES = 4096
"""One has about half a thousand."""

KEPT_MS = 5000
"""For how long a process signs receipts with the key that it has read: so long it may not know that it was revoked."""

_MARKS = b" \t\r\n|>"
"""What mail programs put between the pieces of a copied receipt; it has none of these itself."""

log = structlog.get_logger("receipts")


class Receipt(NamedTuple):
    """The statement of an installation that a ``match`` had ``digest`` at ``version``, signed by ``key``.

    ``installation`` is the id that checkpoints have as their origin, ``signed_at`` milliseconds since 1970 UTC. What is
    signed is all this but ``format``, ``key`` and ``signature``, as canonical JSON after KIND.
    """

    format: int
    installation: str
    match: str
    version: int
    digest: Digest
    signed_at: int
    key: str
    signature: SignatureText

    @property
    def statement(self) -> dict[str, Any]:
        """What is signed."""
        return _statement(self.installation, self.match, self.version, self.digest, self.signed_at)

    def check(self, keys: KeySet) -> None:
        """Raise DocumentError unless one of ``keys`` has signed this receipt while it was in use."""
        key = keys.get(self.key)
        if key is None:
            raise DocumentError("key", f"key {self.key} is not among the keys given")
        key.check(self.signature, KIND, self.statement, self.signed_at)


class Comparison(StrEnum):
    """What a bundle says to a receipt.

    CONTAINED: it has the digest at that version. CONTRADICTED: it has another one there. MISSING: it ends before that
    version, although it was signed later. EARLIER: it ends before that version, and may be older.
    """

    CONTAINED = "contained"
    CONTRADICTED = "contradicted"
    MISSING = "missing"
    EARLIER = "earlier"


class ReceiptSigner:
    """Signs the receipts of one installation. Safe to share between threads.

    ``installation`` returns its id, ``now`` milliseconds since 1970 UTC.
    """

    def __init__(self, keys: KeyRing, installation: Callable[[], str], now: Callable[[], int]) -> None:
        self._keys = keys
        self._installation = installation
        self._now = now
        self._known: tuple[SigningKey, str, int] | None = None

    def sign(self, match_id: str, head: Head, at: int | None = None) -> Receipt:
        """Return the receipt for the ``head`` that a match has, or had.

        It is dated now, or for an act with the instant ``at`` of its last event, so that the receipt of a repeated
        request is the same. Raises StoreUnavailableError and UnreadableKeyError.
        """
        now = self._now()
        known = self._known
        if known is None or not 0 <= now - known[2] < KEPT_MS:
            self._known = known = self._keys.signing(), self._installation(), now
        key, installation, _ = known
        return make_receipt(match_id, head, installation, key, now if at is None else at)

    def sign_act(self, match_id: str, head: Head, at: int) -> Receipt | None:
        """Return the receipt for an act whose last event has the instant ``at``, None when none can be signed now.

        The act has happened: what is missing is its receipt, which can be asked for later. The log says so.
        """
        try:
            return self.sign(match_id, head, at)
        except StoreError as error:
            log.warning("an act has no receipt", match=match_id, version=head.version, error=str(error))
            return None


def make_receipt(match_id: str, head: Head, installation: str, key: SigningKey, at: int) -> Receipt:
    """Return the receipt for the ``head`` of a match, signed by ``key`` and dated ``at`` (while the key is in use)."""
    digest, signed_at = Digest(head.digest.hex()), key.instant(at)
    signature = key.sign(KIND, _statement(installation, match_id, head.version, digest, signed_at))
    return Receipt(FORMAT, installation, match_id, head.version, digest, signed_at, key.id, signature)


def write_receipt(receipt: Receipt) -> bytes:
    """Return ``receipt`` as a document."""
    return write_document(write_value(receipt))


def read_receipt(packed: bytes) -> Receipt:
    """Return the receipt of a document, or of a copy in which it is broken into lines or quoted; raises DocumentError.

    No receipt has white space, ``|`` or ``>`` in it: in a copy they are left out.
    """
    if len(packed) > MAX_RECEIPT_BYTES:
        raise DocumentError("", f"it is larger than the {MAX_RECEIPT_BYTES:,} bytes that are read")
    joined = packed.translate(None, _MARKS) + LINE_FEED
    receipt: Receipt = read_shape(_RECEIPT, read_document(joined, _FORMATS, MAX_RECEIPT_BYTES + 1))
    if receipt.version < 1:
        raise DocumentError("version", "the versions of a match begin with 1")
    return receipt


def compare(receipt: Receipt, bundle: Bundle) -> Comparison:
    """Return what ``bundle``, of which the chain and both signatures have been checked, says to ``receipt``.

    Raises DocumentError when they are of two matches.
    """
    if receipt.match != bundle.match:
        raise DocumentError("match", f"the receipt is of match {receipt.match}, the bundle of {bundle.match}")
    if receipt.version > bundle.head.version:
        later = bundle.signature.signed_at > receipt.signed_at + 2 * MAX_CLOCK_DIFFERENCE_MS
        return Comparison.MISSING if later else Comparison.EARLIER
    stated = bundle.events[receipt.version - 1].digest
    return Comparison.CONTAINED if stated == receipt.digest else Comparison.CONTRADICTED


def _statement(installation: str, match_id: str, version: int, digest: Digest, signed_at: int) -> dict[str, Any]:
    return {
        "digest": digest,
        "installation": installation,
        "match": match_id,
        "signed_at": signed_at,
        "version": version,
    }


_RECEIPT = shape_of(Receipt)
_FORMATS: Mapping[str, int] = {"format": FORMAT}
