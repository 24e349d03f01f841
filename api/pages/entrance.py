"""The way in: home, sign-in, sign-up, the games, and a new match."""

from typing import Any

from flask import abort, redirect, render_template, request, url_for
from werkzeug.wrappers import Response

from api.access.auth import current_person
from api.http.timing import SECOND
from api.pages import wording
from api.pages.frame import blueprint, inside, sign_in_first
from domain.game import Game
from domain.games import GAMES, RULESETS
from domain.match.calendar import MOST_FREE_DAYS
from domain.match.disputes import DISPUTED_WITHIN
from domain.match.terms import DAYS_PER_MOVE, PRESETS, STANDARD, Terms, duration, in_words
from domain.match.timekeeping import FORGIVABLE_FOR
from domain.match.vacation import ALLOWANCE
from domain.scene import Scene
from domain.search.levels import LEVELS, MAX_GUEST_LEVEL
from events.pictures.board import colour_names, draw

SHOWCASE = {
    "bashni": "8/8/1b6/4(Wwbb)3/3(wwwwbb)1(bw)2/(Bbwww)1(bbbb)5/1w6/2w5 b 1",
}
"""Positions that show what a game looks like when it is under way; a game without one shows how it starts."""


@blueprint.get("/")
def home() -> str:
    """Return the first page: what this is, the ways in, the games."""
    return render_template("home.html", games=list(GAMES.values()), picture=_picture, hero=next(iter(GAMES.values())))


@blueprint.get("/help")
def help_page() -> str:
    """Return how a match goes, what the clock does, and what can be done beside moving."""
    return render_template(
        "help.html",
        games=list(GAMES.values()),
        presets=[in_words(terms)[0] for terms in PRESETS.values()],
        standard=in_words(STANDARD),
        allowance=duration(ALLOWANCE),
        forgivable=duration(FORGIVABLE_FOR),
        disputable=duration(DISPUTED_WITHIN),
        most_free_days=MOST_FREE_DAYS,
        levels=wording.LEVELS,
    )


@blueprint.get("/sign-in")
def sign_in() -> str | Response:
    """Return the sign-in form; who is signed in already goes on."""
    after = inside(request.args.get("next"), url_for("web.my_matches"))
    person = current_person()
    if person is not None and person.kind == "person":
        return redirect(after)
    return render_template("sign_in.html", after=after)


@blueprint.get("/sign-up")
def sign_up() -> str | Response:
    """Return the sign-up form; who has an account already goes on."""
    after = inside(request.args.get("next"), url_for("web.my_matches"))
    person = current_person()
    if person is not None and person.kind == "person":
        return redirect(after)
    return render_template("sign_up.html", after=after)


@blueprint.get("/games/<game_id>")
def game(game_id: str) -> str:
    """Return what a game is: its setups, how it ends, what its pieces look like."""
    found = GAMES.get(game_id)
    if found is None:
        abort(404, "There is no such game here.")
    return render_template("game.html", game=found, rulesets=RULESETS[game_id], picture=_picture)


@blueprint.get("/matches/new")
def new_match() -> str | Response:
    """Return the form for a new match, filled in as the query says (game, setup, ruleset, invite, level)."""
    person = current_person()
    if person is None:
        return sign_in_first()
    chosen = request.args.get("game", "")
    if chosen not in GAMES:
        chosen = next(iter(GAMES))
    setups = GAMES[chosen].setups
    setup = request.args.get("setup", "")
    ruleset = request.args.get("ruleset", "")
    level = request.args.get("level", "")
    levels = range(1, (MAX_GUEST_LEVEL if person.kind == "guest" else max(LEVELS)) + 1)
    return render_template(
        "new_match.html",
        games=list(GAMES.values()),
        chosen=chosen,
        chosen_setup=setup if setup in setups else next(iter(setups)),
        rulesets=RULESETS,
        chosen_ruleset=int(ruleset) if ruleset in {str(game.ruleset) for game in RULESETS[chosen]} else None,
        invite=request.args.get("invite", "")[:24],
        levels=levels,
        level=int(level) if level in map(str, levels) else 3,
        colours=colour_names,
        presets={title: _control(terms) for title, terms in PRESETS.items()},
    )


def _control(terms: Terms) -> dict[str, Any]:
    """Return the time control of ``terms`` as the API is sent it, in seconds."""
    control = {"control": terms.control, "bank": terms.bank // SECOND}
    if terms.control == DAYS_PER_MOVE:
        return control
    return control | {"increment": terms.increment // SECOND, "cap": terms.cap // SECOND}


def showcase_scene(game: Game[Any, Any]) -> Scene:
    """Return the board that shows what a game looks like."""
    showcase = SHOWCASE.get(game.id)
    return game.scene(game.parse_position(showcase) if showcase else game.initial(next(iter(game.setups))))


def _picture(game: Game[Any, Any], setup: str = "", *, start: bool = False) -> str:
    """Return a picture of a game, of its showcase position unless the start of ``setup`` is wanted."""
    setup = setup or next(iter(game.setups))
    names = game.setups[setup].seat_names
    showcase = game.id in SHOWCASE and not start
    scene = showcase_scene(game) if showcase else game.scene(game.initial(setup))
    title = f"{game.title}, {'a position' if showcase else game.setups[setup].title}"
    return draw(scene, colour_names(names), picture=title)
