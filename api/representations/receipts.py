"""Receipts as answers carry them."""

from typing import Annotated

import msgspec
from msgspec import Meta, UnsetType

from api.http.answers import Answer
from events.proof.receipts import ReceiptSigner
from events.store.contract import Head


class Receipt(Answer):
    """What the server has signed about the match: keep it, and compare it with a bundle (rookery audit receipt).

    Written without white space, with the members in this order and a line feed, it is the document that is compared.
    """

    digest: Annotated[str, Meta(description="The hash of the last event of the act and all before it")]
    format: int
    installation: Annotated[str, Meta(description="The id of the server, which checkpoints have as their origin")]
    key: Annotated[str, Meta(description="The id of the key that has signed")]
    match: str
    signature: Annotated[str, Meta(description="Ed25519, hexadecimal")]
    signed_at: Annotated[int, Meta(description="In milliseconds since 1970 UTC")]
    version: int


ReceiptField = Annotated[
    Receipt | UnsetType,
    Meta(
        description="Missing only when the server could not use its key: GET /matches/{match_id}/receipt has it later"
    ),
]


def represent_receipt(signer: ReceiptSigner, match_id: str, head: Head, at: int) -> Receipt | UnsetType:
    """Return the receipt for an act after which the match had ``head``; its last event is dated ``at``."""
    receipt = signer.sign_act(match_id, head, at)
    return msgspec.UNSET if receipt is None else Receipt(**receipt._asdict())
