"""The vectors of docs/proof/ratings.md, by the product and by a program that was written from the document."""

import json
from collections import defaultdict
from pathlib import Path
from random import Random
from typing import Any

import pytest

from events.matches.readmodels.summary import RatedResult
from tests.support import specified_ratings
from tests.support.rating_book import RatingBook

VECTORS = Path(__file__).parents[2] / "docs" / "proof" / "vectors" / "ratings"
NUMBERS = ("rating", "deviation", "volatility")

DAY_MS = 86_400_000


def by_product(matches: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return what ``specified_ratings.ratings`` does, by the product: late results are put in where they belong."""
    by_pool = defaultdict(list)
    for match in matches:
        if specified_ratings.reason(match) is None:
            pool = f"{match['game']}-{len(match['seats'])}"
            players, scores = tuple(match["seats"]), tuple(match["scores"])
            by_pool[pool].append(RatedResult(match["match"], pool, match["ended_at"], players, scores))
    found = []
    for pool, results in sorted(by_pool.items()):
        book = RatingBook(pool)
        for result in results:
            book.put(result)
        for player, days in sorted(book.timelines.items()):
            for day, end in sorted(days.items()):
                numbers = dict(zip(NUMBERS, end.rating, strict=True))
                found.append({"pool": pool, "player": player, "day": day, "matches": end.matches, **numbers})
    return found


def match(
    number: int, game: str, day: int, seats: list[str], scores: list[float] | None, **other: Any
) -> dict[str, Any]:
    ended = {"match": f"m{number}", "game": game, "seats": seats, "rated": True, "finished": scores is not None}
    return {**ended, "scores": scores, "plies": 40, "ended_at": day * DAY_MS + 1000 * number, **other}


def make_vectors() -> list[dict[str, Any]]:
    places, winner, shared = [1.0, 0.6667, 0.3333, 0.0], [1.0, 0.0, 0.0, 0.0], [0.8333, 0.0, 0.8333, 0.3333]
    four, chance = ["ada", "ben", "cleo", "dan"], Random(11)
    season = []
    for number in range(40):
        two, score = chance.sample(four, 2), chance.choice([0.0, 0.5, 1.0])
        season.append(match(number, "bashni", 20_000 + chance.randrange(30), two, [score, 1 - score]))
    several = [
        match(1, "fourplay", 20_000, four, places),
        match(2, "fourplay", 20_000, four[::-1], places),
        match(3, "fourplay", 20_003, four, shared),
        match(4, "towers", 20_003, four, winner),
        match(5, "towers", 20_009, four, [0.25] * 4),
        match(6, "towers", 20_010, ["ada", "ben", "ada", "cleo"], [0.0, 0.0, 1.0, 0.0]),
    ]
    uncounted = [
        match(1, "bashni", 20_000, ["ada", "ben"], [1.0, 0.0]),
        match(2, "bashni", 20_000, ["ada", "ben"], [1.0, 0.0], rated=False),
        match(3, "bashni", 20_001, ["ada", "ben"], None),
        match(4, "bashni", 20_001, ["ada", "ben"], [0.0, 1.0], plies=1),
        match(5, "bashni", 20_001, ["opponent-1", "opponent-1"], [0.0, 1.0]),
        match(6, "bashni", 20_400, ["ben", "ada"], [0.5, 0.5], plies=2),
    ]
    given = {"duels of a season": season, "four seats": several, "matches that do not count": uncounted}
    return [{"name": name, "given": {"matches": matches}} for name, matches in given.items()]


def expected(given: dict[str, Any]) -> dict[str, Any]:
    reasons = {each["match"]: specified_ratings.reason(each) for each in given["matches"]}
    unrated = {name: reason for name, reason in reasons.items() if reason is not None}
    return {"unrated": unrated, "ratings": specified_ratings.ratings(given["matches"])}


def write_vectors() -> None:
    """Write the vectors again; only when there are others: what is expected of those that are kept never changes."""
    vectors = [{**vector, "expect": expected(vector["given"])} for vector in make_vectors()]
    VECTORS.mkdir(parents=True, exist_ok=True)
    (VECTORS / "ratings.json").write_text(json.dumps(vectors, indent=1) + "\n")


@pytest.mark.parametrize(
    "vector", json.loads((VECTORS / "ratings.json").read_text()), ids=lambda vector: vector["name"].replace(" ", "-")
)
def test_the_product_computes_every_vector_as_a_program_written_from_the_document(vector: dict[str, Any]) -> None:
    given = vector["given"]
    computed = expected(given)
    assert computed["unrated"] == vector["expect"]["unrated"]
    assert by_product(given["matches"]) == computed["ratings"], "to the last bit"
    # Of other C libraries the last bits may differ.
    assert len(computed["ratings"]) == len(vector["expect"]["ratings"]) > 0
    for ours, kept in zip(computed["ratings"], vector["expect"]["ratings"], strict=True):
        assert ours == {**kept, **{number: pytest.approx(kept[number], abs=1e-6) for number in NUMBERS}}
