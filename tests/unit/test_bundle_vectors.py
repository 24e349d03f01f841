"""The vectors of bundles and of consistency: as their program writes them; the product says what they expect."""

import json

import pytest

from tests.support import consistency_vectors
from tests.support.bundle_vectors import files
from tests.support.verdicts import verdict

FILES = dict(files()) | {consistency_vectors.FILE: consistency_vectors.text()}


def test_the_vectors_are_those_that_their_program_writes() -> None:
    folders = {path.parent for path in FILES}
    assert sorted(FILES) == sorted(path for folder in folders for path in folder.iterdir())
    for path, text in FILES.items():
        assert path.read_text() == text, "write it again: python -m tests.proof_vectors"


@pytest.mark.parametrize("text", FILES.values(), ids=[path.stem for path in FILES])
def test_the_verifier_finds_in_every_vector_what_it_expects(text: str) -> None:
    for vector in json.loads(text):
        assert verdict(vector["given"]) == vector["expect"], vector["name"]
