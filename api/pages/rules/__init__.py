"""The rules of every game as pages for players: prose in templates, figures that the rules themselves check."""

import re
from functools import lru_cache
from html import unescape
from pathlib import Path
from typing import NamedTuple

from flask import abort, render_template, url_for
from markupsafe import Markup

from api.pages.layout import blueprint
from api.pages.rules.drawing import Drawn, Figure, draw_figure, piece_pictures, read_figures, rules_of
from domain.game import AnyGame
from domain.games import GAMES
from events.pictures.symbols import Symbols

FOLDER = Path(__file__).parents[1] / "templates" / "rules"

_HEADING = re.compile(r'<h([23]) id="([^"]+)">(.*?)</h\1>', re.DOTALL)
_TAG = re.compile("<[^>]*>")
_END_OF_MINUTE = Markup("</section>")
"""The first section of each page is the game in a minute, which comes before the contents."""


class Heading(NamedTuple):
    """A line of the table of contents: the level of its heading (2 or 3), the anchor and the text."""

    level: int
    anchor: str
    text: str


@blueprint.get("/games/<game_id>/rules")
def rules(game_id: str) -> str:
    """Return the rules of a game for its players; 404 for an unknown game or one without a rules page."""
    game = GAMES.get(game_id)
    if game is None or not has_page(game_id):
        abort(404, "There is no such rules page.")
    body = body_of(game)
    minute, rest = body.split(_END_OF_MINUTE, 1)
    others = [other for other in GAMES.values() if other.id != game_id and has_page(other.id)]
    return render_template(
        "rules/page.html",
        game=game,
        rulesets=GAMES.rulesets[game_id],
        minute=minute + _END_OF_MINUTE,
        body=rest,
        contents=contents(body),
        others=others,
    )


@blueprint.app_template_global()
@lru_cache(maxsize=64)
def rules_url(game_id: str, ruling: str = "") -> str | None:
    """Return the address of the rules of a game, or of one ruling such as BA-06; None if they have no page."""
    return url_for("web.rules", game_id=game_id, _anchor=ruling or None) if has_page(game_id) else None


@lru_cache(maxsize=64)
def has_page(game_id: str) -> bool:
    """Tell whether there is a rules page of this name."""
    return game_id.replace("-", "_").isidentifier() and (FOLDER / f"{game_id}.toml").is_file()


@lru_cache(maxsize=16)
def figures_of(game_id: str) -> tuple[Figure, ...]:
    """Return the figures of a game's page, in order."""
    return read_figures(FOLDER / f"{game_id}.toml")


@lru_cache(maxsize=16)
def body_of(game: AnyGame) -> Markup:
    """Return the rules of ``game`` without the page around them, the same for everybody, rendered once.

    Raises KeyError for an undeclared figure.
    """
    figures, symbols = _drawn_figures(game)

    def figure_link(figure_id: str) -> Markup:
        return Markup('<a href="#fig-{}">figure {}</a>').format(figure_id, figures[figure_id].number)

    def piece(name: str) -> Markup:
        return piece_pictures(game, figures_of(game.id), name, symbols)

    text = render_template(f"rules/{game.id}.html", game=game, figures=figures, see=figure_link, piece=piece)
    return symbols.definitions() + Markup(text)  # noqa: S704 - a template escapes


@lru_cache(maxsize=16)
def contents(body: str) -> list[Heading]:
    """Return the table of contents of a page: its headings that have an anchor."""
    return [Heading(int(level), anchor, unescape(_TAG.sub("", text))) for level, anchor, text in _HEADING.findall(body)]


def _drawn_figures(game: AnyGame) -> tuple[dict[str, Drawn], Symbols]:
    symbols = Symbols()
    figures = {
        figure.id: draw_figure(rules_of(game, figure), figure, number, symbols)
        for number, figure in enumerate(figures_of(game.id), 1)
    }
    return figures, symbols
