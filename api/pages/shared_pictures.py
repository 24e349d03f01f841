"""Pictures for lists and link previews: small boards, PNGs, and the metadata of previews."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from flask import Response, abort, request, url_for

from api.access.matches import visible_match
from api.pages import pictures
from api.pages.home import showcase_scene
from api.pages.layout import blueprint
from api.services import services
from domain.game import AnyGame
from domain.games import GAMES
from domain.match.guards import rules_of
from domain.match.state import MatchState
from events.matches.animations import AnimationQuery
from events.matches.jobs import ANIMATION
from events.matches.readmodels import Summary
from events.people.person import Person
from events.pictures.standalone import PNG_HEIGHT, PNG_WIDTH, Drawing, draw_document

GAME_PICTURE_CACHING = "public, max-age=86400"
"""The picture of a game changes only with the server."""

PNG_RATIO = PNG_WIDTH / PNG_HEIGHT


class SmallBoard(NamedTuple):
    """The address of a small board, and its content in words."""

    url: str
    alt: str


class LinkPreview(NamedTuple):
    """The preview of a page on other sites that link to it."""

    title: str
    description: str
    page: str
    image: str
    alt: str


@blueprint.get("/matches/<match_id>/small.svg")
def small_board(match_id: str) -> Response:
    """Return the board of a match as it stands, without labels."""
    state = visible_match(match_id).state
    return pictures.svg_response(_draw(state, len(state.play.moves), labels=False), pictures.caching(state))


@blueprint.get("/matches/<match_id>/board.png")
def board_png(match_id: str) -> Response:
    """Return the board of a match at a ply in the form that link previews need."""
    state = visible_match(match_id).state
    return pictures.png_response(
        _draw(state, pictures.requested_ply(state), dark=False, ratio=PNG_RATIO), pictures.caching(state)
    )


@blueprint.get("/matches/<match_id>/moves.gif")
def moves_gif(match_id: str) -> Response:
    """Return an animated picture that a worker has made of the match; 404 if it has not, or a day ago."""
    state = visible_match(match_id).state
    names, most = ("first", "last", "quarters"), 6
    asked = [request.args.get(name, "0") for name in names]
    if not all(text.isascii() and text.isdigit() and len(text) <= most for text in asked):
        abort(404, "There is no such picture.")
    query = AnimationQuery(request.args.get("at", ""), *map(int, asked))
    picture = services().jobs.result(match_id, ANIMATION, query.basis)
    if picture is None:
        abort(404, "This picture was kept for a day, or has not been made: request it on the page of the match.")
    response = Response(picture, content_type="image/gif", headers={"Cache-Control": pictures.REVALIDATED})
    name = f"rookery-{state.match_id}-{query.first}-{query.last}.gif"
    response.headers["Content-Disposition"] = f'inline; filename="{name}"'
    return response


@blueprint.get("/games/<game_id>/board.png")
def game_png(game_id: str) -> Response:
    """Return the showcase position of a game in the form that link previews need."""
    game = GAMES.get(game_id)
    if game is None:
        abort(404, "There is no such game.")
    scene = showcase_scene(game)
    colours = next(iter(game.setups.values())).colours
    drawing = draw_document(scene, colours, game.title, dark=False, ratio=PNG_RATIO)
    return pictures.png_response(drawing, GAME_PICTURE_CACHING)


@blueprint.get("/games/<game_id>/small.svg")
def game_small(game_id: str) -> Response:
    """Return the start of the first setup of a game as a small picture without labels."""
    game = GAMES.get(game_id)
    if game is None:
        abort(404, "There is no such game.")
    setup = next(iter(game.setups.values()))
    drawing = draw_document(game.scene(game.initial(setup.name)), setup.colours, game.title, labels=False)
    return pictures.svg_response(drawing, GAME_PICTURE_CACHING)


def small_board_of(summary: Summary, person: Person | None) -> SmallBoard | None:
    """Return the small board of a match, turned for a player of it; None without its ruleset."""
    game = next((rules for rules in GAMES.rulesets.get(summary.game, ()) if rules.ruleset == summary.ruleset), None)
    if game is None or summary.setup not in game.setups:
        return None
    seat = next(
        (number for number, seat in enumerate(summary.seats) if person is not None and seat.player == person.id), None
    )
    turn = (
        0
        if seat is None
        else pictures.turn_number(summary, pictures.TurnedView(game.setups[summary.setup].turns[seat]))
    )
    url = url_for("web.small_board", match_id=summary.match, turned=turn or None, at=pictures.as_of(summary))
    return SmallBoard(url, f"The board {pictures.plies_in_words(summary.ply)}")


def link_preview(
    state: MatchState, game: AnyGame, ply: int, players: Sequence[str], description: str
) -> LinkPreview | None:
    """Return the preview of the page of a match at ``ply``; None for a private match."""
    if state.private:
        return None
    place = {"match_id": state.match_id, "ply": ply if ply < len(state.play.moves) else None}
    image = absolute("web.board_png", **place, at=pictures.as_of(state))
    alt = pictures.picture_title(game, ply)
    return LinkPreview(
        f"{game.title}: {' – '.join(players)}", description, absolute("web.match_page", **place), image, alt
    )


def _draw(state: MatchState, ply: int, **how: Any) -> Drawing:
    game = rules_of(state)
    view = pictures.requested_view(state, game, None)
    scene, traces = pictures.scene_at(state, game, ply, view)
    colours = pictures.colours_of(state, game)
    return draw_document(
        scene, colours, pictures.picture_title(game, ply), quarters=view.quarters, traces=traces, **how
    )


def absolute(endpoint: str, **values: Any) -> str:
    """Return the public address of a page or picture."""
    return f"{services().settings.page_url.rstrip('/')}{url_for(endpoint, **values)}"


@blueprint.app_context_processor
def _sharing() -> dict[str, Any]:
    return {"small_board_of": small_board_of, "absolute": absolute, "png_size": (PNG_WIDTH, PNG_HEIGHT)}
