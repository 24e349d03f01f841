"""What is wrong with the signing key is named by ``rookery audit all`` and ``rookery verify``, which go on."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from deploy.cli import main
from events.proof.key_file import UnreadableKeyError
from events.proof.keys import KeyRing
from events.runtime.notice_keys import PushKeys
from tests.integration.test_proofs import rewrite, sign
from tests.support.stepped_installation import PREFIX, SteppedInstallation

PRIVATE = f"{PREFIX}{{proof}}:private-key"
PUBLIC = f"{PREFIX}{{proof}}:public-keys"
HORIZON = f"{PREFIX}{{proof}}:key-horizon"

DAMAGES: dict[str, tuple[Callable[[SteppedInstallation], Any], str]] = {
    "it is deleted": (lambda shop: shop.client.delete(PRIVATE), "the signing key is missing: "),
    "it is another": (lambda shop: shop.client.set(PRIVATE, bytes(32)), "the signing key is not that of the public "),
    "it is cut": (lambda shop: shop.client.set(PRIVATE, b"short"), "the signing key is damaged: "),
    "its public key is deleted": (lambda shop: shop.client.delete(PUBLIC), "public key in use (there is none): "),
    "its horizon is damaged": (
        lambda shop: shop.client.set(HORIZON, "soon"),
        "the horizon of the signing key is damaged: ",
    ),
}
"""Damages that keep the key from signing."""


@pytest.fixture
def match_id(shop: SteppedInstallation) -> str:
    """Return a match that a checkpoint knows."""
    match = shop.start("alice", "bob")
    shop.play(match, 2)
    sign(shop, 0)
    return match


def results(cli: Any) -> tuple[Result, Result]:
    return cli("all", "--processes", 1), CliRunner().invoke(main, ["verify"])


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_signing_key_is_named_alone(shop: SteppedInstallation, match_id: str, cli: Any, damage: str) -> None:
    assert [result.exit_code for result in results(cli)] == [0, 0]
    strike, said = DAMAGES[damage]
    strike(shop)
    known = shop.store.head(match_id).version
    rewrite(shop, match_id)
    for result in results(cli):
        assert result.exit_code == 1
        assert said in result.output
        assert f"{match_id} at version {known}: a checkpoint has it with the digest " in result.output


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_signing_key_signs_nothing(shop: SteppedInstallation, match_id: str, damage: str) -> None:
    strike, said = DAMAGES[damage]
    strike(shop)
    with pytest.raises(UnreadableKeyError) as refused:
        shop.keyring.signing()
    assert said in str(refused.value)
    assert "rookery audit rotate-key" in str(refused.value)
    fresh = shop.keyring.rotate()
    assert shop.keyring.signing().id == fresh.id
    assert [key.id for key in shop.keyring.known() if key.until is None] == [fresh.id]
    assert shop.keyring.examine() == ([], None)


def test_a_rotation_replaces_a_key_of_push_notices_that_cannot_be_read(shop: SteppedInstallation, cli: Any) -> None:
    stored = PushKeys(shop.settings.prefix).private_key
    shop.parts.push_key.read()
    assert "Push notices" not in cli("rotate-key").output
    shop.client.set(stored, bytes(32))
    assert "Push notices have a new key" in cli("rotate-key").output
    assert shop.parts.push_key.read()


def test_a_private_key_of_another_type_is_named(shop: SteppedInstallation, match_id: str, cli: Any) -> None:
    shop.client.delete(PRIVATE)
    shop.client.rpush(PRIVATE, "x")
    for result in results(cli):
        assert result.exit_code == 1
        assert "the signing key: it cannot be read: " in result.output


def test_a_horizon_that_is_too_far_ahead_is_named(shop: SteppedInstallation, match_id: str, cli: Any) -> None:
    shop.client.set(HORIZON, "4000000000000")
    for result in results(cli):
        assert result.exit_code == 1
        assert "the signing key: its horizon is 2096-10-02T07:06:40" in result.output


def test_a_signing_key_whose_file_is_lost_is_named_and_without_a_file_it_is_said_that_it_was_not_checked(
    shop: SteppedInstallation, match_id: str, cli: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "at-rest.key"
    KeyRing(shop.client, PREFIX, lambda: shop.now, path).signing()
    for result in results(cli):
        assert result.exit_code == 0
        assert "NOT CHECKED the signing key: the signing key is encrypted: name the file" in result.output
    monkeypatch.setenv("ROOKERY_KEY_FILE", str(path))
    assert all(result.exit_code == 0 and "NOT CHECKED" not in result.output for result in results(cli))
    path.write_text("0" * 64)
    for result in results(cli):
        assert result.exit_code == 1
        assert "the signing key: the signing key cannot be decrypted with " in result.output
