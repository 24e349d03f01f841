"""Two verifiers, one of them written from the documents, agree on the vectors of all topics and on forged bundles."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.bundle_vectors import FOLDER
from tests.support.forgeries import forgeries
from tests.support.second_verifier import second_verdicts
from tests.support.verdicts import Given, Verdict, crash_with_rules, verdict

FORGERIES = 60
"""``python -m tests.bench.forgeries`` draws twenty thousand."""


@pytest.fixture(scope="module")
def forged() -> list[tuple[Given, Verdict]]:
    """Return forged bundles, and what the first verifier says of each."""
    return [(given, verdict(given)) for given in forgeries(FORGERIES, seed=7)]


def all_vectors() -> Iterator[dict[str, Any]]:
    """Yield the vectors of bundles, receipts and consistency. A file has one, or a list."""
    for path in sorted(FOLDER.parent.glob("*/*.json")):
        content = json.loads(path.read_text())
        for vector in content if isinstance(content, list) else [content]:
            if not {"bundle", "earlier"}.isdisjoint(vector["given"]):
                yield vector


def test_both_verifiers_prove_the_same_steps_and_find_the_same_first_fault(forged: list[tuple[Given, Verdict]]) -> None:
    known = [(vector["name"], vector["given"], vector["expect"]) for vector in all_vectors()]
    known += [(f"forgery {number}", *each) for number, each in enumerate(forged)]
    found = second_verdicts([given for _, given, _ in known])
    for (name, _, expected), other in zip(known, found, strict=True):
        assert other == expected, name


def test_no_forgery_ends_a_verifier_without_a_verdict(forged: list[tuple[Given, Verdict]]) -> None:
    assert [found for _, found in forged if "crash" in found] == []
    assert {crash_with_rules(given) for given, _ in forged if "policy" in given} == {None}


def test_forgeries_follow_from_their_seed_and_most_of_them_are_well_formed(forged: list[tuple[Given, Verdict]]) -> None:
    assert [given for given, _ in forged[:10]] == list(forgeries(10, seed=7))
    bundles = [found for given, found in forged if given.keys() == {"bundle", "keys", "policy"}]
    steps = [found["fault"] and found["fault"]["step"] for found in bundles]
    assert steps.count("well-formed") + steps.count("keys") < FORGERIES / 2
    assert {"chain", "signature", "checkpoint"} <= {*steps}
