"""Glicko-2: Glickman's worked example, an independent implementation, and what must hold of any period."""

import random
from math import exp, fsum, inf, nan

import glicko2
import pytest
from hypothesis import given, strategies as st

from domain.rating import (
    DEFAULT,
    MAX_DEVIATION,
    ExactSum,
    Period,
    PeriodSums,
    Rating,
    Result,
    compare,
    expected_score,
    pairwise,
    rate,
    rest,
    weight_of_result,
)

GLICKMAN = Rating(1500, 200, 0.06)
GLICKMAN_RESULTS = [
    Result(Rating(1400, 30, 0.06), 1),
    Result(Rating(1550, 100, 0.06), 0),
    Result(Rating(1700, 300, 0.06), 0),
]

ratings = st.builds(Rating, st.floats(0, 3500), st.floats(20, MAX_DEVIATION), st.floats(0.03, 0.1))
results = st.builds(Result, ratings, st.floats(0, 1), st.sampled_from([1.0, 2 / 3, 0.5]))


class Reference(glicko2.Player):  # type: ignore[misc]
    """The reference package with the deviation where its volatility function has the rating by mistake (step 5.1)."""

    def _f(self, x: float, delta: float, v: float, a: float) -> float:
        spread = self._Player__rd**2 + v + exp(x)
        return float(exp(x) * (delta**2 - spread) / (2 * spread**2) - (x - a) / self._tau**2)


def random_rating(chance: random.Random) -> Rating:
    return Rating(chance.uniform(600, 2600), chance.uniform(30, 340), chance.uniform(0.04, 0.09))


def test_glickmans_worked_example_comes_out_as_printed() -> None:
    new = rate(GLICKMAN, GLICKMAN_RESULTS)
    # The paper rounds on the way: 1464.06, 151.52, 0.05999.
    assert new.rating == pytest.approx(1464.06, abs=0.01)
    assert new.deviation == pytest.approx(151.52, abs=0.005)
    assert new.volatility == pytest.approx(0.05999, abs=0.00001)


@pytest.mark.parametrize("seed", range(40))
def test_a_period_agrees_with_an_independent_implementation(seed: int) -> None:
    chance = random.Random(seed)
    own = random_rating(chance)
    period = [Result(random_rating(chance), chance.choice([0, 0.25, 0.5, 0.75, 1])) for _ in range(1 + seed % 12)]
    reference = Reference(*own)
    reference.update_player(
        [result.opponent.rating for result in period],
        [result.opponent.deviation for result in period],
        [result.score for result in period],
    )
    new = rate(own, period)
    assert new.rating == pytest.approx(reference.rating, abs=1e-6)
    assert new.deviation == pytest.approx(min(MAX_DEVIATION, reference.rd), abs=1e-6)
    assert new.volatility == pytest.approx(reference.vol, abs=1e-9)


@given(ratings, st.lists(results, min_size=2, max_size=8), st.randoms(use_true_random=False))
def test_the_order_of_results_does_not_change_one_bit(own: Rating, period: list[Result], chance: random.Random) -> None:
    shuffled = chance.sample(period, len(period))
    assert [value.hex() for value in rate(own, shuffled)] == [value.hex() for value in rate(own, period)]


@given(ratings, st.lists(results, max_size=40))
def test_a_period_continued_result_by_result_is_the_whole_to_the_last_bit(own: Rating, period: list[Result]) -> None:
    sums = PeriodSums()
    for count, result in enumerate(period, 1):
        continued = Period(own, sums)
        continued.add(result)
        sums = continued.sums
        assert [value.hex() for value in continued.rating()] == [value.hex() for value in rate(own, period[:count])]


@given(st.lists(st.floats(-1e6, 1e6), max_size=60))
def test_an_exact_sum_is_rounded_once_as_fsum_does(values: list[float]) -> None:
    total = ExactSum()
    for value in values:
        total.add(value)
    assert ExactSum(total.parts).rounded().hex() == fsum(values).hex()
    assert len(total.parts) < 12


@given(ratings, st.lists(results, max_size=8))
def test_no_period_leads_out_of_range(own: Rating, period: list[Result]) -> None:
    new = rate(own, period)
    assert 0 < new.deviation <= MAX_DEVIATION
    assert new.volatility > 0
    assert abs(new.rating) < 10_000


@given(ratings, ratings)
def test_a_winner_does_not_drop_and_a_loser_does_not_rise(own: Rating, opponent: Rating) -> None:
    assert rate(own, [Result(opponent, 1)]).rating >= own.rating
    assert rate(own, [Result(opponent, 0)]).rating <= own.rating


@given(ratings, ratings, st.floats(0, 1), st.floats(0, 1))
def test_a_better_score_never_gives_a_lower_rating(own: Rating, opponent: Rating, one: float, other: float) -> None:
    worse, better = sorted((one, other))
    lower, higher = (rate(own, [Result(opponent, score)]).rating for score in (worse, better))
    assert lower <= higher + 1e-6  # the iteration for the volatility stops at a tolerance


def test_a_draw_between_equals_changes_only_the_deviation() -> None:
    new = rate(DEFAULT, [Result(DEFAULT, 0.5)])
    assert new.rating == DEFAULT.rating
    assert new.deviation < DEFAULT.deviation


def test_three_quarters_of_a_point_lies_between_a_draw_and_a_win() -> None:
    drawn, most, won = (rate(DEFAULT, [Result(DEFAULT, score)]).rating for score in (0.5, 0.75, 1))
    assert drawn < most < won
    assert most - drawn == pytest.approx((won - drawn) / 2, rel=0.01)


@pytest.mark.parametrize("distance", [5_000.0, 100_000.0, 1e9])
@pytest.mark.parametrize("score", [0, 1])
def test_absurd_distances_are_rated_without_overflow(distance: float, score: int) -> None:
    new = rate(Rating(1500, 50, 0.06), [Result(Rating(1500 + distance, 50, 0.06), score)])
    assert 1499 < new.rating < 1600
    assert 50 < new.deviation < 52


def test_rest_widens_the_deviation_by_the_volatility_up_to_that_of_a_newcomer() -> None:
    own = Rating(1700, 50, 0.06)
    assert rest(own, 0) == own
    assert rest(own, 1).deviation == pytest.approx((50**2 + (0.06 * 173.7178) ** 2) ** 0.5)
    assert rest(rest(own, 3), 4).deviation == pytest.approx(rest(own, 7).deviation)
    assert rest(own, 100_000) == Rating(1700, MAX_DEVIATION, 0.06)


def test_a_period_without_results_is_a_period_of_rest() -> None:
    assert rate(GLICKMAN, []) == rest(GLICKMAN, 1)


@pytest.mark.parametrize("score", [0, 0.25, 0.5, 0.75, 1])
def test_two_seats_reduce_to_the_plain_score(score: float) -> None:
    assert pairwise((score, 1 - score)) == (((1, score),), ((0, 1 - score),))


def test_several_seats_become_pairwise_results() -> None:
    winner, *others = pairwise((1, 0, 0, 0))
    assert winner == ((1, 1), (2, 1), (3, 1))
    assert others[0] == ((0, 0), (2, 0.5), (3, 0.5))


def test_places_of_four_seats_win_by_their_difference() -> None:
    first, _, third, _ = pairwise((1, 2 / 3, 1 / 3, 0))
    assert first == ((1, pytest.approx(2 / 3)), (2, pytest.approx(5 / 6)), (3, 1))
    assert third == ((0, pytest.approx(1 / 6)), (1, pytest.approx(1 / 3)), (3, pytest.approx(2 / 3)))


@given(st.lists(st.floats(0, 1), min_size=3, max_size=4))
def test_what_one_seat_scores_against_another_the_other_lacks(scores: list[float]) -> None:
    tables = [dict(row) for row in pairwise(scores)]
    for seat, table in enumerate(tables):
        assert sorted(table) == [other for other in range(len(scores)) if other != seat]
        for other, score in table.items():
            assert 0 <= score <= 1
            assert score + tables[other][seat] == pytest.approx(1)


def test_the_winner_of_four_wins_three_times_and_the_others_draw_among_themselves() -> None:
    first, *others = (sorted(score for _, score in row) for row in pairwise((1, 0, 0, 0)))
    assert first == [1, 1, 1]
    assert others == [[0, 0.5, 0.5]] * 3


@pytest.mark.parametrize("scores", [(1.0, 0.0), (0.5, 0.5), (0.25, 0.75)])
def test_a_duel_counts_by_its_scores_and_fully(scores: tuple[float, ...]) -> None:
    assert compare(scores) == pairwise(scores)
    assert weight_of_result(2) == 1.0


def test_each_result_of_a_match_counts_two_duels_divided_by_its_seats() -> None:
    assert [weight_of_result(seats) for seats in (3, 4)] == [2 / 3, 0.5]


def test_among_several_seats_the_better_one_wins_by_however_little() -> None:
    first, _, third, last = compare((1.0, 0.6667, 0.3333, 0.0))
    assert first == ((1, 1.0), (2, 1.0), (3, 1.0))
    assert third == ((0, 0.0), (1, 0.0), (3, 1.0))
    assert last == ((0, 0.0), (1, 0.0), (2, 0.0))


def test_seats_that_nobody_has_beaten_have_drawn_and_seats_that_lost_alike_are_not_compared() -> None:
    assert compare((0.25,) * 3) == (((1, 0.5), (2, 0.5)), ((0, 0.5), (2, 0.5)), ((0, 0.5), (1, 0.5)))
    assert compare((1.0, 0.0, 0.0, 0.0)) == (((1, 1.0), (2, 1.0), (3, 1.0)), ((0, 0.0),), ((0, 0.0),), ((0, 0.0),))
    assert compare((0.5, 0.0, 0.5, 0.0))[0] == ((1, 1.0), (2, 0.5), (3, 1.0))


def test_two_results_of_half_weight_are_one_of_full_weight() -> None:
    whole, halves = Result(Rating(1600, 80, 0.06), 1), Result(Rating(1600, 80, 0.06), 1, 0.5)
    assert rate(GLICKMAN, [halves, halves]) == rate(GLICKMAN, [whole])
    with pytest.raises(ValueError, match="a weight must be above 0 and at most 1"):
        rate(GLICKMAN, [whole._replace(weight=0)])


def test_the_expected_score_leaves_out_ones_own_deviation() -> None:
    assert expected_score(DEFAULT, DEFAULT) == 0.5
    assert expected_score(GLICKMAN, Rating(1400, 30, 0.06)) == pytest.approx(0.639, abs=5e-4)
    assert expected_score(GLICKMAN._replace(deviation=50), Rating(1700, 300, 0.06)) == pytest.approx(0.303, abs=1e-3)


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        (Rating(nan, 50, 0.06), "rating must be finite"),
        (Rating(inf, 50, 0.06), "rating must be finite"),
        (Rating(1500, 0, 0.06), "deviation"),
        (Rating(1500, 350.1, 0.06), "deviation"),
        (Rating(1500, nan, 0.06), "deviation"),
        (Rating(1500, 50, 0), "volatility"),
        (Rating(1500, 50, inf), "volatility"),
    ],
)
def test_a_broken_rating_is_refused_with_the_reason(broken: Rating, reason: str) -> None:
    for attempt in (
        lambda: rate(broken, [Result(DEFAULT, 1)]),
        lambda: rate(DEFAULT, [Result(broken, 1)]),
        lambda: rest(broken, 1),
    ):
        with pytest.raises(ValueError, match=reason):
            attempt()


@pytest.mark.parametrize("score", [-0.01, 1.01, nan])
def test_a_score_outside_its_range_is_refused(score: float) -> None:
    with pytest.raises(ValueError, match="score must be from 0 to 1"):
        rate(DEFAULT, [Result(DEFAULT, score)])
    with pytest.raises(ValueError, match="score must be from 0 to 1"):
        pairwise((score, 0, 0))


def test_impossible_matches_and_periods_are_refused() -> None:
    with pytest.raises(ValueError, match="two seats or more"):
        pairwise((1,))
    with pytest.raises(ValueError, match="add up to 1"):
        pairwise((1, 1))
    with pytest.raises(ValueError, match="periods"):
        rest(DEFAULT, -1)
