"""The keys with which an installation signs: Ed25519, one at a time; public keys are never deleted.

The private key is in the store, encrypted with the secret of a file (``key_file``), and deleted when it is rotated out.
A key has a horizon, which moves forward while it is in use: all its signatures are dated before it, so those of a
rotated key verify. A key can be revoked from an instant on.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from events.people.administration import SERVER, Administration
from events.proof.key_file import KeyFile, SecretNotGivenError, UnreadableKeyError
from events.proof.public_keys import PublicKey, signed_bytes, thumbprint
from events.runtime.connections import StoreClient, StorePipeline
from events.runtime.errors import StoreError, StoreUnavailableError
from events.runtime.keys import ProofKeys
from events.runtime.transactions import transact
from events.runtime.wall_clock import rfc3339
from events.store.converter import SignatureText
from events.store.time import MAX_CLOCK_DIFFERENCE_MS

KEY_BEGUN = "key-begun"
KEY_REVOKED = "key-revoked"
RESERVED_MS = 3_600_000
"""How far the horizon of the present key is moved ahead."""

PRIVATE_KEY_BYTES = 32
_REMEDY = "restore it from a backup, or begin a new key with: rookery audit rotate-key"
_HORIZON_DAMAGED = f"the horizon of the signing key is damaged: {_REMEDY}"


class SigningKey:
    """The private key that signs now, dated before ``horizon`` (None: no limit); it has no printable form."""

    def __init__(self, raw: bytes, since: int, horizon: int | None = None) -> None:
        self._key = Ed25519PrivateKey.from_private_bytes(raw)
        self.public = PublicKey(self._key.public_key().public_bytes_raw(), since)
        self.id = self.public.id
        self.horizon = horizon

    def instant(self, now: int) -> int:
        """Return the instant with which a signature made ``now`` is dated: one at which the key is in use."""
        instant = max(now, self.public.since)
        return instant if self.horizon is None else min(instant, self.horizon - 1)

    def sign(self, kind: str, statement: Mapping[str, Any]) -> SignatureText:
        """Return the signature of ``statement``, a statement of a ``kind``."""
        return SignatureText(self._key.sign(signed_bytes(kind, statement)).hex())

    def sign_note(self, message: bytes) -> bytes:
        """Return the signature of a note; its first line, an origin, is never the name of a kind of statement."""
        return self._key.sign(message)


class KeyExamination(NamedTuple):
    """The faults of the signing key, and why it could not be decrypted here (None: it was, or there is none)."""

    faults: list[str]
    unchecked: str | None = None


class KeyRing:
    """The keys of one installation; the first use makes the first key.

    All methods that need the private key, except ``rotate``, raise UnreadableKeyError when it cannot be used.
    """

    def __init__(self, client: StoreClient, prefix: str, now: Callable[[], int], key_file: Path | None = None) -> None:
        self._client = client
        self._file = KeyFile(key_file)
        self.now = now
        keys = ProofKeys(prefix)
        self._private, self._public, self._horizon = keys.private_key, keys.public_keys, keys.key_horizon

    def signing(self) -> SigningKey:
        """Return the key that signs now."""
        return self._replace(rotate=False)

    def rotate(self) -> SigningKey:
        """Put a new key in the place of the present one, whose private part is gone from then on; return it."""
        return self._replace(rotate=True)

    def revoke(self, key: str, since: int) -> SigningKey | None:
        """Revoke a key from ``since`` on; return the new one when it was the present one. Raises LookupError.

        Crash-safe: it is rotated first. Killed in between, it signs no more; revoking it again does the rest.
        """
        server_key = next((public_key for public_key in self.known() if public_key.id == key), None)
        if server_key is None:
            raise LookupError(f"there is no key {key}")
        raw, rotated = server_key.raw, self.rotate() if server_key.until is None else None

        def mark(pipeline: StorePipeline) -> None:
            server_key = _unpacked(raw, pipeline.hget(self._public, raw) or b"")
            pipeline.multi()
            earliest = since if server_key.revoked is None else min(since, server_key.revoked)
            pipeline.hset(self._public, raw, json.dumps([server_key.since, server_key.until, earliest]))

        transact(self._client, [self._public], mark)
        return rotated

    def public(self) -> list[PublicKey]:
        """Return all public keys, the oldest first."""
        self.signing()
        return self.known()

    def known(self) -> list[PublicKey]:
        """Return the existing public keys, the oldest first, without making one."""
        stored = self._client.hgetall(self._public)
        return sorted((_unpacked(raw, span) for raw, span in stored.items()), key=lambda key: (key.since, key.id))

    def examine(self) -> KeyExamination:
        """Return the faults of the private key, its public key and its horizon; nothing is changed."""
        try:
            stored, public, horizon = self._stored()
        except StoreUnavailableError:
            raise
        except StoreError as error:
            return KeyExamination([f"it cannot be read: {error}"])
        faults, unchecked = list[str](), None
        try:
            self._open(stored, _present(public))
        except SecretNotGivenError as error:
            unchecked = str(error)
        except UnreadableKeyError as error:
            faults.append(str(error))
        try:
            if _instant(horizon) > self.now() + RESERVED_MS + MAX_CLOCK_DIFFERENCE_MS:
                reason = "which is further ahead than a key is ever in use beforehand"
                faults.append(f"its horizon is {rfc3339(_instant(horizon))}, {reason}")
        except (UnreadableKeyError, ValueError, OverflowError):
            faults.append(_HORIZON_DAMAGED)
        return KeyExamination(faults, unchecked)

    def _stored(self) -> tuple[bytes | None, dict[bytes, bytes], bytes | None]:
        with self._client.pipeline(transaction=True) as pipeline:
            pipeline.get(self._private)
            pipeline.hgetall(self._public)
            pipeline.get(self._horizon)
            private, public, horizon = pipeline.execute()
        return private, public, horizon

    def _open(self, stored: bytes | None, present: bytes | None) -> bytes | None:
        """Return the stored private key; raises UnreadableKeyError unless it is that of the public key ``present``."""
        if stored is None:
            if present is not None:
                raise UnreadableKeyError(f"the signing key is missing: {_REMEDY}")
            return None
        raw = self._file.open(stored)
        if len(raw) != PRIVATE_KEY_BYTES:
            raise UnreadableKeyError(f"the signing key is damaged: {_REMEDY}")
        if _raw_public(raw) != present:
            words = "there is none" if present is None else f"that is {thumbprint(present)}"
            raise UnreadableKeyError(f"the signing key is not that of the public key in use ({words}): {_REMEDY}")
        return raw

    def _replace(self, *, rotate: bool) -> SigningKey:
        """Return the present key, or a new one when there is none or when it is to ``rotate``.

        Crash-safe: private key, public key and horizon change in one transaction. A rotation that is repeated leaves a
        public key that has signed nothing.
        """
        sealed: list[bool] = []

        def replace(pipeline: StorePipeline) -> SigningKey:
            stored, public, stored_horizon = self._stored()
            # The key is identified without decrypting it, so that one that cannot be decrypted can be replaced.
            present = _present(public)
            old = 0 if present is None else json.loads(public[present])[0]
            current = None if rotate else self._open(stored, present)
            now, horizon = self.now(), _instant(stored_horizon, damaged=0 if rotate else None)
            pipeline.multi()
            if current is not None and stored is not None:
                if not self._file.is_sealed(stored):
                    pipeline.set(self._private, self._file.seal(current))
                    sealed.append(True)
                if horizon - now < RESERVED_MS // 2:
                    horizon = now + RESERVED_MS
                    pipeline.set(self._horizon, horizon)
                return SigningKey(current, old, horizon)
            until = horizon or now + RESERVED_MS
            return self._begin(pipeline, now, None if present is None else (present, old, until))

        made = transact(self._client, [self._private, self._horizon], replace)
        if sealed:
            with suppress(StoreError):  # until a rewrite the append-only file contains the unencrypted key
                for server in self._client.servers():
                    server.bgrewriteaof()
        return made

    def _begin(self, pipeline: StorePipeline, now: int, before: tuple[bytes, int, int] | None) -> SigningKey:
        """Write a new key, and the end of the one ``before`` it, given as public key, ``since`` and ``until``."""
        since = now
        if before is not None:
            public, old, until = before
            # A key never begins before its predecessor, whatever the clocks of two machines say. Releases without
            # horizons may have signed until now.
            since = max(now, old + 1)
            pipeline.hset(self._public, public, json.dumps([old, max(until, old + 1)]))
        raw = Ed25519PrivateKey.generate().private_bytes_raw()
        pipeline.set(self._private, self._file.seal(raw))
        pipeline.set(self._horizon, since + RESERVED_MS)
        pipeline.hset(self._public, _raw_public(raw), json.dumps([since, None]))
        return SigningKey(raw, since, since + RESERVED_MS)


def record_keys(administration: Administration, keys: Iterable[PublicKey]) -> None:
    """Record once in the log of administration which ``keys`` were put in place and revoked; repeated after a kill."""
    for key in keys:
        administration.record(KEY_BEGUN, SERVER, {"key": key.id, "since": key.since}, f"key:{key.id}")
        if key.revoked is not None:
            facts = {"key": key.id, "since": key.revoked}
            administration.record(KEY_REVOKED, SERVER, facts, f"revoked:{key.id}:{key.revoked}")


def _raw_public(private: bytes) -> bytes:
    return Ed25519PrivateKey.from_private_bytes(private).public_key().public_bytes_raw()


def _present(public: Mapping[bytes, bytes]) -> bytes | None:
    return next((raw for raw, span in public.items() if json.loads(span)[1] is None), None)


def _instant(stored: bytes | None, damaged: int | None = None) -> int:
    """Return the stored horizon; for one that is no number ``damaged``, or raise UnreadableKeyError if that is None."""
    try:
        return int(stored or 0)
    except ValueError:
        if damaged is None:
            raise UnreadableKeyError(_HORIZON_DAMAGED) from None
        return damaged


def _unpacked(raw: bytes, span: bytes) -> PublicKey:
    return PublicKey(raw, *json.loads(span))
