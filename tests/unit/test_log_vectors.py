"""The vectors of docs/proof/log.md."""

import json

from tests.support.log_vectors import DIRECTORY, files, judged, vectors


def test_the_product_judges_every_vector_as_it_says() -> None:
    different = {each["name"]: judged(each["given"]) for each in vectors() if judged(each["given"]) != each["expect"]}
    assert different == {}


def test_the_published_vectors_are_these() -> None:
    written = {path.name: text for path, text in files()}
    assert {file.name: file.read_text() for file in DIRECTORY.iterdir()} == written
    assert len(written) > 15
    assert all(json.loads(content)["name"] for content in written.values())
