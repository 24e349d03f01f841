"""The pages of first steps, strategy and puzzles, and the figures of rules pages as JSON to be tried."""

import json
from collections.abc import Mapping
from functools import lru_cache
from itertools import groupby
from typing import Any

from flask import Response, abort, redirect, render_template, url_for
from markupsafe import Markup
from werkzeug.wrappers import Response as BaseResponse

from api.access.auth import current_person
from api.http.answers import json_response
from api.operations.puzzles import all_puzzles_of, of_the_day, puzzles_of
from api.pages.layout import blueprint
from api.pages.learning.lessons import lessons_of, playable_of
from api.pages.learning.playable import represent
from api.pages.learning.puzzles import figure_of, seat_of
from api.pages.learning.strategy import claims_of, drawn_claims, practice_of
from api.pages.rules import figures_of, has_page
from api.services import services
from domain.game import AnyGame
from domain.games import GAMES
from domain.match.terms import DAY
from domain.puzzles.attempts import PuzzleAttempt
from events.people.person import GUEST

CACHED = "public, max-age=3600"


@blueprint.get("/games/<game_id>/figures/<figure_id>")
def rules_figure(game_id: str, figure_id: str) -> Response:
    """Return a figure of a rules page to be played without the server; 404 if there is nothing to play in it."""
    game = _game_of(game_id)
    figures = {figure.id: figure for figure in figures_of(game.id)} if has_page(game.id) else {}
    playable = playable_of(game.id, figures[figure_id]) if figure_id in figures else None
    if playable is None:
        abort(404, "There is no such figure to play.")
    return json_response(represent(playable), headers={"Cache-Control": CACHED})


@blueprint.get("/games/<game_id>/first-steps")
def first_steps(game_id: str) -> str:
    """Return the list of the lessons of a game; 404 if it has none."""
    game = _game_of(game_id)
    lessons = lessons_of(game_id) or abort(404, "There are no first steps of this game.")
    return render_template("learning/first_steps.html", game=game, lessons=lessons)


@blueprint.get("/games/<game_id>/first-steps/<lesson_id>")
def lesson(game_id: str, lesson_id: str) -> str:
    """Return a lesson with its first figure; the page fetches the others, so that no request makes more than one."""
    game, lessons, number = _game_of(game_id), lessons_of(game_id), _number_of(game_id, lesson_id)
    first = represent(lessons[number].figures[0])
    return render_template(
        "learning/lesson.html",
        game=game,
        lessons=lessons,
        lesson=lessons[number],
        number=number + 1,
        following=lessons[number + 1] if number + 1 < len(lessons) else None,
        first=first,
        embedded=_embedded(first),
    )


@blueprint.get("/games/<game_id>/first-steps/<lesson_id>/<int:figure>")
def lesson_figure(game_id: str, lesson_id: str, figure: int) -> Response:
    """Return the figure with this number, from 1, of a lesson as JSON; 404 if there is none."""
    figures = lessons_of(game_id)[_number_of(game_id, lesson_id)].figures
    if not 1 <= figure <= len(figures):
        abort(404, "There is no such figure to play.")
    return json_response(represent(figures[figure - 1]), headers={"Cache-Control": CACHED})


def _number_of(game_id: str, lesson_id: str) -> int:
    """Return the place of a lesson, from 0; aborts with 404 if there is no such lesson."""
    places = {listed.id: place for place, listed in enumerate(lessons_of(game_id))}
    if lesson_id not in places:
        abort(404, "There is no such lesson.")
    return places[lesson_id]


@blueprint.get("/games/<game_id>/puzzles")
def puzzles(game_id: str) -> str:
    """Return the list of the puzzles of a game; 404 if it has none."""
    game, listed = _game_of(game_id), all_puzzles_of(game_id)
    if not listed:
        abort(404, "There are no puzzles of this game.")
    by_level = groupby(listed.values(), key=lambda puzzle: puzzle.level)
    groups = [(level, list(group)) for level, group in by_level]
    account, stored = _account(), services().puzzle_attempts
    return render_template(
        "learning/puzzles.html",
        game=game,
        groups=groups,
        count=len(listed),
        from_matches=sum(puzzle.match is not None for puzzle in listed.values()),
        daily=bool(puzzles_of(game_id)),
        ratings=stored.ratings(game_id, {puzzle.id: puzzle.prior for puzzle in listed.values()}),
        account=account,
        attempts=stored.of(account, game_id) if account else {},
        own=stored.rating_of(account, game_id) if account else None,
    )


@blueprint.get("/games/<game_id>/puzzles/today")
def puzzle_of_the_day(game_id: str) -> BaseResponse:
    """Redirect to the puzzle of the day, which changes at midnight UTC; 404 if there is none."""
    chosen = of_the_day(_game_of(game_id).id, services().now() // DAY)
    if chosen is None:
        abort(404, "There are no puzzles of this game.")
    return redirect(url_for("web.puzzle", game_id=game_id, puzzle_id=chosen.id))


@blueprint.get("/games/<game_id>/puzzles/<puzzle_id>")
def puzzle(game_id: str, puzzle_id: str) -> str:
    """Return a puzzle to play without the server; 404 if there is none with this id."""
    game, listed = _game_of(game_id), all_puzzles_of(game_id)
    chosen = listed.get(puzzle_id) or abort(404, "There is no such puzzle.")
    ids = list(listed)
    following = ids[(ids.index(puzzle_id) + 1) % len(ids)]
    figure, account, stored = represent(figure_of(chosen)), _account(), services().puzzle_attempts
    return render_template(
        "learning/puzzle.html",
        game=game,
        puzzle=chosen,
        seat=seat_of(chosen),
        following=following,
        rating=stored.ratings(game_id, {puzzle_id: chosen.prior})[puzzle_id],
        account=account,
        attempt=stored.attempt(account, game_id, puzzle_id) if account else None,
        figure=figure,
        embedded=_embedded(figure),
    )


def _account() -> str | None:
    """Return the id of the viewer, None without an account that keeps attempts at puzzles."""
    person = current_person()
    return None if person is None or person.kind == GUEST else person.id


@blueprint.app_template_filter("stored_attempt")
def stored_attempt(attempt: PuzzleAttempt | None) -> str:
    """Return an attempt in the form that ``attempts.js`` reads; "null" before the first one."""
    if attempt is None or attempt.solved is None:
        return "null"
    return json.dumps({"solved": attempt.solved, "at": attempt.at, "due": attempt.due_at})


@blueprint.get("/games/<game_id>/strategy")
def strategy(game_id: str) -> str:
    """Return the claims about good play of a game, each with its figure; 404 if it has none."""
    game = _game_of(game_id)
    claims = len(claims_of(game_id)) or abort(404, "There is no strategy page of this game.")
    body, practice = _strategy_body(game), practice_of(game_id)
    return render_template("learning/strategy.html", game=game, claims=claims, body=body, practice=practice)


@lru_cache(maxsize=16)
def _strategy_body(game: AnyGame) -> Markup:
    """Return the claims about ``game``, the same for everybody, rendered once."""
    claims, symbols = drawn_claims(game.id)
    text = render_template("learning/claims.html", game=game, claims=claims)
    return symbols.definitions() + Markup(text)  # noqa: S704 - a template escapes


@blueprint.get("/games/<game_id>/strategy/<claim_id>")
def strategy_figure(game_id: str, claim_id: str) -> Response:
    """Return the figure of a claim to be played without the server; 404 if there is none."""
    claims = {claim.id: claim for claim in claims_of(_game_of(game_id).id)}
    if claim_id not in claims:
        abort(404, "There is no such figure to play.")
    return json_response(represent(claims[claim_id].figure), headers={"Cache-Control": CACHED})


@blueprint.app_template_test("with_puzzles")
def has_puzzles(game: AnyGame) -> bool:
    """Tell whether there are puzzles of ``game``."""
    return bool(puzzles_of(game.id) or all_puzzles_of(game.id))


@blueprint.app_template_test("with_strategy")
def has_strategy(game: AnyGame) -> bool:
    """Tell whether there is a strategy page of ``game``."""
    return bool(claims_of(game.id))


@blueprint.app_template_test("playable")
def can_be_played(figure: Any, game: AnyGame) -> bool:
    """Tell whether a figure of the rules page of ``game`` can be tried."""
    return playable_of(game.id, figure) is not None


@blueprint.app_template_test("with_first_steps")
def has_first_steps(game: AnyGame) -> bool:
    """Tell whether there are first steps of ``game``."""
    return bool(lessons_of(game.id))


def _game_of(game_id: str) -> AnyGame:
    return GAMES.get(game_id) or abort(404, "There is no such game.")


def _embedded(figure: Mapping[str, Any]) -> Markup:
    """Return a figure as JSON for a script element, which only these characters could end."""
    text = json.dumps(figure, ensure_ascii=False, separators=(",", ":"))
    return Markup(text.replace("</", "<\\/").replace("<!", "\\u003c!"))  # noqa: S704 - escaped for a script element
