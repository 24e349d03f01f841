"""Receipts, signed by the server for those who act: a bundle with another digest there proves two stories."""

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
MAX_RECEIPT_BYTES = 4096
"""One has about half a thousand."""

KEPT_MS = 5000
"""For how long a process signs receipts with the key that it has read: so long it may not know that it was revoked."""

_MARKS = b" \t\r\n|>"
"""The characters that mail programs put between the pieces of a copied receipt; it has none of these itself."""

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
        """The signed bytes."""
        return _statement(self.installation, self.match, self.version, self.digest, self.signed_at)

    def check(self, keys: KeySet) -> None:
        """Raise DocumentError unless one of ``keys`` has signed this receipt while it was in use."""
        key = keys.get(self.key)
        if key is None:
            raise DocumentError("key", f"key {self.key} is not among the keys given")
        key.check(self.signature, KIND, self.statement, self.signed_at)


class Comparison(StrEnum):
    """Whether a bundle has the digest of a receipt, another one, or none, signed later (MISSING) or not (EARLIER)."""

    CONTAINED = "contained"
    CONTRADICTED = "contradicted"
    MISSING = "missing"
    EARLIER = "earlier"


class ReceiptSigner:
    """Signs the receipts of one installation."""

    def __init__(self, keys: KeyRing, installation: Callable[[], str], now: Callable[[], int]) -> None:
        self._keys = keys
        self._installation = installation
        self._now = now
        self._cached: tuple[SigningKey, str, int] | None = None

    def sign(self, match_id: str, head: Head, at: int | None = None) -> Receipt:
        """Return the receipt for ``head``, dated now or ``at`` its last event. Raises UnreadableKeyError."""
        now = self._now()
        cached = self._cached
        if cached is None or not 0 <= now - cached[2] < KEPT_MS:
            self._cached = cached = self._keys.signing(), self._installation(), now
        key, installation, _ = cached
        return make_receipt(match_id, head, installation, key, now if at is None else at)

    def sign_act(self, match_id: str, head: Head, at: int) -> Receipt | None:
        """Return the receipt for an act, None when none can be signed now: it can be asked for later."""
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
    """Return the receipt of a document, or of a quoted or broken copy; raises DocumentError."""
    if len(packed) > MAX_RECEIPT_BYTES:
        raise DocumentError("", f"it is larger than the {MAX_RECEIPT_BYTES:,} bytes that are read")
    joined = packed.translate(None, _MARKS) + LINE_FEED
    receipt: Receipt = read_shape(_RECEIPT, read_document(joined, _FORMATS, MAX_RECEIPT_BYTES + 1))
    if receipt.version < 1:
        raise DocumentError("version", "the versions of a match begin with 1")
    return receipt


def compare(receipt: Receipt, bundle: Bundle) -> Comparison:
    """Return the verdict of a verified ``bundle`` on ``receipt``; raises DocumentError for another match."""
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
