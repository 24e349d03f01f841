"""The log of matches as static files in the forms of C2SP, at the root of the site: for mirrors and monitors.

C2SP specifies them, not the document of the API.
"""

from flask import Blueprint, Response

from api.http.problems import Problem
from api.services import services
from events.proof.transparency.tiles import LogTiles, NoTileError, parse_level, parse_place

blueprint = Blueprint("log", __name__)

OCTETS = "application/octet-stream"
PLAIN = "text/plain; charset=utf-8"
FOR_SECONDS = "public, max-age=5"
FOR_EVER = "max-age=31536000, immutable"


@blueprint.get("/checkpoint")
def show_note() -> Response:
    """Return the last checkpoint as a signed note (C2SP tlog-checkpoint), with the cosignatures of witnesses."""
    note = services().checkpoints.note()
    if note is None:
        raise Problem("no-such-checkpoint", "No checkpoint was signed as a note yet.")
    return Response(note, content_type=PLAIN, headers={"Cache-Control": FOR_SECONDS})


@blueprint.get("/tile/entries/<path:place>")
def show_entries(place: str) -> Response:
    """Return a bundle of entries of the log (C2SP tlog-tiles); ``place`` is x001/x234/067 or 000.p/5.

    Each entry comes after its length in two bytes.
    """
    try:
        content = LogTiles(services().checkpoints).entries(parse_place(place))
    except NoTileError as error:
        raise Problem("no-such-tile", f"There are no such entries: {error}.") from error
    return _kept(content)


@blueprint.get("/tile/<level>/<path:place>")
def show_tile(level: str, place: str) -> Response:
    """Return a tile of the tree (C2SP tlog-tiles); ``place`` is x001/x234/067 or 000.p/5.

    It has up to 256 hashes of 32 bytes, at level 0 those of the leaves, above those of the full tiles below.
    """
    try:
        content = LogTiles(services().checkpoints).hashes(parse_level(level), parse_place(place))
    except NoTileError as error:
        raise Problem("no-such-tile", f"There is no such tile: {error}.") from error
    return _kept(content)


def _kept(content: bytes) -> Response:
    return Response(content, content_type=OCTETS, headers={"Cache-Control": FOR_EVER})
