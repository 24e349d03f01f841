"""Responses with standalone pictures: their caching and their content security policy."""

from base64 import b64encode
from hashlib import sha256

from flask import Response, request

from domain.game import AnyGame
from domain.match.state import MatchState
from events.pictures.standalone import Drawing, render_png
from events.readmodels import Summary

IMMUTABLE = "public, max-age=31536000, immutable"
REVALIDATED = "private, no-cache"
PUBLIC = "public, no-cache"


def as_of(match: MatchState | Summary) -> str:
    """Return the version and instant of a match, which the addresses of immutable pictures contain.

    The ply is not enough: it may be taken back and played again.
    """
    return f"{match.version}-{match.updated_at}"


def caching(state: MatchState) -> str:
    """Return the Cache-Control of a picture: immutable for a public match if the address contains ``as_of``.

    Browsers of the players of a private match revalidate its pictures each time.
    """
    if state.private:
        return REVALIDATED
    return IMMUTABLE if request.args.get("at") == as_of(state) else PUBLIC


def picture_title(game: AnyGame, ply: int) -> str:
    """Return the title of a picture of a match."""
    return f"{game.title}, {plies_in_words(ply)}"


def plies_in_words(ply: int) -> str:
    """Return the place of a position in a match: at the start, after 1 move, after 2 moves."""
    return "at the start" if ply == 0 else f"after {ply} move{'' if ply == 1 else 's'}"


def svg_response(drawing: Drawing, cache: str) -> Response:
    """Return ``drawing``, or 304 if the caller has it. The policy allows only its own style sheet."""
    style = b64encode(sha256(drawing.style.encode()).digest()).decode()
    response = _unless_known(drawing, cache, "image/svg+xml", f"'sha256-{style}'")
    if response.status_code == 200:
        response.set_data(drawing.svg)
    return response


def png_response(drawing: Drawing, cache: str) -> Response:
    """Return ``drawing`` as a PNG, or 304 if the caller has it."""
    # Browsers display a PNG in a document of their own, with inline styles.
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
