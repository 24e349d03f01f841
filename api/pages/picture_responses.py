"""How pictures that stand alone are sent: who may keep them for how long, and what they are allowed to do."""

from base64 import b64encode
from hashlib import sha256

from flask import Response, request

from domain.game import AnyGame
from domain.match.state import MatchState
from events.pictures.standalone import Drawing, render_png
from events.readmodels import Summary

KEPT = "public, max-age=31536000, immutable"
REVALIDATED = "private, no-cache"
PUBLIC = "public, no-cache"


def as_of(match: MatchState | Summary) -> str:
    """Return the instant and version at which a match stands: the address of a picture that never changes names it.

    A ply alone does not do: it may be taken back and played again.
    """
    return f"{match.version}-{match.updated_at}"


def caching(state: MatchState) -> str:
    """Return who may keep a picture of the match: everybody without limit, if it is public and named by ``as_of``.

    Pictures of a private match are kept by its players' browsers, which ask each time whether they may still show them.
    """
    if state.private:
        return REVALIDATED
    return KEPT if request.args.get("at") == as_of(state) else PUBLIC


def picture_title(game: AnyGame, ply: int) -> str:
    """Return what a picture of a match shows."""
    return f"{game.title}, {plies_in_words(ply)}"


def plies_in_words(ply: int) -> str:
    """Return at which point of a match a position stands."""
    return "at the start" if ply == 0 else f"after {ply} move{'' if ply == 1 else 's'}"


def svg_response(drawing: Drawing, cache: str) -> Response:
    """Return ``drawing``, or 304 when the caller has it. Opened by itself it may use its own style and nothing else."""
    style = b64encode(sha256(drawing.style.encode()).digest()).decode()
    response = _unless_known(drawing, cache, "image/svg+xml", f"'sha256-{style}'")
    if response.status_code == 200:
        response.set_data(drawing.svg)
    return response


def png_response(drawing: Drawing, cache: str) -> Response:
    """Return ``drawing`` as a PNG, or 304 when the caller has it."""
    # Browsers show a picture in a document of their own, with a style of their own.
    response = _unless_known(drawing, cache, "image/png", "'unsafe-inline'")
    if response.status_code == 200:
        response.set_data(render_png(drawing))
    return response


def _unless_known(drawing: Drawing, cache: str, content_type: str, styles: str) -> Response:
    tag = sha256(drawing.svg.encode()).hexdigest()[:16]
    known = request.if_none_match.contains(tag)
    response = Response(status=304 if known else 200, content_type=content_type, headers={"Cache-Control": cache})
    response.set_etag(tag)
    response.headers["Content-Security-Policy"] = (
        f"default-src 'none'; style-src {styles}; frame-ancestors 'none'; sandbox"
    )
    return response
