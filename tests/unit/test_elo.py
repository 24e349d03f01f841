"""How the result of a match between engines is judged."""

from random import Random

import pytest

from tests.tuning.elo import elo_of, estimate, log_likelihood_ratio, score_of, verdict


def drawn_pairs(elo: float, count: int, seed: int) -> list[float]:
    """Scores of pairs of decided games at a true difference of ``elo``."""
    chance, expected = Random(seed), score_of(elo)
    return [((chance.random() < expected) + (chance.random() < expected)) / 2 for _ in range(count)]


@pytest.mark.parametrize("elo", [-300.0, -1.0, 0.0, 20.0, 400.0])
def test_a_difference_and_its_expected_score_belong_together(elo: float) -> None:
    assert elo_of(score_of(elo)) == pytest.approx(elo)


def test_a_score_of_everything_is_a_limited_difference() -> None:
    assert elo_of(1.0) == pytest.approx(1200)
    assert elo_of(0.0) == pytest.approx(-1200)


def test_the_interval_holds_the_true_difference_nearly_always() -> None:
    held = 0
    for seed in range(200):
        result = estimate(drawn_pairs(60, 150, seed))
        held += result.low <= 60 <= result.high
    assert 180 <= held < 200


@pytest.mark.parametrize(("elo", "accepted"), [(0, False), (30, True), (-30, False)])
def test_a_sequential_test_seldom_errs(elo: float, accepted: bool) -> None:
    right = 0
    for seed in range(40):
        pairs = drawn_pairs(elo, 4_000, seed)
        verdicts = (verdict(pairs[:count], 0, 30) for count in range(50, 4_000, 50))
        right += next(reached for reached in verdicts if reached is not None) == accepted
    assert right >= 36


def test_a_few_equal_pairs_prove_nothing() -> None:
    assert verdict([0.5] * 8, 0, 30) is None
    assert log_likelihood_ratio([0.5] * 8, 0, 30) < 0
