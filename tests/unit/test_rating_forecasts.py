"""Ratings forecast results, and their intervals hold what they promise."""

from math import log

import pytest

from domain.rating import DEFAULT, Result, rate
from events.matches.readmodels.summary import DAY_MS, RatedResult
from tests.bench import rating_systems as forecasts
from tests.bench.league import League, leagues
from tests.bench.rating_systems import EloForecaster, GlickoForecaster, Judge, Strength, make_forecasters
from tests.support.draws import sampled
from tests.support.rating_book import RatingBook

DAY = 20_000

MIN_COVERED, MAX_COVERED = 0.93, 0.97
"""Bounds for the part of 95 % intervals that hold the true strength in a league."""


def present() -> GlickoForecaster:
    return GlickoForecaster("ours", weighted=True, by_order=True)


def duel(number: int, day: int, score: float) -> RatedResult:
    return RatedResult(f"m{number}", "bashni-2", day * DAY_MS + number, ("a", "b"), (score, 1 - score))


def small(seed: int, seats: int, *, places: bool = True) -> League:
    return League(seed, seats, places=places, players=60, days=160)


@sampled("league", [small(1, 2), small(1, 3)])
def test_nineteen_of_twenty_intervals_hold_the_true_strength(league: League) -> None:
    (judgement,) = league.judge([present()])
    assert judgement.intervals > 400
    assert judgement.covered is not None
    assert MIN_COVERED <= judgement.covered <= MAX_COVERED


@sampled("places", [True, False])
def test_intervals_of_four_seats_hold_with_weights_and_not_without_or_with_distances(places: bool) -> None:
    weightless = GlickoForecaster("weightless", weighted=False, by_order=True)
    distances = GlickoForecaster("distances", weighted=True, by_order=False)
    good, narrow, wrong = small(3, 4, places=places).judge([present(), weightless, distances])
    covered = [each.covered or 0.0 for each in (wrong, narrow, good)]
    assert covered[0] < 0.85 < covered[1] < MIN_COVERED <= covered[2] <= MAX_COVERED
    assert good.log_loss < narrow.log_loss < wrong.log_loss
    assert good.brier < narrow.brier < wrong.brier


def test_a_forecaster_rates_as_ratings_are_rated() -> None:
    forecaster, book = present(), RatingBook("league-4")
    for day, results, _ in League(3, 4, players=12, days=8, ends_per_day=2).play():
        forecaster.rate(day, results)
        book.put(*results)
    assert forecaster.after == {player: (max(days), days[max(days)].rating) for player, days in book.timelines.items()}


def test_the_first_forecast_is_even_and_costs_as_much_as_a_coin_toss() -> None:
    judge = Judge(make_forecasters())
    judge.add(duel(1, DAY, 1.0))
    for judgement in judge.judgements():
        assert (judgement.forecasts, judgement.covered) == (1, None)
        assert judgement.log_loss == pytest.approx(log(2))
        assert judgement.brier == pytest.approx(0.25)


def test_results_of_a_day_are_forecast_from_what_was_known_before_it() -> None:
    forecaster = present()
    judge = Judge([forecaster])
    for number in range(3):
        judge.add(duel(number, DAY, 1.0))
    assert judge.judgements()[0].log_loss == pytest.approx(log(2))
    assert forecaster.strength("a", DAY + 1).centre > 0 > forecaster.strength("b", DAY + 1).centre
    assert forecaster.start("a", DAY + 1) == rate(DEFAULT, [Result(DEFAULT, 1.0)] * 3)


def test_elo_moves_both_players_by_the_same_points() -> None:
    elo = EloForecaster()
    elo.rate(DAY, [duel(1, DAY, 1.0)])
    assert elo.strength("a", DAY) == Strength(16 / forecasts.ELO_POINTS_PER_UNIT, None)
    assert elo.expects("a", "b", DAY) == pytest.approx(1 / (1 + 10 ** (-32 / 400)))


def test_stored_results_show_intervals_by_the_ratings_of_later() -> None:
    league = League(5, 2, players=20, days=60, ends_per_day=1.5)
    judge = Judge([present(), EloForecaster()])
    for _, results, _ in league.play():
        for result in results:
            judge.add(result)
    ours, elo = judge.judgements()
    assert ours.intervals > 50
    assert ours.covered is not None
    assert 0.88 < ours.covered < 0.99
    assert (elo.intervals, elo.covered) == (0, None)


def test_leagues_are_drawn_from_a_seed() -> None:
    assert [next(league.play())[1] for league in leagues(4).values()] == [
        next(league.play())[1] for league in leagues(4).values()
    ]
    assert next(leagues(4)["2 seats"].play())[1] != next(leagues(5)["2 seats"].play())[1]
