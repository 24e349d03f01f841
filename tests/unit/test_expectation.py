"""The points that seats may expect from the scores of a search."""

from hashlib import sha256
from math import exp

import pytest

from domain.games import GAMES
from domain.search.expectation import _DECAY, CURVES, POINT, expected_points
from domain.search.values import WIN, value_of_scores
from tests.support.toy_games import NOUGHTS

BASHNI, TOWERS, FOURPLAY = GAMES["bashni"], GAMES["towers"], GAMES["fourplay"]


def test_every_game_has_a_curve_for_every_number_of_its_seats() -> None:
    seats = {(game.id, len(setup.seat_names)) for game in GAMES.values() for setup in game.setups.values()}
    assert seats == set(CURVES)


def test_a_game_without_a_curve_of_its_own_gets_the_common_one() -> None:
    assert expected_points(NOUGHTS, (0, 0)) == (POINT // 2, POINT // 2)


@pytest.mark.parametrize("score", range(-2_000, 2_001, 137))
def test_two_seats_share_a_point_by_the_logistic_curve(score: int) -> None:
    curve = CURVES["bashni", 2]
    first, second = expected_points(BASHNI, (score, -score))
    assert first + second == POINT
    assert first == pytest.approx(POINT / (1 + exp(-(score - curve.centre) / curve.scale)), abs=2)


def test_four_seats_of_towers_share_a_point_by_a_softmax() -> None:
    scores = (500, -200, 0, 900)
    weights = [exp(score / CURVES["towers", 4].scale) for score in scores]
    expected = [POINT * weight / sum(weights) for weight in weights]
    assert expected_points(TOWERS, scores) == pytest.approx(expected, abs=2)


def test_the_places_of_fourplay_are_worth_two_points_together() -> None:
    points = expected_points(FOURPLAY, (700, 300, -100, -4_000))
    assert sum(points) == pytest.approx(2 * POINT, abs=4)
    assert list(points) == sorted(points, reverse=True)
    assert expected_points(FOURPLAY, (0, 0, 0, 0)) == (POINT // 2,) * 4


def test_more_is_never_worth_less() -> None:
    points = [expected_points(BASHNI, (score, -score))[0] for score in range(-20_000, 20_000, 31)]
    assert points == sorted(points)
    assert (points[0], points[-1]) == (0, POINT)


@pytest.mark.parametrize("scores", [(1.0, 0.0), (0.75, 0.25), (0.5, 0.5), (0.0, 1.0)])
def test_a_certain_end_gives_its_points_to_two_seats(scores: tuple[float, ...]) -> None:
    values = [value_of_scores(scores, seat, ply=40) for seat in range(2)]
    assert expected_points(GAMES["tower-game"], values) == pytest.approx([POINT * score for score in scores], abs=150)


def test_a_certain_win_gives_the_whole_point_and_the_second_place_of_fourplay_two_thirds() -> None:
    end = (2 / 3, 0.0, 1.0, 1 / 3)
    first, second = (value_of_scores(end, seat, 3, FOURPLAY.place_worth) for seat in (2, 0))
    assert expected_points(FOURPLAY, (0, 0, first, 0))[2] == pytest.approx(POINT, abs=15)
    standings = (second, *(value_of_scores(end, seat, 3, FOURPLAY.place_worth) for seat in (1, 3)), 3_000)
    assert expected_points(FOURPLAY, standings)[0] == pytest.approx(POINT * 2 / 3, abs=POINT // 8)
    assert expected_points(TOWERS, (WIN - 3, -WIN // 3, -WIN // 3, -WIN // 3)) == (
        pytest.approx((POINT, 0, 0, 0), abs=15)
    )


def test_the_only_numbers_computed_in_floating_point_are_the_same_on_every_machine() -> None:
    assert (
        sha256(repr(_DECAY).encode()).hexdigest() == "9fa1e8eef40691cb7ad8787aaa2ab79681ee80be5bb44de3e1ce73782351cc33"
    )
