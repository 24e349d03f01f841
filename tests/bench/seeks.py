"""How long one seek takes to be compared with a thousand others, in processor time."""

import time
from collections.abc import Iterator
from random import Random
from statistics import median

from domain.contest.wishes import ANY_RATING, Interval, SeekObstacle, SeekTerms, Wish, compatible, games_of
from tests.bench.measure import Table

SEEKS = 1000
TURNS = 21
MAX_MS = 50


def wishes(random: Random) -> list[Wish]:
    """Return wishes of as many people, whose games, paces and ratings differ."""
    made = []
    for number in range(SEEKS):
        seats = random.choice((2, 2, 2, 4))
        games = games_of(seats)
        least = random.randint(1, 7)
        low = random.randint(1000, 1600)
        terms = SeekTerms(
            games=tuple(random.sample(games, random.randint(1, len(games)))),
            seats=seats,
            days=Interval(least, least + random.randint(0, 5)),
            rated=random.random() < 0.7,
            rating=random.choice((ANY_RATING, Interval(low, low + 400))),
        )
        made.append(Wish(f"p{number}", terms, {game: random.randint(900, 2100) for game in games}, terms.days))
    return made


def tables() -> Iterator[Table]:
    others, taken, found = wishes(Random(1)), [], 0
    for own in wishes(Random(2))[:TURNS]:
        own = own._replace(player="somebody else")
        began = time.process_time()
        found += sum(not isinstance(compatible(other, own), SeekObstacle) for other in others)
        taken.append(1000 * (time.process_time() - began))
    table = Table(f"One seek compared with {SEEKS:,} others", "", "median", "most", "agree")
    table.add(
        "processor time", f"{median(taken):.2f} ms (at most {MAX_MS})", f"{max(taken):.2f} ms", f"{found / TURNS:.0f}"
    )
    yield table
