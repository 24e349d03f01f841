"""The signing key in the store is of no use to who has a copy of the store."""

import stat
from pathlib import Path

import pytest

from events.proof.key_file import UnreadableKeyError
from events.proof.keys import KeyRing, SigningKey
from events.runtime.connections import StoreClient

NOW = 1_790_000_000_000
PRIVATE = "rk:{proof}:private-key"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "keys" / "at-rest.key"


def ring(redis: StoreClient, path: Path | None) -> KeyRing:
    return KeyRing(redis, "rk:", lambda: NOW, path)


def signature(key: SigningKey) -> str:
    return key.sign("test", {"a": 1})


def raw_of(redis: StoreClient) -> bytes:
    stored = redis.get(PRIVATE)
    assert isinstance(stored, bytes)
    return stored


def test_a_copy_of_the_store_does_not_hold_the_private_key(redis: StoreClient, path: Path) -> None:
    key = ring(redis, path).signing()
    assert raw_of(redis).startswith(b"AES-256-GCM:")
    with pytest.raises(UnreadableKeyError, match="ROOKERY_KEY_FILE"):
        ring(redis, None).signing()
    assert signature(ring(redis, path).signing()) == signature(key)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert list(path.parent.iterdir()) == [path]


def test_a_key_from_before_is_encrypted_and_goes_on_signing(redis: StoreClient, path: Path) -> None:
    key = ring(redis, None).signing()
    bare = raw_of(redis)
    assert signature(ring(redis, path).signing()) == signature(key)
    assert bare not in raw_of(redis)
    assert [public.id for public in ring(redis, path).public()] == [key.id]


def test_a_key_encrypted_with_another_file_is_refused(redis: StoreClient, path: Path, tmp_path: Path) -> None:
    lost = ring(redis, path).signing()
    path.unlink()
    with pytest.raises(UnreadableKeyError, match=r"put the right file back, or .* rookery audit rotate-key"):
        ring(redis, path).signing()
    assert not path.exists()
    other = tmp_path / "other.key"
    fresh = ring(redis, other).rotate()
    assert signature(ring(redis, other).signing()) == signature(fresh)
    ended, begun = ring(redis, other).public()
    assert (ended.id, begun.id) == (lost.id, fresh.id)
    assert ended.until is not None


def test_a_file_that_holds_no_secret_is_refused(redis: StoreClient, path: Path) -> None:
    ring(redis, path).signing()
    path.write_text("nonsense\n")
    with pytest.raises(UnreadableKeyError, match="cannot be decrypted"):
        ring(redis, path).signing()
