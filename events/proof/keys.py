"""The keys with which an installation signs: Ed25519, one at a time, the public ones kept for ever.

The private key lies in the store, beside the events that it vouches for, so that all processes that sign agree on one
key. It is encrypted with the secret of a file (``key_file``), which a copy of the database does not hold. Who can write
to the store can still put a key of their own there; what even they cannot do is to change what a checkpoint
(``checkpoints``) that others have kept has fixed. The private key leaves the store for the memory of the process that
signs, and nothing prints, logs or exports it. One that is rotated out is deleted.

A key's id is the thumbprint of its public part (RFC 7638, RFC 8037). What is signed begins with a line that names its
kind, so that a signature of one kind is never one of another.

A key has a horizon: an instant that is kept with it and that everything it signs is dated before. It is moved on as
time passes, and only as long as the key is the present one. A rotated key was in use until its horizon, so whatever it
has signed verifies, even what a process signs that read the key just before and that has another clock.

A key can be revoked from an instant on: what it signed from then on proves nothing, and what is dated before then is
told to be of a revoked key.
"""

import base64
import binascii
import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from redis import Redis
from redis.client import Pipeline
from redis.exceptions import RedisError

from events.administration import SERVER, Administration
from events.clock import rfc3339
from events.envelope import canonical_json
from events.proof.documents import Fault
from events.proof.key_file import KeyFile, KeyNotReadable, SecretNotNamed
from events.shapes import Misfit, SignatureText, shape_of
from events.store_clock import MAX_CLOCK_DIFFERENCE_MS

LARGEST_KEY_SET = 1_000_000
"""Bytes; thousands of rotations."""

KEY_BEGUN = "key-begun"
KEY_REVOKED = "key-revoked"
"""Acts in the log of administration."""

RESERVED_MS = 3_600_000
"""How far ahead the horizon of the present key is moved."""

PRIVATE_KEY_BYTES = 32

_REMEDY = "restore it from a backup, or begin a new key with: rookery audit rotate-key"
_HORIZON_DAMAGED = f"the horizon of the signing key is damaged: {_REMEDY}"


class PublicKey(NamedTuple):
    """A public key, 32 bytes, and the time in which it signed: ``since`` to before ``until`` (None: it signs now).

    What it signed from ``revoked`` on counts for nothing (None: it is not revoked). All are milliseconds since 1970
    UTC.
    """

    raw: bytes
    since: int
    until: int | None = None
    revoked: int | None = None

    @property
    def id(self) -> str:
        """The thumbprint of the key (RFC 7638): 43 letters."""
        return thumbprint(self.raw)

    def check(self, signature: str, kind: str, statement: Mapping[str, Any], signed_at: int) -> None:
        """Raise Fault unless ``signature`` is this key's for ``statement``, made when the key was in use."""
        try:
            Ed25519PublicKey.from_public_bytes(self.raw).verify(bytes.fromhex(signature), signed(kind, statement))
        except InvalidSignature:
            raise Fault("signature", f"it is not the signature of key {self.id} under what is signed here") from None
        if signed_at < self.since or (self.until is not None and signed_at >= self.until):
            raise Fault("signature", f"key {self.id} was not in use when this is said to have been signed")
        if self.revoked is not None and signed_at >= self.revoked:
            raise Fault(
                "signature", f"key {self.id} is revoked from {rfc3339(self.revoked)} on, and this was signed later"
            )


class SigningKey:
    """The private key that signs now, and its id. It shows nothing of itself.

    ``horizon`` is the instant that everything it signs is dated before; None when there is none.
    """

    def __init__(self, raw: bytes, since: int, horizon: int | None = None) -> None:
        self._key = Ed25519PrivateKey.from_private_bytes(raw)
        self.public = PublicKey(self._key.public_key().public_bytes_raw(), since)
        self.id = self.public.id
        self.horizon = horizon

    def instant(self, now: int) -> int:
        """Return the instant that a signature made ``now`` is dated: within the time in which the key is in use."""
        instant = max(now, self.public.since)
        return instant if self.horizon is None else min(instant, self.horizon - 1)

    def sign(self, kind: str, statement: Mapping[str, Any]) -> SignatureText:
        """Return the signature under ``statement`` of a ``kind``."""
        return SignatureText(self._key.sign(signed(kind, statement)).hex())


def signed(kind: str, statement: Mapping[str, Any]) -> bytes:
    """Return the bytes that are signed: the kind, a line feed, the statement as canonical JSON (RFC 8785)."""
    return kind.encode() + b"\n" + canonical_json(statement)


def thumbprint(raw: bytes) -> str:
    """Return the id of a public key: the SHA-256 of its JSON Web Key (RFC 7638), in base64url."""
    return _base64url(hashlib.sha256(canonical_json(_web_key(raw))).digest())


class KeyExamination(NamedTuple):
    """What is wrong with the signing key, and why it could not be decrypted here (None: it was, or there is none)."""

    faults: list[str]
    unchecked: str | None = None


class KeyRing:
    """The keys of one installation. The first use makes the first key.

    ``now`` returns milliseconds since 1970 UTC. ``key_file`` names the file with the secret that the private key is
    encrypted with, None for none. Every method raises redis-py's errors when the store cannot be reached. All methods
    that need the private key, except ``rotate``, raise KeyNotReadable when it cannot be used.
    """

    def __init__(self, client: Redis, prefix: str, now: Callable[[], int], key_file: Path | None = None) -> None:
        self._client: Any = client
        self._file = KeyFile(key_file)
        self.now = now
        self._private = f"{prefix}{{proof}}:private-key"
        self._public = f"{prefix}{{proof}}:public-keys"
        self._horizon = f"{prefix}{{proof}}:key-horizon"

    def signing(self) -> SigningKey:
        """Return the key that signs now."""
        return self._replace(rotate=False)

    def rotate(self) -> SigningKey:
        """Put a new key in the place of the present one, whose private part is gone from then on; return it."""
        return self._replace(rotate=True)

    def revoke(self, key: str, since: int) -> SigningKey | None:
        """Revoke the key with the id ``key`` from the instant ``since`` on (milliseconds since 1970 UTC).

        Returns the new key when it was the present one, which is rotated, else None. A key that is revoked already
        stays revoked from the earlier of both instants on. Raises LookupError when there is no such key.

        Crash-safe: rotation and revocation are two steps in this order. Killed in between, the key signs no more and
        is not revoked yet; revoking it again does the rest.
        """
        found = next((each for each in self.known() if each.id == key), None)
        if found is None:
            raise LookupError(f"there is no key {key}")
        raw, rotated = found.raw, self.rotate() if found.until is None else None

        def mark(pipeline: Pipeline) -> None:
            connection: Any = pipeline
            found = _unpacked(raw, connection.hget(self._public, raw))
            pipeline.multi()
            earliest = since if found.revoked is None else min(since, found.revoked)
            connection.hset(self._public, raw, json.dumps([found.since, found.until, earliest]))

        self._client.transaction(mark, self._public)
        return rotated

    def public(self) -> list[PublicKey]:
        """Return all public keys, the oldest first."""
        self.signing()
        return self.known()

    def known(self) -> list[PublicKey]:
        """Return the public keys that there are, the oldest first; none is made."""
        stored = self._client.hgetall(self._public)
        return sorted((_unpacked(raw, span) for raw, span in stored.items()), key=lambda key: (key.since, key.id))

    def examine(self) -> KeyExamination:
        """Return what is wrong with the private key, its public key and its horizon; nothing is changed."""
        with self._client.pipeline(transaction=True) as pipeline:
            pipeline.get(self._private)
            pipeline.hgetall(self._public)
            pipeline.get(self._horizon)
            found = pipeline.execute(raise_on_error=False)
        for error in found:
            if isinstance(error, RedisError):
                return KeyExamination([f"it cannot be read: {error}"])
        stored, public, horizon = found
        faults, unchecked = list[str](), None
        try:
            self._open(stored, _present(public))
        except SecretNotNamed as error:
            unchecked = str(error)
        except KeyNotReadable as error:
            faults.append(str(error))
        try:
            if _instant(horizon) > self.now() + RESERVED_MS + MAX_CLOCK_DIFFERENCE_MS:
                reason = "which is further ahead than a key is ever in use beforehand"
                faults.append(f"its horizon is {rfc3339(_instant(horizon))}, {reason}")
        except (KeyNotReadable, ValueError, OverflowError):
            faults.append(_HORIZON_DAMAGED)
        return KeyExamination(faults, unchecked)

    def _open(self, stored: bytes | None, present: bytes | None) -> bytes | None:
        """Return the private key that was ``stored``, None before the first.

        Raises KeyNotReadable unless it can be decrypted and is that of the public key ``present``.
        """
        if stored is None:
            if present is not None:
                raise KeyNotReadable(f"the signing key is missing: {_REMEDY}")
            return None
        raw = self._file.open(stored)
        if len(raw) != PRIVATE_KEY_BYTES:
            raise KeyNotReadable(f"the signing key is damaged: {_REMEDY}")
        if _raw_public(raw) != present:
            known = "there is none" if present is None else f"that is {thumbprint(present)}"
            raise KeyNotReadable(f"the signing key is not that of the public key in use ({known}): {_REMEDY}")
        return raw

    def _replace(self, *, rotate: bool) -> SigningKey:
        """Return the present key, or a new one when there is none or when it is to ``rotate``.

        Crash-safe: private key, public key and horizon change in one transaction, which starts again when another
        process changes one of them at the same time: killed at any moment, there is one private key and its public
        one. A rotation whose reply is lost is made a second time, which only leaves a public key that has signed
        nothing.
        """

        sealed: list[bool] = []

        def replace(pipeline: Pipeline) -> SigningKey:
            connection: Any = pipeline
            stored = connection.get(self._private)
            # Which key it is, is known without decrypting it, so that one that cannot be decrypted can be replaced.
            public = connection.hgetall(self._public)
            present = _present(public)
            old = None if present is None else json.loads(public[present])[0]
            current = None if rotate else self._open(stored, present)
            now, horizon = self.now(), self._read_horizon(connection, rotate)
            pipeline.multi()
            if current is not None and old is not None:
                if not self._file.is_sealed(stored):
                    connection.set(self._private, self._file.seal(current))
                    sealed.append(True)
                if horizon - now < RESERVED_MS // 2:
                    horizon = now + RESERVED_MS
                    connection.set(self._horizon, horizon)
                return SigningKey(current, old, horizon)
            since = now
            if old is not None:
                # A key never begins before the one in front of it, whatever the clocks of two machines say. Releases
                # that kept no horizon may have signed until this moment.
                since = max(now, old + 1)
                until = max(horizon or now + RESERVED_MS, old + 1)
                connection.hset(self._public, present, json.dumps([old, until]))
            raw = Ed25519PrivateKey.generate().private_bytes_raw()
            connection.set(self._private, self._file.seal(raw))
            connection.set(self._horizon, since + RESERVED_MS)
            connection.hset(self._public, _raw_public(raw), json.dumps([since, None]))
            return SigningKey(raw, since, since + RESERVED_MS)

        made: SigningKey = self._client.transaction(replace, self._private, self._horizon, value_from_callable=True)
        if sealed:
            with suppress(RedisError):  # the bare key stands in the append-only file until the next rewrite
                self._client.bgrewriteaof()
        return made

    def _read_horizon(self, connection: Any, rotate: bool) -> int:
        try:
            return _instant(connection.get(self._horizon))
        except KeyNotReadable:
            if not rotate:
                raise
            return 0


def record_keys(administration: Administration, keys: Iterable[PublicKey]) -> None:
    """Record in the log of administration which ``keys`` were put in place and revoked, each once.

    Crash-safe: the keys are the truth; killed before this is done, whoever does it next makes up for it.
    """
    for key in keys:
        administration.record(KEY_BEGUN, SERVER, {"key": key.id, "since": key.since}, f"key:{key.id}")
        if key.revoked is not None:
            facts = {"key": key.id, "since": key.revoked}
            administration.record(KEY_REVOKED, SERVER, facts, f"revoked:{key.id}:{key.revoked}")


KeySet = Mapping[str, PublicKey]
"""Public keys by their ids."""


def key_set(keys: Iterable[PublicKey]) -> dict[str, Any]:
    """Return ``keys`` as a JSON Web Key Set (RFC 7517, RFC 8037), each with the milliseconds of its time in use.

    Only a key that is revoked has the member ``revoked``.
    """
    return {"keys": [_shown(key) for key in keys]}


def _shown(key: PublicKey) -> dict[str, Any]:
    shown = {**_web_key(key.raw), "alg": "Ed25519", "kid": key.id, "since": key.since, "until": key.until, "use": "sig"}
    return shown if key.revoked is None else {**shown, "revoked": key.revoked}


def read_key_set(packed: bytes) -> KeySet:
    """Return the keys of a JSON Web Key Set as an installation serves it; raises Fault with the first thing wrong."""
    if len(packed) > LARGEST_KEY_SET:
        raise Fault("", f"a key set has at most {LARGEST_KEY_SET:,} bytes")
    try:
        value = json.loads(packed)
    except (ValueError, RecursionError):
        raise Fault("", "it is not JSON") from None
    if not isinstance(value, dict) or not isinstance(value.get("keys"), list):
        raise Fault("keys", "a key set has a list of keys")
    keys = {}
    for number, entry in enumerate(value["keys"]):
        key = _read_key(f"keys[{number}]", entry)
        if key.id in keys:
            raise Fault(f"keys[{number}].kid", "this key stands twice in the set")
        keys[key.id] = key
    return keys


class _WebKey(NamedTuple):
    kty: str
    crv: str
    x: str
    alg: str
    kid: str
    use: str
    since: int
    until: int | None = None
    revoked: int | None = None


_WEB_KEY = shape_of(_WebKey)


def _read_key(place: str, entry: Any) -> PublicKey:
    if isinstance(entry, dict) and entry.get("until", 0) is None:
        entry = {name: value for name, value in entry.items() if name != "until"}
    try:
        read: _WebKey = _WEB_KEY.read(entry)
        raw = base64.b64decode(read.x + "=" * (-len(read.x) % 4), b"-_", validate=True)
    except Misfit as misfit:
        raise Fault(f"{place}{misfit.path}", str(misfit)) from None
    except binascii.Error:
        raise Fault(f"{place}.x", "it is not base64url") from None
    if (read.kty, read.crv, len(raw)) != ("OKP", "Ed25519", 32):
        raise Fault(place, "it is no Ed25519 key")
    key = PublicKey(raw, read.since, read.until, read.revoked)
    if key.id != read.kid:
        raise Fault(f"{place}.kid", f"this key has the id {key.id}")
    return key


def _web_key(raw: bytes) -> dict[str, str]:
    return {"crv": "Ed25519", "kty": "OKP", "x": _base64url(raw)}


def _base64url(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def _raw_public(private: bytes) -> bytes:
    return Ed25519PrivateKey.from_private_bytes(private).public_key().public_bytes_raw()


def _present(public: Mapping[bytes, bytes]) -> bytes | None:
    """Return the public key in use of those stored, None when there is none."""
    return next((raw for raw, span in public.items() if json.loads(span)[1] is None), None)


def _instant(stored: bytes | None) -> int:
    """Return the stored horizon, 0 when releases that kept none have signed so far; raises KeyNotReadable."""
    try:
        return int(stored or 0)
    except ValueError:
        raise KeyNotReadable(_HORIZON_DAMAGED) from None


def _unpacked(raw: bytes, span: bytes) -> PublicKey:
    return PublicKey(raw, *json.loads(span))
