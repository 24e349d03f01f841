"""``rookery audit receipt``: what a bundle says to a receipt, offline."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from deploy.cli import main
from events.proof.documents import write_document
from events.proof.public_keys import key_set
from events.proof.receipts import make_receipt, write_receipt
from events.store.contract import Head
from tests.support.bundles import KEY, OTHER_KEY, SIGNED_AT, bundle_of, envelopes, resigned, taken_back
from tests.support.matches import PlayedMatch


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with the bundle of a match that was resigned, and the keys of its server."""
    (tmp_path / "bundle").write_bytes(bundle_of(resigned()))
    (tmp_path / "keys").write_bytes(write_document(key_set([KEY.public])))
    return tmp_path


def receipt_of(match: PlayedMatch, version: int, signed_at: int = SIGNED_AT) -> bytes:
    event = envelopes(match.events, match.name)[version - 1]
    return write_receipt(make_receipt("m", Head(version, event.digest), "0123456789abcdef", KEY, signed_at))


def told(folder: Path, receipt: bytes, *, keys: bool = True) -> Result:
    (folder / "receipt").write_bytes(receipt)
    trusted = ["--keys", str(folder / "keys")] if keys else []
    return CliRunner().invoke(
        main, ["audit", "receipt", str(folder / "receipt"), str(folder / "bundle"), *trusted], catch_exceptions=False
    )


def test_a_bundle_with_the_acknowledged_event_contains_its_receipt(folder: Path) -> None:
    result = told(folder, receipt_of(resigned(), 5))
    assert (result.exit_code, result.output[:30]) == (0, "CONTAINED  The bundle has vers")


def test_a_receipt_is_read_out_of_a_quoted_mail(folder: Path) -> None:
    text = receipt_of(resigned(), 5).decode()
    quoted = "\r\n".join(f"> | {text[start : start + 60]}" for start in range(0, len(text), 60))
    assert told(folder, quoted.encode()).exit_code == 0


def test_another_digest_at_that_version_is_another_story(folder: Path) -> None:
    result = told(folder, receipt_of(taken_back(), 6))
    assert result.exit_code == 1
    digests = [envelopes(match.events, "m")[5].id for match in (taken_back(), resigned())]
    said = f"TWO STORIES  version 6 has the digest {digests[0]} in the receipt and {digests[1]} in the bundle."
    assert result.output.startswith(said)


def test_a_later_bundle_without_the_version_is_another_story_and_an_earlier_one_is_not(folder: Path) -> None:
    lost = told(folder, receipt_of(taken_back(), 9, SIGNED_AT - 10_000))
    assert lost.exit_code == 1
    assert lost.output.startswith(
        "TWO STORIES  the bundle of 2023-11-14T23:13:20.000Z ends with version 7, the receipt"
    )
    early = told(folder, receipt_of(taken_back(), 9, SIGNED_AT + 10_000))
    assert early.exit_code == 1
    assert early.output.startswith("NOT COMPARED  The bundle ends with version 7, before the receipt's 9")


def test_a_receipt_of_another_key_proves_nothing(folder: Path) -> None:
    (folder / "keys").write_bytes(write_document(key_set([OTHER_KEY.public])))
    result = told(folder, receipt_of(resigned(), 5))
    assert (result.exit_code, f"FAULT  key: key {KEY.id} is not among the keys given" in result.output) == (1, True)


def test_without_keys_nothing_is_said_to_be_checked(folder: Path) -> None:
    result = told(folder, receipt_of(resigned(), 5), keys=False)
    assert result.exit_code == 1
    assert result.output.endswith("no signature has been checked.\n")


def test_a_forged_bundle_is_refused_with_its_place(folder: Path) -> None:
    (folder / "bundle").write_bytes(bundle_of(resigned()).replace(b'"b6-a5"', b'"b6-c5"'))
    assert "bundle: FAULT  version 5" in told(folder, receipt_of(resigned(), 5)).output
