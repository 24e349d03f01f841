"""The home page, the help page and the page of each game."""

from functools import lru_cache

from flask import Response, abort, render_template

from api.access.auth import current_person
from api.http.answers import json_response
from api.pages import wording
from api.pages.layout import blueprint
from api.pages.list_pages import page_of, represented, started_matches
from api.pages.open_seats import offer_seats
from api.pages.rules import rules_url
from domain.game import AnyGame
from domain.games import GAMES
from domain.match.calendar import MAX_FREE_DAYS
from domain.match.decisions.cases import MAX_DISPUTE_DELAY_MS
from domain.match.decisions.timekeeping import MAX_FORGIVING_MS
from domain.match.enums import Limit
from domain.match.terms import PRESETS, duration, limit_in_words
from domain.match.vacation import ALLOWANCE
from domain.scene import Scene
from domain.search.budgets import offered_levels
from events.pictures.board import draw

OPEN_MATCHES_SHOWN = 5
RECENT_MATCHES_SHOWN = 3


@blueprint.get("/")
def home() -> str:
    """Return the home page: an introduction, the ways to start, the games."""
    return render_template("home.html", games=list(GAMES.values()), picture=_picture, hero=next(iter(GAMES.values())))


@blueprint.get("/offline")
def offline_page() -> str:
    """Return the page that a browser keeps for times without a connection; it names nobody."""
    return render_template("offline.html", bare=True)


@blueprint.get("/help")
def help_page() -> str:
    """Return the help page: the course of a match, the clock, and actions other than moves."""
    return render_template(
        "help.html",
        games=list(GAMES.values()),
        presets=[limit_in_words(terms, Limit.TIME) for terms in PRESETS.values()],
        allowance=duration(ALLOWANCE),
        forgivable=duration(MAX_FORGIVING_MS),
        disputable=duration(MAX_DISPUTE_DELAY_MS),
        max_free_days=MAX_FREE_DAYS,
        levels=wording.LEVELS,
    )


@blueprint.get("/games/<game_id>/pieces")
def piece_guides(game_id: str) -> Response:
    """Return as JSON how each kind of piece of a game moves: name, sentence, and the address of a figure."""
    shown = GAMES.get(game_id) or abort(404, "There is no such game.")
    guides = {
        kind: guide._asdict() | {"figure": rules_url(game_id, f"fig-{guide.figure}")}
        for kind, guide in shown.pieces.items()
    }
    return json_response(guides, headers={"Cache-Control": "public, max-age=3600"})


@blueprint.get("/games/<game_id>")
def game(game_id: str) -> str:
    """Return the page of a game: its character, its present matches, the levels of the computer, and its details."""
    shown = GAMES.get(game_id)
    if shown is None:
        abort(404, "There is no such game.")
    open_matches, recent = represented(
        page_of("open", game=game_id, limit=OPEN_MATCHES_SHOWN), started_matches(game_id, RECENT_MATCHES_SHOWN)
    )
    return render_template(
        "game.html",
        game=shown,
        seats=sorted({len(setup.seat_names) for setup in shown.setups.values()}),
        rulesets=GAMES.rulesets[game_id],
        picture=_picture,
        levels=offered_levels(game_id),
        open=open_matches,
        offers=offer_seats(open_matches.items, current_person()),
        recent=recent,
    )


def showcase_scene(game: AnyGame) -> Scene:
    """Return the board of the showcase position of a game, by default its start."""
    start = game.initial(next(iter(game.setups)))
    return game.scene(game.parse_position(game.showcase) if game.showcase else start)


@lru_cache(maxsize=32)
def _picture(game: AnyGame, setup: str = "", *, start: bool = False) -> str:
    """Return a picture of a game: of its showcase position, or with ``start`` of the start of ``setup``."""
    setup = setup or next(iter(game.setups))
    showcase = bool(game.showcase) and not start
    scene = showcase_scene(game) if showcase else game.scene(game.initial(setup))
    title = f"{game.title}, {'a position' if showcase else game.setups[setup].title}"
    return draw(scene, game.setups[setup].colours, picture=title)
