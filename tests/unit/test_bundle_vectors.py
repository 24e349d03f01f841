"""The test vectors of bundles: they are as their program writes them, and the product says what they expect."""

import json

import pytest

from tests.support.bundle_vectors import FOLDER, files
from tests.support.verdicts import verdict

FILES = dict(files())


def test_the_vectors_are_those_that_their_program_writes() -> None:
    assert sorted(FILES) == sorted(FOLDER.iterdir())
    for path, text in FILES.items():
        assert path.read_text() == text, "write it again: python -m tests.proof_vectors"


@pytest.mark.parametrize("text", FILES.values(), ids=[path.stem for path in FILES])
def test_the_verifier_finds_in_every_vector_what_it_expects(text: str) -> None:
    for vector in json.loads(text):
        assert verdict(vector["given"]) == vector["expect"], vector["name"]
