"""The published vectors of receipts, against the reader that the product has."""

import json

from tests.support.receipt_vectors import FOLDER, files
from tests.support.verdicts import verdict


def test_every_vector_is_judged_as_it_says() -> None:
    for path in sorted(FOLDER.glob("*.json")):
        for vector in json.loads(path.read_text()):
            assert verdict(vector["given"]) == vector["expect"], vector["name"]


def test_the_published_vectors_are_those_that_the_program_writes() -> None:
    written = {path: path.read_text() for path in FOLDER.glob("*.json")}
    assert written == dict(files()), "write them again: python -m tests.proof_vectors"
