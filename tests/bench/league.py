"""A simulated league: players whose true strengths are known, and the results of their matches.

Each seat performs as the strength of its player and a noise of its own, the same for all (Gumbel, so that the better
performance wins a duel with the odds of Glicko-2); the match ends in the order of the performances. Strengths are in
duel units (``tests.bench.rating_systems``) and move from day to day as Glicko-2 assumes.
"""

from collections.abc import Iterator
from math import log
from random import Random
from typing import NamedTuple

from domain.rating import START_VOLATILITY
from events.matches.readmodels.summary import DAY_MS, RatedResult, pool_of
from tests.bench.rating_systems import POINTS_PER_UNIT, Forecaster, Judge, Judgement

LEAGUE_DAY = 20_000
DAYS_BETWEEN_LOOKS = 20


class League(NamedTuple):
    """What a league is like; equal leagues have equal results on every machine.

    With ``places`` every place has a score of its own, as in Fourplay; else the winner takes all, as in Towers of four.
    ``spread`` and ``drift`` are standard deviations: of strengths, and of the change in a day. Intervals are looked at
    every 20 days, from the day ``settled`` on.
    """

    seed: int
    seats: int
    places: bool = True
    players: int = 500
    days: int = 300
    settled: int = 40
    ends_per_day: float = 0.5
    spread: float = 250 / POINTS_PER_UNIT
    drift: float = START_VOLATILITY

    def play(self) -> Iterator[tuple[int, list[RatedResult], dict[str, float]]]:
        """Yield for each day its results, in order, and the strengths on it by player."""
        chance = Random(self.seed)
        strengths = {f"player-{number}": chance.gauss(0, self.spread) for number in range(self.players)}
        players = list(strengths)
        matches = max(1, round(self.players * self.ends_per_day / self.seats))
        for day in range(LEAGUE_DAY, LEAGUE_DAY + self.days):
            results = []
            for number in range(matches):
                seated = chance.sample(players, self.seats)
                shown = [strengths[player] - log(-log(chance.random())) for player in seated]
                order = sorted(shown, reverse=True)
                scores = tuple(self._score(order.index(each)) for each in shown)
                name = f"match-{day}-{number:04}"
                results.append(
                    RatedResult(name, pool_of("league", self.seats), day * DAY_MS + number, tuple(seated), scores)
                )
            yield day, results, dict(strengths)
            for player in players:
                strengths[player] += chance.gauss(0, self.drift)

    def _score(self, place: int) -> float:
        return round(1 - place / (self.seats - 1), 4) if self.places else float(place == 0)

    def judge(self, forecasters: list[Forecaster]) -> list[Judgement]:
        """Return how good the forecasts were, and how many intervals held the true strengths."""
        found = Judge(forecasters)
        for day, results, strengths in self.play():
            found.look_at(day, results, known=True)
            elapsed = day + 1 - LEAGUE_DAY
            if elapsed >= self.settled and elapsed % DAYS_BETWEEN_LOOKS == 0:
                # Of the day on which they were played: a day's drift is in the intervals of the next.
                found.compare_with(strengths, day + 1)
        return found.judgements()


def leagues(seed: int) -> dict[str, League]:
    return {
        "2 seats": League(seed, 2),
        "3 seats": League(seed, 3),
        "4 seats": League(seed, 4),
        "4 seats, the winner takes all": League(seed, 4, places=False),
    }
