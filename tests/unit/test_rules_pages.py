"""The rules pages: every figure says what the rules say, and every page is whole."""

import re
import tomllib
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from flask import Flask
from markupsafe import escape

from api.app import create_app
from api.pages.rules import FOLDER, figures_of, has_page, rules_url
from api.pages.rules.drawing import Figure, Only, crop, draw_figure, read_figures, rules_of
from api.pages.verify_page import pieces_of
from domain.errors import IllegalMove, MalformedNotation
from domain.four_towers import GAME as FOUR_TOWERS
from domain.four_towers.moves import Move
from domain.game import AnyGame
from domain.games import GAMES
from events.pictures.board import face_id
from events.runtime.settings import Settings

any_game = pytest.mark.parametrize("game_id", GAMES)


@pytest.fixture(scope="module")
def app() -> Flask:
    """Return the app without a store: a page for a stranger asks the store nothing."""
    nowhere = "redis://127.0.0.1:1/0"
    return create_app(Settings(nowhere, nowhere, "rk:", "http://127.0.0.1:8001", secure_cookies=False, shards=None))


@pytest.fixture(scope="module")
def pages(app: Flask) -> dict[str, str]:
    answers = {game_id: app.test_client().get(f"/games/{game_id}/rules") for game_id in GAMES}
    assert {game_id: answer.status_code for game_id, answer in answers.items()} == dict.fromkeys(GAMES, 200)
    return {game_id: answer.text for game_id, answer in answers.items()}


def legal_moves(game: AnyGame, position: Any) -> list[str]:
    return [game.format_move(position, move) for move in game.legal_moves(position)]


@any_game
def test_the_figures_of_a_game_say_what_the_rules_say(game_id: str) -> None:
    for figure in figures_of(game_id):
        game = rules_of(GAMES[game_id], figure)
        try:
            check_position(game, figure)
            check_moves(game, figure)
            for claim in figure.only:
                check_only(game, figure, claim)
            check_drawing(game, figure)
        except (AssertionError, IllegalMove, MalformedNotation) as error:
            error.add_note(f"in the figure {figure.id!r} of {game_id}")
            raise


def check_position(game: AnyGame, figure: Figure) -> None:
    position = game.parse_position(figure.position)
    assert game.format_position(position) == figure.position
    moves = legal_moves(game, position)
    assert set(figure.legal.split()) <= set(moves)
    if figure.complete is not None:
        assert moves == figure.complete.split()
    if figure.move_count is not None:
        assert len(moves) == figure.move_count
    for move in figure.illegal.split():
        with pytest.raises((IllegalMove, MalformedNotation), match=r"\w"):
            game.parse_move(position, move)
    for text, move in figure.read:
        assert game.format_move(position, game.parse_move(position, text)) == move
    hints = game.hints(position).get(figure.reach, ()) if figure.reach else ()
    assert sorted(hint.move for hint in hints) == sorted(figure.reached.split())


def check_moves(game: AnyGame, figure: Figure) -> None:
    history = [game.parse_position(figure.position)]
    for text in figure.moves.split():
        assert game.outcome(history[-1], history[:-1]) is None
        history.append(game.play(history[-1], game.parse_move(history[-1], text)))
    assert bool(figure.moves) == bool(figure.after)
    assert game.format_position(history[-1]) == (figure.after or figure.position)
    outcome = game.outcome(history[-1], history[:-1])
    if figure.result is not None:
        assert outcome is not None
        assert outcome.reason == figure.result.reason
        assert outcome.scores == pytest.approx(figure.result.scores, abs=0.0001)
    if figure.going_on:
        assert outcome is None


def check_only(game: AnyGame, figure: Figure, claim: Only) -> None:
    position = game.parse_position(figure.position)
    legal: tuple[Move, ...] = (
        *FOUR_TOWERS.legal_moves(position),
        *FOUR_TOWERS.multi_moves(position),
        *FOUR_TOWERS.rearrangements(position),
    )
    found = [
        text
        for text in (FOUR_TOWERS.format_move(position, move) for move in legal)
        if re.fullmatch(claim.pattern, text)
    ]
    if claim.number:
        assert len(found) == claim.number
    else:
        assert sorted(found) == sorted(claim.moves.split())
    assert claim.words in figure.caption


def check_drawing(game: AnyGame, figure: Figure) -> None:
    shown = draw_figure(game, figure, 1)
    assert len(shown.boards) == (2 if figure.moves else 1)
    for board in shown.boards:
        root = ElementTree.fromstring(board.picture)  # noqa: S314
        assert root.get("role") == "img"
        assert root.get("aria-label", "").startswith("Figure 1")
    assert not re.search("`", shown.caption)
    scene = crop(game.scene(game.parse_position(figure.position)), figure.view)
    ends = {
        hint.path[-1] for hint in game.hints(game.parse_position(figure.position)).get(figure.reach, ()) if hint.path
    }
    assert ends <= {cell.square for cell in scene.cells}


def test_a_figure_with_an_unknown_member_or_without_a_caption_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "game.toml"
    for text, reason in (('caption = "x"\ncolour = "red"', "colour"), ('moves = "a1"', "caption")):
        path.write_text(f'[[figure]]\nid = "x"\nposition = "y"\n{text}\n')
        with pytest.raises(TypeError, match=reason):
            read_figures(path)


def test_every_game_has_a_rules_page() -> None:
    assert all(map(has_page, GAMES))


def test_a_game_without_a_page_has_no_rules_to_show(app: Flask) -> None:
    for game_id in ("no-such-game", "figure", "os", "bashni.."):
        answer = app.test_client().get(f"/games/{game_id}/rules")
        assert answer.status_code == 404
        assert not has_page(game_id)


def test_a_ruling_has_an_address_of_its_own(app: Flask) -> None:
    with app.test_request_context():
        assert rules_url("bashni") == "/games/bashni/rules"
        assert rules_url("bashni", "BA-06") == "/games/bashni/rules#BA-06"
        assert rules_url("no-such-game") is None


@any_game
def test_a_page_shows_each_of_its_figures_once_and_in_order(game_id: str, pages: dict[str, str]) -> None:
    shown = re.findall(r'<figure class="figure[^"]*" id="fig-([^"]+)">', pages[game_id])
    assert shown == [figure.id for figure in figures_of(game_id)]
    assert re.findall(r"<b>Figure (\d+)\.</b>", pages[game_id]) == [str(n) for n in range(1, len(shown) + 1)]


@any_game
def test_each_ruling_of_the_game_has_one_anchor_and_an_answer(game_id: str, pages: dict[str, str]) -> None:
    rows = re.findall(r'<tr id="([A-Z]{2})-(\d\d)">.*?<td>(.*?)</td><td>(.*?)</td></tr>', pages[game_id], re.DOTALL)
    prefixes, numbers, questions, answers = zip(*rows, strict=True)
    assert len(set(prefixes)) == 1
    declared = tomllib.loads((FOLDER / f"{game_id}.toml").read_text())["rulings"]
    assert numbers == tuple(f"{number:02}" for number in range(1, declared + 1))
    assert all(text.strip() for text in (*questions, *answers))


@any_game
def test_no_name_on_a_page_is_given_twice_and_no_link_on_it_leads_nowhere(game_id: str, pages: dict[str, str]) -> None:
    ids = re.findall(r'\sid="([^"]*)"', pages[game_id])
    assert len(ids) == len(set(ids))
    assert set(re.findall(r'href="#([^"]*)"', pages[game_id])) <= set(ids)


@any_game
def test_the_contents_name_the_parts_that_every_page_has(game_id: str, pages: dict[str, str]) -> None:
    listed = re.search(r'<nav class="contents".*?</nav>', pages[game_id], re.DOTALL)
    assert listed is not None
    anchors = re.findall(r'class="level-2"><a href="#([^"]*)"', listed[0])
    assert anchors == ["minute", "board", "moves", "special", "end", "notation", "questions"]


@any_game
def test_a_page_has_neither_styles_nor_scripts_of_its_own(game_id: str, pages: dict[str, str]) -> None:
    article = pages[game_id].split("<article", 1)[1].split("</article>", 1)[0]
    assert not re.search(r"\sstyle=|<style|<script|\son[a-z]+=", article)


@any_game
def test_headings_go_down_one_level_at_a_time(game_id: str, pages: dict[str, str]) -> None:
    levels = [int(level) for level in re.findall(r"<h([1-6])[ >]", pages[game_id])]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


@any_game
def test_the_rules_of_a_game_say_first_how_to_win(game_id: str, pages: dict[str, str]) -> None:
    goal = str(escape(GAMES[game_id].goal))
    first = re.search(r"<h1>.*?</h1>.*?<p[^>]*>(.*?)</p>", pages[game_id], re.DOTALL)
    assert first is not None
    assert first[1] == goal
    assert goal.count(".") <= 2


MAX_PAGE_BYTES = 250_000


@any_game
def test_the_list_of_pieces_shows_each_of_them_in_the_colours_of_all_seats(game_id: str, pages: dict[str, str]) -> None:
    rows = re.findall(r'<th scope="row"><span class="pieces">(.*?)</span>([^<]*)</th>', pages[game_id])
    listed = [sorted(set(re.findall(r'href="#(face-[^"]*)-[0-9]+"', pictures))) for pictures, _ in rows]
    drawings: dict[str, set[str]] = {}
    for colours, pieces in pieces_of(GAMES[game_id]):
        for piece in pieces:
            if piece.seat >= 0 and not piece.frozen:
                drawings.setdefault(piece.kind, set()).add(face_id(piece, colours).rpartition("-")[0])
    for kind, faces in drawings.items():
        assert listed.count(sorted(faces)) == 1, kind


def test_the_list_of_pieces_shows_the_castle_piece_and_frozen_pieces_too(pages: dict[str, str]) -> None:
    assert re.search(r"#face-nobody-castle-[^>]*></svg></span>Castle piece", pages["towers"])
    assert re.search(r'<p>A frozen piece is grey.*?"#face-red-monarch-[^"]*-frozen"', pages["fourplay"])


@any_game
def test_a_page_draws_each_thing_once_however_many_figures_show_it(game_id: str, pages: dict[str, str]) -> None:
    assert len(pages[game_id].encode()) <= MAX_PAGE_BYTES
    figures = re.findall(r'<svg class="board.*?</svg>', pages[game_id])
    assert len(figures) >= len(figures_of(game_id))
    assert all("<defs>" not in each and 'class="cell' not in each and 'class="piece ' not in each for each in figures)


def test_the_rules_page_of_a_game_leads_to_the_rules_of_the_others(pages: dict[str, str]) -> None:
    for game_id in GAMES:
        assert all(f'"/games/{other}/rules"' in pages[game_id] for other in GAMES if other != game_id)
