"""Turned boards: squares turn about the middle, labels stay outside of them, every seat has its home at the bottom."""

from statistics import mean

import pytest

from domain.games import GAMES
from domain.scene import Cell, Label, Scene
from events.pictures.turning import parts, turn_scene

SCENES = [
    pytest.param(game.scene(game.initial(name)), setup, id=f"{game.id}-{name}")
    for game in GAMES.values()
    for name, setup in game.setups.items()
]
HALF_A_LETTER = 0.1
"""How far a label reaches from its middle, at least."""


def covered(scene: Scene) -> set[tuple[str, str]]:
    """Return each label that stands on a square, with the square."""
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
