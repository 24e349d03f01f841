"""How many 95 % intervals of ratings hold the true strength in simulated leagues, and how good the forecasts are.

One league for each number of seats and each spread of strengths, in rating points, around the one that a check uses.
"""

from collections.abc import Iterator

from tests.bench.league import leagues
from tests.bench.measure import Table
from tests.bench.rating_systems import POINTS_PER_UNIT, make_forecasters

SEED = 1
SPREADS = (200, 250, 350)


def tables() -> Iterator[Table]:
    for spread in SPREADS:
        for name, league in leagues(SEED).items():
            table = Table(f"League of {name}, spread {spread}", "", "log-loss", "Brier", "intervals", "hold")
            for each in league._replace(spread=spread / POINTS_PER_UNIT).judge(make_forecasters()):
                held = "-" if each.covered is None else f"{100 * each.covered:.1f} %"
                table.add(each.name, f"{each.log_loss:.4f}", f"{each.brier:.4f}", f"{each.intervals:,}", held)
            yield table
