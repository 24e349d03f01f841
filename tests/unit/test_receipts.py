"""Receipts: what a server has signed for who acted, against the bundle that it shows; by vectors and by command."""

import json
from typing import Any

import pytest

from events.proof.bundle import Bundle, read_bundle
from events.proof.documents import DocumentError, write_document
from events.proof.receipts import Comparison, Receipt, compare, make_receipt, read_receipt, write_receipt
from events.store.contract import Head
from tests.support.bundles import KEY, SIGNED_AT, bundle_of, envelopes, keys, resigned
from tests.support.matches import PlayedMatch
from tests.support.receipt_vectors import FOLDER, files
from tests.support.tables import table
from tests.support.verdicts import verdict

INSTALLATION = "0123456789abcdef"


def receipt_of(match: PlayedMatch, version: int, signed_at: int = SIGNED_AT) -> Receipt:
    event = envelopes(match.events, match.name)[version - 1]
    return make_receipt(match.name, Head(version, event.digest), INSTALLATION, KEY, signed_at)


def bundle(match: PlayedMatch, events: int = 7) -> Bundle:
    match.events[events:] = []
    return read_bundle(bundle_of(match))


def test_a_receipt_is_a_signed_document_that_is_read_as_it_was_written() -> None:
    receipt = receipt_of(resigned(), 5)
    packed = write_receipt(receipt)
    assert read_receipt(packed) == receipt
    receipt.check(keys())
    assert json.loads(packed) == receipt._asdict()
    assert list(json.loads(packed)) == sorted(receipt._fields)


def test_a_bundle_contains_the_receipt_of_every_version() -> None:
    shown = bundle(resigned())
    for version in range(1, 8):
        assert compare(receipt_of(resigned(), version), shown) == Comparison.CONTAINED


def test_a_bundle_with_another_digest_at_that_version_is_another_story() -> None:
    other = receipt_of(resigned(), 5)._replace(digest=receipt_of(resigned(), 4).digest)
    assert compare(other, bundle(resigned())) == Comparison.CONTRADICTED


def test_a_shorter_bundle_contradicts_only_when_it_is_signed_later() -> None:
    shown = bundle(resigned(), events=5)
    assert compare(receipt_of(resigned(), 7), shown) == Comparison.EARLIER
    assert compare(receipt_of(resigned(), 7, SIGNED_AT - 4_000), shown) == Comparison.EARLIER
    assert compare(receipt_of(resigned(), 7, SIGNED_AT - 4_001), shown) == Comparison.MISSING


def test_a_receipt_of_another_match_is_compared_with_nothing() -> None:
    with pytest.raises(DocumentError, match="match: the receipt is of match another, the bundle of m"):
        compare(receipt_of(resigned(), 5)._replace(match="another"), bundle(resigned()))


@pytest.mark.parametrize(("change", "said"), table(__file__, "every change of a receipt is found"))
def test_every_change_of_a_receipt_is_found(change: dict[str, Any], said: str) -> None:
    content = {**receipt_of(resigned(), 5)._asdict(), **change}
    with pytest.raises(DocumentError, match=said):
        read_receipt(write_document(content)).check(keys())


def test_a_receipt_by_a_key_that_was_revoked_before_proves_nothing() -> None:
    revoked = {KEY.id: KEY.public._replace(revoked=SIGNED_AT)}
    with pytest.raises(DocumentError, match="is revoked from"):
        receipt_of(resigned(), 5).check(revoked)


def test_every_vector_is_judged_as_it_says() -> None:
    for path in sorted(FOLDER.glob("*.json")):
        for vector in json.loads(path.read_text()):
            assert verdict(vector["given"]) == vector["expect"], vector["name"]


def test_the_published_vectors_are_those_that_the_program_writes() -> None:
    written = {path: path.read_text() for path in FOLDER.glob("*.json")}
    assert written == dict(files()), "write them again: python -m tests.proof_vectors"
