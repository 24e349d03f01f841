"""Ratings where they cost most: thousands of results on one day, one opponent in all of them.

Each result has a rating after it for both of its players. By the definition, every one is calculated from all results
of its player until then; the first line does that, for fewer results, since it is quadratic in them.
"""

import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from domain.rating import DEFAULT, Result, rate
from events.readmodels import RatedResult, ReadModelKeys
from events.readmodels.ratings import Ratings
from events.readmodels.summary import DAY_MS
from events.runtime.connections import connect
from tests.bench.measure import Table
from tests.support.server import RealServer

RESULTS = 20_000
RESULTS_BY_DEFINITION = 1_000
PEOPLE = 2_000
DAY = 19_000


def tables() -> Iterator[Table]:
    """Measure and yield the table."""
    table = Table(f"Ratings of one day, one opponent in all {RESULTS:,} matches", "", "results", "seconds", "ms each")

    def add(what: str, results: int, act: Callable[[], object]) -> None:
        start = time.perf_counter()
        act()
        seconds = time.perf_counter() - start
        table.add(what, f"{results:,}", f"{seconds:.3f}", f"{1000 * seconds / results:.3f}")

    add("by the definition, arithmetic alone", RESULTS_BY_DEFINITION, _rate_by_definition)
    with tempfile.TemporaryDirectory() as directory:
        server = RealServer(Path(directory))
        try:
            client = connect(server.url)
            played = [_result(number) for number in range(RESULTS)]
            current = {result.match: result for result in played}
            fewer = Ratings(client, ReadModelKeys("fewer:", 16), current.get)
            ratings = Ratings(client, ReadModelKeys("rk:", 16), current.get)
            add("rebuilt, half of them", RESULTS // 2, lambda: fewer.replace(played[: RESULTS // 2]))
            add("rebuilt, all of them", RESULTS, lambda: ratings.replace(played))
            add("rebuilt again, beside those that are read", RESULTS, lambda: ratings.replace(played))
            current["late"] = _result(RESULTS)._replace(match="late")
            add("one more at the end of the day", 1, lambda: ratings.rate("late"))
            for what, annulled in (("the last one annulled", RESULTS - 1), ("the first one annulled", 0)):
                del current[played[annulled].match]
                add(what, 1, lambda annulled=annulled: ratings.rate(played[annulled].match))  # type: ignore[misc]
        finally:
            server.close()
    yield table


def _result(number: int) -> RatedResult:
    score = (0.0, 0.5, 1.0)[number * 7 % 3]
    players = ("opponent-3", f"person{number % PEOPLE}")
    return RatedResult(f"match{number:06}", "bashni-2", DAY * DAY_MS + number, players, (score, 1 - score))


def _rate_by_definition() -> None:
    results: list[Result] = []
    for number in range(RESULTS_BY_DEFINITION):
        results.append(Result(DEFAULT, _result(number).scores[0]))
        rate(DEFAULT, results)
