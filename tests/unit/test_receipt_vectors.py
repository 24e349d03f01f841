"""The published vectors of receipts, against the reader that the product has."""

import json
from base64 import b64decode
from typing import Any

from events.proof.bundle import read_bundle
from events.proof.documents import DocumentError
from events.proof.public_keys import read_key_set
from events.proof.receipts import compare, read_receipt
from tests.support.receipt_vectors import FOLDER, files


def judged(given: dict[str, Any]) -> dict[str, str]:
    try:
        receipt = read_receipt(b64decode(given["receipt"]))
        receipt.check(read_key_set(json.dumps(given["keys"]).encode()))
        return {"comparison": compare(receipt, read_bundle(b64decode(given["bundle"])))}
    except DocumentError as fault:
        return {"fault": fault.place}


def test_every_vector_is_judged_as_it_says() -> None:
    for path in sorted(FOLDER.glob("*.json")):
        for vector in json.loads(path.read_text()):
            assert judged(vector["given"]) == vector["expect"], vector["name"]


def test_the_published_vectors_are_those_that_the_program_writes() -> None:
    written = {path: path.read_text() for path in FOLDER.glob("*.json")}
    assert written == dict(files()), "write them again: python -m tests.proof_vectors"
