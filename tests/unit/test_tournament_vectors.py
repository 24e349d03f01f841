"""The vectors of tournaments: what the first verifier says of them, and that they are as they would be written now."""

import json

import pytest

from tests.support import tournament_vectors
from tests.support.verdicts import Verdict, verdict

VECTORS = json.loads(tournament_vectors.FILE.read_text())


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["name"])
def test_a_vector_is_judged_as_it_says(vector: Verdict) -> None:
    assert verdict(vector["given"]) == vector["expect"]


def test_they_are_as_they_would_be_written_now() -> None:
    assert tournament_vectors.text() == tournament_vectors.FILE.read_text()
