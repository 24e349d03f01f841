"""The leaves of the log: the hashed part of each, which is public, and the stored form (``docs/proof/log.md``)."""

import json
from dataclasses import asdict, dataclass
from typing import ClassVar, NamedTuple

from events.proof import merkle
from events.proof.checkpoints import LEAF_FORM, entry_of_head, match_head
from events.proof.public_keys import PublicKey, base64url
from events.store.envelope import canonical_json


class MatchLeaf(NamedTuple):
    """That a match had a version with a digest (hexadecimal)."""

    match: str
    version: int
    digest: str

    @property
    def entry(self) -> bytes:
        """The hashed bytes."""
        return entry_of_head(self.stored)

    @property
    def stored(self) -> bytes:
        """The stored bytes."""
        return match_head(self.match, self.version, self.digest)


@dataclass(frozen=True, slots=True)
class OtherLeaf:
    """A leaf that is not of a match; in the log the last one of a ``subject`` counts."""

    kind: ClassVar[str]

    @property
    def entry(self) -> bytes:
        """The hashed bytes."""
        return canonical_json({"form": LEAF_FORM, "kind": self.kind, **asdict(self)})

    @property
    def stored(self) -> bytes:
        """The stored bytes."""
        return self.entry

    @property
    def subject(self) -> str:
        """The version by which a later leaf of the same subject is newer."""
        return self.kind


@dataclass(frozen=True, slots=True)
class AdministrationLeaf(OtherLeaf):
    """That the log of administration ended with an entry, given by its number and its chain digest (hexadecimal)."""

    kind = "administration"
    number: int
    digest: str


@dataclass(frozen=True, slots=True)
class _LeafOfKey(OtherLeaf):
    key: str

    @property
    def subject(self) -> str:
        """See OtherLeaf."""
        return f"{self.kind}:{self.key}"


@dataclass(frozen=True, slots=True)
class KeyLeaf(_LeafOfKey):
    """That a key, given by id and public part (base64url), signs from an instant on."""

    kind = "key"
    public: str
    since: int


@dataclass(frozen=True, slots=True)
class RevocationLeaf(_LeafOfKey):
    """The revocation of a key: its signatures from an instant on prove nothing."""

    kind = "revocation"
    since: int


Leaf = MatchLeaf | OtherLeaf


def leaves_of_key(key: PublicKey) -> list[OtherLeaf]:
    """Return the leaves of ``key`` in the log: that it signs, and that it is revoked if it is."""
    begun = KeyLeaf(key.id, base64url(key.raw), key.since)
    return [begun] if key.revoked is None else [begun, RevocationLeaf(key.id, key.revoked)]


def read_leaf(stored: bytes) -> Leaf:
    """Return the leaf of which ``stored`` is stored; raises ValueError for anything else."""
    fields = json.loads(stored)
    leaf: Leaf
    match fields:
        case {"match": str(match_id), "version": int(version), "digest": str(digest)}:
            leaf = MatchLeaf(match_id, version, digest)
        case {"kind": "administration", "number": int(number), "digest": str(digest)}:
            leaf = AdministrationLeaf(number, digest)
        case {"kind": "key", "key": str(key), "public": str(public), "since": int(since)}:
            leaf = KeyLeaf(key, public, since)
        case {"kind": "revocation", "key": str(key), "since": int(since)}:
            leaf = RevocationLeaf(key, since)
        case _:
            raise ValueError("it is none of the kinds of leaves that are known here")
    if leaf.stored != stored or any(type(field) is bool for field in fields.values()):
        raise ValueError("it is not in canonical form")
    return leaf


def entry_of_stored(stored: bytes) -> bytes:
    """Return the entry of a stored leaf, unverified and quickly: digest, then match, in canonical order."""
    return entry_of_head(stored) if stored.partition(b'","')[2].startswith(b'match":') else stored


def hash_of_stored(stored: bytes) -> bytes:
    """Return the hash, 32 bytes, of the leaf of which ``stored`` is stored, quickly: it is not verified."""
    return merkle.leaf_hash(entry_of_stored(stored))
