"""Receipts of a match, for who wants one later than the answer to an act."""

import inspect
from collections.abc import Mapping

from flask import Blueprint, Response
from marshmallow import validate

from api.access.matches import visible_match
from api.addresses import PREFIX
from api.endpoints import endpoint
from api.http.answers import JSON
from api.http.messages import MAX_NUMBER
from api.http.problems import Problem
from api.http.schemas import QueryInteger, StrictSchema
from api.services import services
from events.proof.receipts import Receipt, write_receipt
from events.store.contract import Head
from events.store.converter import schema_of

blueprint = Blueprint("receipts", __name__, url_prefix=PREFIX)


class ReceiptQuery(StrictSchema):
    version = QueryInteger(
        load_default=None,
        allow_none=False,
        validate=validate.Range(1, MAX_NUMBER),
        metadata={"description": "Of the match; the last one if it is not given"},
    )


@blueprint.get("/matches/<match_id>/receipt")
@endpoint(
    content={"description": inspect.cleandoc(Receipt.__doc__ or ""), **schema_of(Receipt)},
    query=ReceiptQuery,
    problems=[404],
    headers={"Content-Disposition": "A name for the file"},
)
def download_receipt(query: Mapping[str, int | None], match_id: str) -> Response:
    """What the server signs now about a version of the match, to be compared with a bundle later

    ``rookery audit receipt`` compares it. Every act on a match is answered with the receipt for it.
    """
    loaded, version = visible_match(match_id), query["version"]
    head = loaded.head
    if version is not None and version > head.version:
        raise Problem("no-such-version", f"The match is at version {head.version}.")
    if version is not None and version < head.version:
        (event,) = services().store.read(match_id, version - 1, 1)
        head = Head(event.version, event.digest)
    services().store.check_clock()  # nothing is signed with an instant of a wrong clock
    packed = write_receipt(services().receipts.sign(match_id, head))
    headers = {"Content-Disposition": f'attachment; filename="rookery-{match_id}-{head.version}-receipt.json"'}
    return Response(packed, headers=headers, content_type=JSON)
