"""Pictures of positions that are opened by themselves, and the boards of the page that verifies."""

import json
import random
import re
import subprocess
from itertools import chain, islice
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from api.pages.verify_page import board_tables
from domain.game import AnyGame
from domain.games import GAMES
from domain.scene import Cell, Piece, Scene
from events.pictures.board import Trace
from events.pictures.standalone import PNG_HEIGHT, PNG_WIDTH, Drawing, draw_document, render_png
from tests.e2e.png import colours_in, size_of
from tests.support.node import NODE

SVG = "{http://www.w3.org/2000/svg}"
SHAPES = {f"{SVG}{name}" for name in ("path", "rect", "ellipse", "circle", "line", "text")}
SETUPS = [(game.id, setup) for game in GAMES.values() for setup in game.setups]


def drawn(game_id: str, setup: str, **options: Any) -> Drawing:
    """Return the picture of a position after some moves."""
    game: AnyGame = GAMES[game_id]
    position = game.initial(setup)
    for _ in range(12):
        position = game.play(position, [*islice(game.legal_moves(position), 4)][-1])
    return draw_document(game.scene(position), game.setups[setup].colours, f"{game.title} & more", **options)


def rules_in(style: str, dark: bool) -> list[tuple[list[set[str]], set[str]]]:
    """Return the rules of one scheme: the classes of each part of a selector, and the names of what is declared."""
    schemes = re.split(r"@media \(prefers-color-scheme: dark\)\{([^{}]+\{[^{}]*\})\}", style)
    text = "".join(schemes[1::2] if dark else schemes[::2])
    rules = []
    for selectors, body in re.findall(r"([^{}]+)\{([^{}]*)\}", text):
        names = {declaration.split(":")[0] for declaration in body.split(";")}
        for selector in selectors.split(","):
            rules.append(([set(part.strip(".").split(".")) for part in selector.split() if part != "text"], names))
    return rules


@pytest.mark.parametrize(("game", "setup"), SETUPS)
def test_a_picture_that_stands_alone_refers_to_nothing_outside_itself(game: str, setup: str) -> None:
    drawing = drawn(game, setup)
    root = ElementTree.fromstring(drawing.svg)  # noqa: S314
    ids = {element.get("id") for element in root.iter()}
    links = [element.attrib["href"] for element in root.iter() if "href" in element.attrib]
    assert links
    assert {link[0] for link in links} == {"#"}
    assert {link[1:] for link in links} <= ids
    assert re.search(r"var\(|url\(|@import|<script|style=|\son\w+=", drawing.svg) is None
    assert root.findtext(f"{SVG}title") == f"{GAMES[game].title} & more"
    assert float(root.attrib["width"]) > 0 < float(root.attrib["height"])


@pytest.mark.parametrize(("game", "setup"), SETUPS)
def test_every_shape_of_a_picture_that_stands_alone_is_painted_by_a_rule_in_it(game: str, setup: str) -> None:
    drawing = drawn(game, setup)
    root = ElementTree.fromstring(drawing.svg)  # noqa: S314
    assert root.findtext(f"{SVG}style") == drawing.style
    rules = rules_in(drawing.style, dark=False)
    shapes = 0

    def visit(element: ElementTree.Element, above: list[set[str]]) -> None:
        nonlocal shapes
        if element.get("id"):  # what is cloned by <use> is matched by rules that name nothing outside of it
            above = []
        classes = set(element.get("class", "").split())
        if "piece" in classes:
            assert any(parts == [{"piece"}] and "stroke-width" in names for parts, names in rules)
        if element.tag in SHAPES:
            shapes += 1
            around = set(chain(*above))
            painted = any(
                parts and parts[-1] <= classes and set(chain(*parts[:-1])) <= around and names & {"fill", "stroke"}
                for parts, names in rules
            )
            assert painted, (element.tag, classes)
        for child in element:
            visit(child, [*above, classes])

    visit(root, [])
    assert shapes > 10


def test_a_picture_has_other_colours_in_dark_surroundings_unless_it_must_not() -> None:
    drawing = drawn("towers", "four-player")
    darkened = rules_in(drawing.style, dark=True)
    assert ([{"cell-dark"}], {"fill"}) in darkened
    assert ([{"ground"}], {"fill"}) in darkened
    assert ([{"piece-nobody"}, {"rim"}], {"fill", "stroke"}) not in darkened, "the same in both"
    assert "@media" not in drawn("towers", "four-player", dark=False).svg


def test_a_frozen_piece_keeps_its_own_colours_in_a_picture_that_stands_alone() -> None:
    frozen = Piece(0, "rook", "R", "frozen red rook", frozen=True)
    scene = Scene(1, 1, (Cell("a1", 0, 0, "light"),), (), {"a1": (frozen,)}, {})
    style = draw_document(scene, ("red",), "A piece").style
    assert ".piece-red.frozen .ornament{stroke:#b4452f}" in style
    assert style.index(".piece-red .body{") < style.index(".frozen.frozen .body{fill:#c6ccd3;stroke:#333b45}")


def test_the_moves_that_are_marked_have_the_colours_of_their_seats_in_a_picture_that_stands_alone() -> None:
    game = GAMES["towers"]
    scene = game.scene(game.initial("four-player"))
    squares = [cell.square for cell in scene.cells]
    colours = game.setups["four-player"].colours
    traces = [Trace(0, squares[:1], (), squares[1:2]), Trace(1, squares[2:3], (), squares[3:4])]
    drawing = draw_document(scene, colours, "Towers", traces=traces)
    for colour in colours[:2]:
        assert re.search(rf"\.by-{colour}\.by-{colour}\{{stroke:#\w+\}}", drawing.style)
        assert re.search(rf"\.mark-to\.mark-to\.by-{colour}\{{fill:#\w+\}}", drawing.style)
    assert f".by-{colours[2]}" not in drawing.style
    assert drawing.style.index(".mark.mark{") < drawing.style.index(".by-white.by-white"), "as in the sheet"


def test_a_small_picture_leaves_the_labels_out_and_the_room_for_them() -> None:
    whole, small = (drawn("bashni", "start", labels=labels).svg for labels in (True, False))
    assert 'class="label"' in whole
    assert 'class="label"' not in small
    widths = [float(re.findall(r'viewBox="\S+ \S+ (\S+)', svg)[0]) for svg in (whole, small)]
    assert widths[1] < widths[0]


@pytest.mark.parametrize("game", GAMES)
def test_a_png_has_the_size_that_is_asked_for_and_the_colours_of_board_and_pieces(game: str) -> None:
    drawing = drawn(game, next(iter(GAMES[game].setups)), dark=False, ratio=PNG_WIDTH / PNG_HEIGHT)
    small = render_png(drawing, 160, 84)
    assert size_of(small) == (160, 84)
    colours = colours_in(small)
    assert len(colours) > 20
    assert max(colours.values()) < 160 * 84 * 0.8
    assert colours[0xF7, 0xF2, 0xE7] > 1000, "the ground"


def test_a_png_is_rendered_once_in_the_size_that_links_ask_for() -> None:
    drawing = drawn("bashni", "start", dark=False, ratio=PNG_WIDTH / PNG_HEIGHT)
    png = render_png(drawing)
    assert size_of(png) == (PNG_WIDTH, PNG_HEIGHT)
    assert render_png(drawing) is png


@pytest.mark.parametrize(("game", "setup"), SETUPS)
def test_boards_are_labelled_with_characters_that_the_font_of_pngs_has(game: str, setup: str) -> None:
    root = ElementTree.fromstring(drawn(game, setup).svg)  # noqa: S314
    texts = [text.text or "" for text in root.iter(f"{SVG}text")]
    assert texts
    assert all(text.isascii() and text.isprintable() for text in texts)


READ = Path(__file__).parents[1] / "support" / "read_positions.mjs"
PLIES = 24
SHOWCASES = 2
"""Positions per setup that are read: the start, the last of a random game."""


def positions() -> list[tuple[str, str]]:
    """Return positions of all games and setups, from seeded games at random."""
    found = []
    for game in GAMES.values():
        for setup in game.setups:
            rng = random.Random(f"{game.id} {setup}")
            position: Any = game.initial(setup)
            found.append((game.id, game.format_position(position)))
            for _ in range(PLIES):
                moves = list(game.legal_moves(position))
                if not moves:
                    break
                position = game.play(position, rng.choice(moves))
            found.append((game.id, game.format_position(position)))
        if game.showcase:
            found.append((game.id, game.showcase))
    return found


def test_the_script_reads_the_positions_of_all_games_as_their_rules_do() -> None:
    given = positions()
    tables = json.loads(board_tables())
    lines = "".join(json.dumps({"table": tables[game], "position": position}) + "\n" for game, position in given)
    read = subprocess.run([NODE, str(READ)], input=lines, capture_output=True, check=True, text=True, timeout=60)
    for (game, position), line in zip(given, read.stdout.splitlines(), strict=True):
        scene = GAMES[game].scene(GAMES[game].parse_position(position))
        found = json.loads(line)
        expected = {
            square: [piece.letter + "!" * piece.frozen for piece in column] for square, column in scene.columns.items()
        }
        assert found["columns"] == expected, position
        assert found["links"] == [list(link) for link in scene.links], position
        pieces, squares = tables[game]["pieces"], tables[game]["squares"]
        for square, column in scene.columns.items():
            assert square in squares
            titles = [pieces[piece.letter + "!" * piece.frozen][1] for piece in column]
            assert titles == [piece.title for piece in column]
