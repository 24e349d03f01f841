"""Playable figures: lessons, and the figures of rules pages that can be tried, say and do what the rules say."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from flask import Flask

from api.app import create_app
from api.pages.learning.lessons import lessons_of, playable_of
from api.pages.learning.playable import FigureStep, PlayableFigure, represent
from api.pages.learning.strategy import claims_of
from api.pages.rules import figures_of
from domain.errors import IllegalMove, RulesError
from domain.game import AnyGame
from domain.games import GAMES
from events.runtime.settings import Settings

LESSONS = range(8, 13)
FIGURES = range(3, 7)


def figures() -> Iterator[Any]:
    for game_id in GAMES:
        for lesson in lessons_of(game_id):
            for number, figure in enumerate(lesson.figures, 1):
                yield pytest.param(figure, id=f"{game_id}/{lesson.id}/{number}")
        for claim in claims_of(game_id):
            yield pytest.param(claim.figure, id=f"{game_id}/strategy/{claim.id}")
        for drawn in figures_of(game_id):
            playable = playable_of(game_id, drawn)
            if playable is not None:
                yield pytest.param(playable, id=f"{game_id}/rules/{drawn.id}")


EVERY_FIGURE = pytest.mark.parametrize("figure", list(figures()))


@EVERY_FIGURE
def test_a_figure_plays_by_the_rules(figure: PlayableFigure) -> None:
    game, played = figure.game, represent(figure)
    position = game.parse_position(figure.position)
    assert game.format_position(position) == figure.position
    assert figure.steps or figure.text
    for step, shown in zip(figure.steps, played["steps"], strict=True):
        assert step.goal
        check_hints(game, position, step, shown)
        if step.refused:
            with pytest.raises(RulesError) as refusal:
                game.parse_move(position, step.refused)
            assert shown["refused"] == {step.refused: str(refusal.value)}
            continue
        assert step is figure.steps[-1] or len(step.accepted) == 1
        accepted = list(shown["accepted"])
        assert accepted
        assert set(step.accepted) in (set(), set(accepted))
        assert [game.format_move(position, game.parse_move(position, text)) for text in accepted] == accepted
        for text, board in shown["accepted"].items():
            after = game.play(position, game.parse_move(position, text))
            assert board["diagram"] == game.diagram(after)
        position = game.play(position, game.parse_move(position, accepted[0]))
        if step.composed:
            check_composition(game, figure.position, step, shown["composition"])
        if step.reply:
            assert shown["reply"]["move"] == step.reply
            position = game.play(position, game.parse_move(position, step.reply))
            assert shown["reply"]["diagram"] == game.diagram(position)
    json.dumps(played)


def check_composition(game: AnyGame, position: str, step: FigureStep, shown: Mapping[str, Any]) -> None:
    """Check that each stage offers the part that is asked for, and that all parts are the accepted move."""
    kind, *parts = step.composed
    assert [stage["part"] for stage in shown["stages"]] == [*parts, ""]
    for stage in shown["stages"][:-1]:
        assert stage["part"] in {hint["move"] for hints in stage["hints"].values() for hint in hints}
    assert game.compose(game.parse_position(position), kind, parts).move == step.accepted[0]
    assert shown["title"]


def check_hints(game: AnyGame, position: Any, step: FigureStep, shown: Mapping[str, Any]) -> None:
    """Check that all legal moves are offered, and beside them only the one that is to be refused."""
    offered = {hint["move"] for hints in shown["hints"].values() for hint in hints}
    legal = {hint.move for hints in game.hints(position).values() for hint in hints}
    assert offered == legal | ({step.refused} if step.refused else set())
    for square, reason in shown["why_not"].items():
        assert game.why_not(position, square) == reason
    for piece, squares in shown["why_not_there"].items():
        assert piece in shown["hints"]
        for square, reason in squares.items():
            assert reason
            assert not any(square in hint.path for hint in game.hints(position)[piece])


@EVERY_FIGURE
def test_every_square_and_move_named_in_the_words_of_a_figure_can_be_pressed_or_typed(figure: PlayableFigure) -> None:
    squares = {cell.square for cell in figure.game.scene(figure.game.parse_position(figure.position)).cells}
    for step in figure.steps:
        named = re.findall(r"\b[a-o]{1,2}\d{1,2}\b", step.goal)
        assert set(named) <= squares


@pytest.mark.parametrize("game_id", GAMES)
def test_the_first_steps_of_a_game_are_short_and_complete(game_id: str) -> None:
    lessons = lessons_of(game_id)
    assert len(lessons) in LESSONS
    assert len({lesson.id for lesson in lessons}) == len(lessons)
    assert all(len(lesson.figures) in FIGURES for lesson in lessons)
    assert any(step.refused for lesson in lessons for figure in lesson.figures for step in figure.steps)
    reasons = {
        game.outcome(end, ())
        for game, end in map(end_of, (figure for lesson in lessons for figure in lesson.figures))
        if end is not None
    }
    assert reasons - {None}


def end_of(figure: PlayableFigure) -> tuple[AnyGame, Any]:
    position = figure.game.parse_position(figure.position)
    for step in figure.steps:
        for text in (*step.accepted[:1], *([step.reply] if step.reply else [])):
            position = figure.game.play(position, figure.game.parse_move(position, text))
    return figure.game, position


def test_a_figure_with_an_illegal_move_is_refused_when_it_is_made() -> None:
    start = GAMES["bashni"].format_position(GAMES["bashni"].initial("start"))
    figure = PlayableFigure("bashni", 1, start, (FigureStep("Move.", ("a3-a4",)),))
    with pytest.raises((IllegalMove, RulesError)):
        represent(figure)


@pytest.fixture(scope="module")
def app() -> Flask:
    """Return the app without a store: a page for a stranger asks the store nothing."""
    nowhere = "redis://127.0.0.1:1/0"
    return create_app(Settings(nowhere, nowhere, "rk:", "http://127.0.0.1:8001", secure_cookies=False, shards=None))


@pytest.mark.parametrize("game_id", GAMES)
def test_the_list_of_lessons_leads_to_each_of_them_and_the_last_one_to_a_match(game_id: str, app: Flask) -> None:
    client = app.test_client()
    links = re.findall(
        rf'href="(/games/{game_id}/first-steps/[^"]+)"', client.get(f"/games/{game_id}/first-steps").text
    )
    assert len(links) == len(lessons_of(game_id))
    pages = [client.get(link).text for link in links]
    for page, following in zip(pages[:-1], links[1:], strict=True):
        assert f'href="{following}"' in page
    for lesson, link in zip(lessons_of(game_id), links, strict=True):
        figures = [client.get(f"{link}/{number}").get_json() for number in range(1, len(lesson.figures) + 1)]
        assert [figure["text"] for figure in figures] == [figure.text for figure in lesson.figures]
    assert "Play the computer, level 1" in pages[-1]
    assert f'data-next="/matches/new?game={game_id}&amp;level=1"' in pages[-1]
    assert f'href="/seeks?games={game_id}&amp;seats=' in pages[-1]


def test_an_unknown_lesson_or_figure_has_no_page(app: Flask) -> None:
    for path in (
        "bashni/first-steps/x",
        "bashni/first-steps/x/1",
        "bashni/first-steps/take/0",
        "bashni/first-steps/take/99",
        "x/first-steps",
        "bashni/figures/x",
        "x/figures/minute",
        "bashni/figures/blocked",
    ):
        assert app.test_client().get(f"/games/{path}").status_code == 404
    answer = app.test_client().get("/games/bashni/figures/minute")
    assert answer.get_json()["steps"][0]["goal"] == "Play c3xe5."
