"""Checkpoints: the heads of all matches, signed again and again, so that a rewritten past is evident. Checked offline.

Behind them is an append-only Merkle tree. A leaf states that a match had a version with a digest; each day or hour adds
one for each match that has changed, and the tree is signed. ``docs/proof/log.md`` specifies it.
"""

import hashlib
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

from events.proof import merkle
from events.proof.documents import DocumentError, read_document, read_shape, write_document
from events.proof.notes import parse_note
from events.proof.public_keys import KeySet
from events.proof.tree_heads import parse_tree_head
from events.store.converter import Digest, SignatureText, shape_of, write_value
from events.store.envelope import canonical_json

FORMAT = 1
KIND = "rookery checkpoint 1"
LEAF_FORM = 1
DAY_LETTERS = len("2026-01-31")
MAX_CHECKPOINT_BYTES = 16_384
"""Of a checkpoint or a consistency proof; both are far smaller."""


class AdministrationHead(NamedTuple):
    """The last entry of the log of administration: its number (0: there is none) and its chain digest."""

    number: int
    digest: Digest


class Checkpoint(NamedTuple):
    """The log at an instant: the number of its leaves and the root of the tree over them, signed by ``key``.

    ``origin`` is the id of the installation and ``signed_at`` milliseconds since 1970 UTC. ``day`` is the day in UTC
    (2026-01-31), or the hour (2026-01-31T04) of a further checkpoint of a day. ``administration`` is the head of the
    log of administration. What is signed is all this but ``format``, ``key`` and ``signature``, as canonical JSON after
    KIND.
    """

    format: int
    origin: str
    day: str
    size: int
    root: Digest
    signed_at: int
    key: str
    signature: SignatureText
    administration: AdministrationHead

    @property
    def statement(self) -> dict[str, Any]:
        """The signed bytes."""
        return statement(self.origin, self.day, self.size, self.root, self.signed_at, self.administration)

    def check(self, keys: KeySet) -> None:
        """Raise DocumentError unless one of ``keys`` has signed this checkpoint."""
        key = keys.get(self.key)
        if key is None:
            raise DocumentError("key", f"key {self.key} is not among the keys given")
        key.check(self.signature, KIND, self.statement, self.signed_at)


class Inclusion(NamedTuple):
    """The proof that the log of ``checkpoint`` has a version of a match as its ``leaf``, counted from 0.

    ``path`` is the audit path of RFC 6962, section 2.1.1. ``note`` is the same tree as a checkpoint of C2SP
    (tlog-checkpoint), with its signatures and cosignatures.
    """

    checkpoint: Checkpoint
    leaf: int
    version: int
    path: tuple[Digest, ...]
    note: str | None = None

    def check(self, match_id: str, digest: str) -> None:
        """Raise DocumentError unless the path leads from ``digest`` to the checkpoint; signatures are not verified."""
        if self.checkpoint.format != FORMAT:
            raise DocumentError(
                "checkpoint.format", f"format {self.checkpoint.format} is not known here, only {FORMAT}"
            )
        hashed = merkle.leaf_hash(entry_of_head(match_head(match_id, self.version, digest)))
        path = [bytes.fromhex(node) for node in self.path]
        root = merkle.root_from_inclusion(hashed, self.leaf, self.checkpoint.size, path)
        if root is None or root.hex() != self.checkpoint.root:
            raise DocumentError("path", f"it does not lead from version {self.version} to the root of the checkpoint")
        if self.note is not None:
            self._check_note(self.note)

    def _check_note(self, note: str) -> None:
        try:
            head = parse_tree_head(parse_note(note).text)
        except DocumentError as fault:
            raise DocumentError("note", fault.reason) from None
        if (head.size, head.root.hex()) != (self.checkpoint.size, self.checkpoint.root):
            raise DocumentError("note", "it is of another tree than the checkpoint")


class Consistency(NamedTuple):
    """The proof that the log of ``sizes`` leaves, the smaller number first, has only grown (RFC 6962, 2.1.2)."""

    sizes: tuple[int, ...]
    path: tuple[Digest, ...]

    def check(self, first: Checkpoint, second: Checkpoint) -> None:
        """Raise DocumentError unless the log of ``second`` begins with the leaves of ``first``."""
        if first.origin != second.origin:
            raise DocumentError("origin", f"the checkpoints are of two servers, {first.origin} and {second.origin}")
        if self.sizes != (first.size, second.size):
            raise DocumentError("sizes", f"this is no proof for the sizes {first.size} and {second.size}")
        roots = bytes.fromhex(first.root), bytes.fromhex(second.root)
        path = [bytes.fromhex(node) for node in self.path]
        if not merkle.is_consistent(first.size, roots[0], second.size, roots[1], path):
            raise DocumentError("path", "the later log does not begin with the earlier one")


def statement(
    origin: str, day: str, size: int, root: Digest, signed_at: int, administration: AdministrationHead
) -> dict[str, Any]:
    """Return the signed bytes of a checkpoint."""
    return {
        "administration": write_value(administration),
        "day": day,
        "origin": origin,
        "root": root,
        "signed_at": signed_at,
        "size": size,
    }


def match_head(match_id: str, version: int, digest: str) -> bytes:
    """Return the statement that ``match`` had this ``version`` with this ``digest``, as canonical JSON."""
    return canonical_json({"digest": digest, "match": match_id, "version": version})


def entry_of_head(head: bytes) -> bytes:
    """Return the leaf of a match as it is hashed: public, and nobody guesses the head without the digest."""
    commitment = hashlib.sha256(head).hexdigest().encode()
    return b'{"commitment":"%s","form":%d,"kind":"match"}' % (commitment, LEAF_FORM)


def day_of(now: int) -> str:
    """Return the day in UTC of ``now``: 2026-01-31."""
    return datetime.fromtimestamp(now / 1000, UTC).date().isoformat()


def hour_of(now: int) -> str:
    """Return the hour in UTC of ``now``: 2026-01-31T04."""
    return datetime.fromtimestamp(now / 1000, UTC).strftime("%Y-%m-%dT%H")


def write_checkpoint(checkpoint: Checkpoint) -> bytes:
    """Return ``checkpoint`` as a document."""
    return write_document(write_value(checkpoint))


def read_checkpoint(packed: bytes) -> Checkpoint:
    """Return the checkpoint of a document; raises DocumentError."""
    checkpoint: Checkpoint = read_shape(_CHECKPOINT, read_document(packed, _FORMATS, MAX_CHECKPOINT_BYTES))
    return checkpoint


def read_consistency(packed: bytes) -> Consistency:
    """Return the proof that a document is; raises DocumentError."""
    consistency: Consistency = read_shape(_CONSISTENCY, read_document(packed, {}, MAX_CHECKPOINT_BYTES))
    return consistency


_CHECKPOINT = shape_of(Checkpoint)
_CONSISTENCY = shape_of(Consistency)
_FORMATS: Mapping[str, int] = {"format": FORMAT}
