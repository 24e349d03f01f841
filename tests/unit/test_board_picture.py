"""The picture of a position: what is drawn, where, however the board is turned, and that it fits a strict page."""

import random
import re
from itertools import pairwise
from math import dist
from statistics import mean
from xml.etree import ElementTree

import pytest

from domain.game import AnyGame
from domain.games import GAMES
from domain.scene import Cell, Label, Note, Piece, Scene
from events.pictures.board import Trace, draw, swatch, trace_between
from events.pictures.standalone import draw_document
from events.pictures.turning import parts, turn_scene

SVG = "{http://www.w3.org/2000/svg}"
COLOURS = ("white", "black")
WHITE_MAN = Piece(0, "man", "w", "white man")
BLACK_KING = Piece(1, "king", "B", "black king")
TOWER_GAME = GAMES["tower-game"]


def scene_with(columns: dict[str, tuple[Piece, ...]], spoken: dict[str, str] | None = None) -> Scene:
    cells = tuple(
        Cell(f"{file}{rank}", 0.5 + number, 0.5 + 2 - rank, "dark" if (number + rank) % 2 else "light")
        for number, file in enumerate("abc")
        for rank in (1, 2)
    )
    labels = (Label("a", 1, 2.75), Label("1", 0.25, 2), Label("2", 0.25, 1))
    return Scene(4, 3, cells, labels, columns, spoken or {})


def parsed(scene: Scene, **options: object) -> ElementTree.Element:
    return ElementTree.fromstring(draw(scene, COLOURS, **options))  # type: ignore[arg-type]  # noqa: S314


def column(root: ElementTree.Element, square: str) -> list[ElementTree.Element]:
    found = root.find(f".//{SVG}g[@class='column'][@data-square='{square}']")
    assert found is not None
    return found.findall(f"{SVG}use")


def test_a_column_is_drawn_from_the_bottom_up_each_piece_above_the_one_below() -> None:
    pieces = column(parsed(scene_with({"a1": (BLACK_KING, WHITE_MAN, WHITE_MAN)})), "a1")
    assert [piece.get("data-title") for piece in pieces] == ["black king", "white man", "white man"]
    heights = [float(piece.get("y", "")) for piece in pieces]
    assert heights == sorted(heights, reverse=True)
    assert len(set(heights)) == 3


def test_every_piece_of_the_tallest_possible_column_can_be_told_from_the_next() -> None:
    pieces = column(parsed(scene_with({"b1": (WHITE_MAN,) * 24})), "b1")
    heights = [float(piece.get("y", "")) for piece in pieces]
    assert all(below - above >= 0.04 for below, above in pairwise(heights))
    assert heights[0] - heights[-1] <= 1.2


def test_a_column_of_several_pieces_says_its_height_and_a_single_piece_does_not() -> None:
    root = parsed(scene_with({"a1": (WHITE_MAN,), "b1": (BLACK_KING, WHITE_MAN)}))
    assert [text.text for text in root.iter(f"{SVG}text") if text.get("class") == "height"] == ["2"]


def test_a_king_wears_a_crown_and_a_man_does_not() -> None:
    root = parsed(scene_with({"a1": (WHITE_MAN,), "b1": (BLACK_KING,)}))
    crowned = {
        group.get("class")
        for group in root.iter(f"{SVG}g")
        if any(path.get("class") == "crown" for path in group.findall(f"{SVG}path"))
    }
    assert crowned == {"piece piece-black kind-king"}


def test_a_castle_has_battlements_and_belongs_to_nobody() -> None:
    root = parsed(scene_with({"a1": (Piece(-1, "castle", "g", "green castle"),)}))
    castle = root.find(f".//{SVG}g[@class='piece piece-nobody kind-castle']")
    assert castle is not None
    assert any(path.get("class") == "tooth" for path in castle.iter(f"{SVG}path"))


def test_seats_that_differ_by_colour_alone_carry_letters() -> None:
    scene = scene_with({"a1": (Piece(1, "stone", "u", "blue piece"),), "b1": (Piece(2, "stone", "r", "red piece"),)})
    root = ElementTree.fromstring(draw(scene, ("white", "blue", "red", "black")))  # noqa: S314
    assert [text.text for text in root.iter(f"{SVG}text") if text.get("class") == "letter"] == ["U", "R"]


def test_a_piece_of_an_unknown_kind_shows_its_letter() -> None:
    root = parsed(scene_with({"a1": (Piece(0, "unicorn", "U", "white unicorn"),)}))
    assert [text.text for text in root.iter(f"{SVG}text") if text.get("class") == "letter"] == ["U"]


def test_a_piece_that_stands_alone_is_a_figure_and_a_frozen_one_looks_it() -> None:
    pieces: dict[str, tuple[Piece, ...]] = {
        "a1": (Piece(0, "giraffe", "rG", "red giraffe"),),
        "b1": (Piece(0, "giraffe", "rG", "frozen red giraffe", True),),
    }
    root = ElementTree.fromstring(draw(scene_with(pieces), ("red",)))  # noqa: S314
    faces = {face.get("class"): [path.get("class") for path in face] for face in root.iter(f"{SVG}g") if face.get("id")}
    assert faces["piece piece-red kind-giraffe"] == ["tile", "carved", "ornament"]
    assert faces["piece piece-red kind-giraffe frozen"] == ["tile", "carved", "ornament", "freeze"]


def test_pieces_that_belong_together_are_joined_by_a_line() -> None:
    pieces: dict[str, tuple[Piece, ...]] = {
        "a1": (Piece(0, "little-dog", "rDg", "dog"),),
        "b1": (Piece(0, "rook", "rR", "rook"),),
    }
    root = parsed(scene_with(pieces)._replace(links=(("a1", "b1"),)))
    assert len([path for path in root.iter(f"{SVG}path") if path.get("class") == "link"]) == 1


def middles(root: ElementTree.Element) -> dict[str, tuple[float, float]]:
    squares = (group for group in root.iter(f"{SVG}g") if group.get("class") == "square")
    corners = ((square, square.find(f"{SVG}rect")) for square in squares)
    return {
        square.get("data-square", ""): (float(corner.get("x", "")) + 0.5, float(corner.get("y", "")) + 0.5)
        for square, corner in corners
        if corner is not None
    }


def test_the_turned_board_shows_the_opposite_corner_and_keeps_its_labels_on_their_sides() -> None:
    plain, turned = parsed(scene_with({})), parsed(scene_with({}), quarters=2)

    def labels(root: ElementTree.Element) -> dict[str, tuple[str, str]]:
        return {
            text.text or "": (text.get("x", ""), text.get("y", ""))
            for text in root.iter(f"{SVG}text")
            if text.get("class") == "label"
        }

    assert middles(turned)["a1"] == middles(plain)["c2"]
    assert middles(turned)["c2"] == middles(plain)["a1"]
    assert labels(turned) == {"a": ("3", "2.75"), "1": ("0.25", "1"), "2": ("0.25", "2")}


@pytest.mark.parametrize("quarters", [0, 2])
def test_every_level_stands_under_its_own_name_and_beside_its_own_coordinates(quarters: int) -> None:
    root = parsed(TOWER_GAME.scene(TOWER_GAME.initial("original")), quarters=quarters)
    squares = middles(root)
    labels = [
        (text.text or "", text.get("class"), (float(text.get("x", "")), float(text.get("y", ""))))
        for text in root.iter(f"{SVG}text")
        if text.get("class") != "letter"
    ]
    names = {
        text: min(squares, key=lambda square: dist(squares[square], at)) for text, _, at in labels if len(text) > 1
    }
    assert {text: square[-1] for text, square in names.items()} == {
        f"rank {number}": str(number) for number in range(1, 9)
    }
    coordinates = [(text, at) for text, _, at in labels if len(text) == 1]
    assert len(coordinates) == 8 * 10
    for text, at in coordinates:
        assert text in min(squares, key=lambda square: dist(squares[square], at))[:2]


def test_near_columns_are_drawn_over_far_ones() -> None:
    root = parsed(scene_with({"a1": (WHITE_MAN,) * 5, "a2": (WHITE_MAN,)}))
    order = [group.get("data-square") for group in root.iter(f"{SVG}g") if group.get("class") == "column"]
    assert order == ["a2", "a1"]
    root = parsed(scene_with({"a1": (WHITE_MAN,) * 5, "a2": (WHITE_MAN,)}), quarters=2)
    order = [group.get("data-square") for group in root.iter(f"{SVG}g") if group.get("class") == "column"]
    assert order == ["a1", "a2"]


def test_the_last_move_is_marked_where_it_began_and_where_it_ended() -> None:
    root = parsed(scene_with({}), traces=[Trace(0, ("a1", "z9"), ("b2",), ("c1",))])
    marks = [rect.get("class") for rect in root.iter(f"{SVG}rect") if "mark" in (rect.get("class") or "").split()]
    assert marks == ["mark mark-from", "mark mark-via", "mark mark-to"]


def test_a_move_is_marked_on_the_squares_that_differ_and_no_others() -> None:
    """Captures are told from the squares that the mover left; a rearrangement leaves and enters several."""
    black_man = WHITE_MAN._replace(seat=1)
    before = scene_with({"a1": (WHITE_MAN,), "b1": (black_man, black_man), "c2": (WHITE_MAN,)})
    after = scene_with({"b1": (black_man,), "c1": (black_man, WHITE_MAN), "c2": (WHITE_MAN,)})
    assert trace_between(0, before, after) == Trace(0, ["a1"], ["b1"], ["c1"])
    rearranged = scene_with(
        {"b1": (black_man, black_man), "b2": (WHITE_MAN,), "c2": (WHITE_MAN._replace(kind="king"),)}
    )
    assert trace_between(0, before, rearranged) == Trace(0, ["a1"], [], ["b2", "c2"])
    frozen = scene_with(
        {
            square: tuple(man._replace(frozen=True, title="frozen") for man in men)
            for square, men in before.columns.items()
        }
    )
    assert trace_between(0, before, frozen) == Trace(0, [], [], [])


def test_of_several_moves_each_is_marked_in_the_colour_of_its_seat_and_the_older_ones_are_fainter() -> None:
    traces = [Trace(0, ("a1",), (), ("b1",)), Trace(1, entered=("c1",)), Trace(0, ("a2",), (), ("b2",))]
    root = parsed(scene_with({}), traces=traces)
    marks = [rect.get("class") for rect in root.iter(f"{SVG}rect") if "mark" in (rect.get("class") or "").split()]
    assert sorted(marks) == [
        "mark mark-from by-white", "mark mark-from by-white age-2", "mark mark-to by-black age-1",
        "mark mark-to by-white", "mark mark-to by-white age-2",
    ]  # fmt: skip


def test_each_square_is_a_button_that_says_what_stands_on_it() -> None:
    root = parsed(scene_with({"a1": (WHITE_MAN,)}, {"a1": "a1: white man"}))
    spoken = {
        group.get("data-square"): group.get("aria-label")
        for group in root.iter(f"{SVG}g")
        if group.get("role") == "button"
    }
    assert len(spoken) == 6
    assert spoken["a1"] == "a1: white man"
    assert spoken["b2"] == "b2: empty"


def test_a_mere_picture_has_a_name_and_nothing_to_point_at() -> None:
    root = parsed(scene_with({"a1": (WHITE_MAN,)}), picture="A position")
    assert root.get("role") == "img"
    assert root.get("aria-label") == "A position"
    assert not [group for group in root.iter(f"{SVG}g") if group.get("role") == "button"]


def test_two_pictures_on_one_page_do_not_share_the_names_of_their_drawings() -> None:
    def names(picture: str) -> set[str | None]:
        root = parsed(scene_with({"a1": (WHITE_MAN,)}), picture=picture)
        return {group.get("id") for group in root.iter(f"{SVG}g") if group.get("id")}

    assert names("First").isdisjoint(names("Second"))


def test_what_a_scene_says_is_escaped() -> None:
    nasty = Piece(0, "man", "<", '"><script>')
    root = parsed(scene_with({"a1": (nasty, nasty)}, {"a1": "<b>&"}))
    assert column(root, "a1")[0].get("data-title") == '"><script>'
    assert not list(root.iter("script"))


@pytest.mark.parametrize("game", GAMES.values(), ids=lambda game: game.id)
def test_positions_of_every_game_make_a_well_formed_picture_without_inline_styles(game: AnyGame) -> None:
    rng = random.Random(7)
    for name, setup in game.setups.items():
        position = game.initial(name)
        for _ in range(40):
            moves = list(game.legal_moves(position))
            if not moves:
                break
            position = game.play(position, rng.choice(moves))
        scene = game.scene(position)
        picture = draw(scene, setup.colours, quarters=2)
        root = ElementTree.fromstring(picture)  # noqa: S314
        faces = {group.get("id") for group in root.iter(f"{SVG}g")}
        drawn = [use.get("href", "")[1:] for use in root.iter(f"{SVG}use")]
        assert len(drawn) == sum(len(pieces) for pieces in scene.columns.values())
        assert set(drawn) <= faces
        assert not re.search(r"\sstyle=|<style|\son[a-z]+=", picture)
        assert picture == draw(scene, setup.colours, quarters=2)


def test_a_swatch_is_a_disc_in_the_colour_of_its_seat() -> None:
    root = ElementTree.fromstring(swatch("blue"))  # noqa: S314
    assert "piece-blue" in (root.get("class") or "")
    assert root.get("aria-hidden") == "true"


def test_the_notes_on_a_square_describe_its_button_and_are_escaped() -> None:
    notes = (Note("a1", "A <tower>", "Rooks & knights."), Note("a1", "Safe", "For now."))
    root = parsed(scene_with({})._replace(notes=notes))
    button = root.find(f".//{SVG}g[@class='square'][@data-square='a1']")
    assert button is not None
    described = [(note.get("data-title"), note.text) for note in button.findall(f"{SVG}desc")]
    assert described == [("A <tower>", "Rooks & knights."), ("Safe", "For now.")]
    assert len(list(root.iter(f"{SVG}desc"))) == 2


def test_a_king_in_check_stands_on_a_star_on_its_square_however_the_board_is_turned() -> None:
    king = Piece(0, "monarch", "K", "white king")
    scene = scene_with({"a1": (king,), "b1": (king,)})._replace(checked=("a1",))
    for quarters in range(4):
        root = parsed(scene, quarters=quarters)
        (star,) = (path for path in root.iter(f"{SVG}path") if path.get("class") == "check")
        points = [tuple(map(float, point.split())) for point in re.split("[MLZ]", star.get("d", "")) if point]
        button = root.find(f".//{SVG}g[@class='square'][@data-square='a1']/{SVG}rect")
        assert button is not None
        middle = [float(button.get(axis, "")) + 0.5 for axis in "xy"]
        assert [sum(axis) / len(points) for axis in zip(*points, strict=True)] == pytest.approx(middle, abs=0.01)
        assert len({round(abs(complex(x - middle[0], y - middle[1])), 1) for x, y in points}) == 2
    assert ".check{" in draw_document(scene, COLOURS, "Check").style.replace(" ", "")


def test_the_tower_game_alone_has_levels() -> None:
    assert [game.id for game in GAMES.values() if game.scene(game.initial(next(iter(game.setups)))).has_levels] == [
        "tower-game"
    ]


SCENES = [
    pytest.param(game.scene(game.initial(name)), setup, id=f"{game.id}-{name}")
    for game in GAMES.values()
    for name, setup in game.setups.items()
]
HALF_A_LETTER = 0.1
"""How far a label reaches from its middle, at least."""


def covered(scene: Scene) -> set[tuple[str, str]]:
    return {
        (label.text, cell.square)
        for label in scene.labels
        for cell in scene.cells
        if abs(label.x - cell.x - 0.5) < 0.5 + HALF_A_LETTER and abs(label.y - cell.y - 0.5) < 0.5 + HALF_A_LETTER
    }


def beside(scene: Scene, label: Label) -> Cell:
    return min(scene.cells, key=lambda cell: (cell.x + 0.5 - label.x) ** 2 + (cell.y + 0.5 - label.y) ** 2)


@pytest.mark.parametrize(("scene", "setup"), SCENES)
def test_no_label_of_a_turned_board_stands_on_a_square(scene: Scene, setup: str) -> None:
    for quarters in range(4):
        assert covered(turn_scene(scene, quarters)) == set()


@pytest.mark.parametrize(("scene", "setup"), SCENES)
def test_every_label_of_a_turned_board_names_the_square_that_it_stands_at(scene: Scene, setup: str) -> None:
    for quarters in range(4):
        around = turn_scene(scene, quarters)
        for label in around.labels:
            square = beside(around, label).square
            named = label.text.split()[-1]
            assert named in (square[: len(named)], square[-len(named) :], square[1 : 1 + len(named)])


@pytest.mark.parametrize(("scene", "setup"), SCENES)
def test_turning_four_times_by_a_quarter_leads_back_and_two_quarters_are_a_half(scene: Scene, setup: str) -> None:
    quarter = turn_scene(scene, 1)
    half = turn_scene(quarter, 1)
    assert [cell[:3] for cell in half.cells] == [cell[:3] for cell in turn_scene(scene, 2).cells]
    again = turn_scene(turn_scene(half, 1), 1)
    assert [(cell.square, round(cell.x, 2), round(cell.y, 2)) for cell in again.cells] == [
        (cell.square, round(cell.x, 2), round(cell.y, 2)) for cell in scene.cells
    ]


@pytest.mark.parametrize(("game", "setup"), [("fourplay", "standard"), ("towers", "four-player")])
def test_each_of_four_seats_sees_its_own_corner_at_the_lower_left(game: str, setup: str) -> None:
    scene, turns = GAMES[game].scene(GAMES[game].initial(setup)), GAMES[game].setups[setup].turns
    for seat, quarters in enumerate(turns):
        around = turn_scene(scene, quarters)
        own = [cell for cell in around.cells if any(each.seat == seat for each in scene.columns.get(cell.square, ()))]
        assert own
        assert mean(cell.x for cell in own) < mean(cell.x for cell in around.cells)
        assert mean(cell.y for cell in own) > mean(cell.y for cell in around.cells)


def test_every_setup_says_how_each_of_its_seats_sees_the_board() -> None:
    for game in GAMES.values():
        for setup in game.setups.values():
            assert len(setup.turns) == len(setup.seat_names)
            assert len(set(setup.turns)) == len(setup.turns)


def test_the_levels_of_the_tower_game_are_parts_in_reading_order_with_their_labels() -> None:
    scene = GAMES["tower-game"].scene(GAMES["tower-game"].initial("original"))
    found = parts(scene.cells, scene.labels)
    assert [{cell.square[-1] for cell in part.cells} for part in found] == [{each} for each in "56781234"]
    assert [part.labels[0].text for part in found] == [f"rank {each}" for each in "56781234"]
    assert all(len(part.cells) == 25 and len(part.labels) == 11 for part in found)
