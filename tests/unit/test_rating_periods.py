"""Ratings by day: a function of the results, whatever the order and the batches in which they arrive."""

from itertools import pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.rating import DEFAULT, Rating, Result, rate, rest
from events.readmodels.recalculation import RatingRecalculation
from events.readmodels.standings import DayEnd, Entry
from events.readmodels.summary import DAY_MS, RatedResult

PLAYERS = ("alice", "bob", "carol", "opponent-3")
DAY = 19_000


class Book:
    """The ratings of a pool as a recalculation leaves them, kept in this process instead of in Redis."""

    def __init__(self) -> None:
        self.timelines: dict[str, dict[int, DayEnd]] = {}
        self.days: dict[tuple[str, int], list[Entry]] = {}

    def put(self, *added: RatedResult, removed: tuple[RatedResult, ...] = ()) -> None:
        """Put results in and out in one go."""
        recalculation = RatingRecalculation(
            "bashni-2",
            lambda _, player: dict(self.timelines.get(player, {})),
            lambda _, player, day: list(self.days.get((player, day), [])),
        )
        recalculation.replace(removed, added)
        for player, day, end, entries in recalculation.changes():
            self.timelines.setdefault(player, {}).pop(day, None)
            if end is not None:
                self.timelines[player][day] = end
            self.days[player, day] = entries
        self.timelines = {player: days for player, days in self.timelines.items() if days}
        self.days = {place: entries for place, entries in self.days.items() if entries}

    def after(self, player: str, day: int) -> Rating:
        """Return a player's rating after a day on which he has played."""
        return self.timelines[player][day].rating


def result(number: int, first: str, second: str, score: float, day: int = DAY, second_of_day: int = 0) -> RatedResult:
    """Return a result of two players."""
    at = day * DAY_MS + second_of_day * 1000
    return RatedResult(f"m{number}", "bashni-2", at, (first, second), (score, 1 - score))


def season(seed: int, size: int) -> list[RatedResult]:
    """Return results over some days, several of them at the same instant."""
    chance = Random(seed)

    def players() -> tuple[str, str]:
        first, second = chance.sample(PLAYERS, 2)
        return first, second

    return [
        result(
            number,
            *players(),
            chance.choice((0.0, 0.5, 1.0)),
            DAY + chance.randrange(6),
            chance.randrange(4),
        )
        for number in range(size)
    ]


def test_a_day_is_one_rating_period() -> None:
    book = Book()
    book.put(result(1, "alice", "bob", 1.0), result(2, "carol", "alice", 1.0, second_of_day=1))
    assert book.after("alice", DAY) == rate(DEFAULT, [Result(DEFAULT, 1.0), Result(DEFAULT, 0.0)])
    assert book.after("bob", DAY) == rate(DEFAULT, [Result(DEFAULT, 0.0)])


def test_everybody_is_rated_as_at_the_start_of_the_day() -> None:
    book = Book()
    book.put(result(1, "alice", "bob", 1.0), result(2, "alice", "carol", 1.0, DAY + 1))
    alice, carol = book.after("alice", DAY), DEFAULT
    assert book.after("carol", DAY + 1) == rate(carol, [Result(alice, 0.0)])
    assert book.after("alice", DAY + 1) == rate(alice, [Result(carol, 1.0)])


def test_a_deviation_grows_over_days_without_matches() -> None:
    book = Book()
    book.put(result(1, "alice", "bob", 1.0), result(2, "alice", "bob", 1.0, DAY + 30))
    alice, bob = rest(book.after("alice", DAY), 29), rest(book.after("bob", DAY), 29)
    assert book.after("alice", DAY + 30) == rate(alice, [Result(bob, 1.0)])
    assert book.timelines["alice"][DAY].at_start_of(DAY + 1) == book.after("alice", DAY)


def test_every_match_of_a_day_has_the_rating_after_it() -> None:
    book = Book()
    book.put(result(1, "alice", "bob", 1.0), result(2, "alice", "carol", 0.5, second_of_day=9))
    first, second = book.days["alice", DAY]
    assert first.after == rate(DEFAULT, [Result(DEFAULT, 1.0)])
    assert second.after == book.after("alice", DAY)


def test_a_late_result_moves_those_who_met_its_players_later() -> None:
    late = result(3, "alice", "bob", 1.0, DAY)
    others = [result(1, "alice", "carol", 1.0, DAY + 1), result(2, "carol", "opponent-3", 0.5, DAY + 2)]
    in_order, late_comer = Book(), Book()
    in_order.put(late, *others)
    late_comer.put(*others)
    before = late_comer.after("opponent-3", DAY + 2)
    late_comer.put(late)
    assert late_comer.after("opponent-3", DAY + 2) != before
    assert (late_comer.timelines, late_comer.days) == (in_order.timelines, in_order.days)


def test_a_late_result_leaves_those_alone_who_have_nothing_to_do_with_it() -> None:
    recalculation = RatingRecalculation("bashni-2")
    recalculation.replace([], [result(1, "alice", "bob", 1.0), result(2, "carol", "opponent-3", 1.0)])
    assert {player for player, *_ in recalculation.changes()} == {"alice", "bob", "carol", "opponent-3"}
    book = Book()
    book.put(result(1, "alice", "bob", 1.0), result(2, "carol", "opponent-3", 1.0, DAY + 1))
    again = RatingRecalculation(
        "bashni-2", lambda _, player: book.timelines.get(player, {}), lambda _, *of: book.days.get(of, [])
    )
    again.replace([], [result(3, "bob", "alice", 1.0, DAY, 5)])
    assert {player for player, *_ in again.changes()} == {"alice", "bob"}


@given(seed=st.integers(0, 10_000), batches=st.lists(st.integers(0, 23), max_size=6))
def test_any_order_and_any_batches_of_arrival_give_the_same_ratings(seed: int, batches: list[int]) -> None:
    results = season(seed, 24)
    expected = Book()
    expected.put(*results)
    shuffled = list(results)
    Random(seed + 1).shuffle(shuffled)
    book = Book()
    for start, end in pairwise([0, *sorted(batches), len(shuffled)]):
        book.put(*shuffled[start:end])
    assert (book.timelines, book.days) == (expected.timelines, expected.days)


@given(seed=st.integers(0, 10_000))
def test_results_that_are_taken_out_again_leave_no_trace(seed: int) -> None:
    results = season(seed, 12)
    undone = Random(seed).sample(results, 5)
    expected, book = Book(), Book()
    expected.put(*(each for each in results if each not in undone))
    book.put(*results)
    book.put(removed=tuple(undone))
    assert (book.timelines, book.days) == (expected.timelines, expected.days)


def test_four_seats_are_rated_pairwise() -> None:
    book = Book()
    book.put(RatedResult("m1", "towers-4", DAY * DAY_MS, ("a", "b", "c", "d"), (1.0, 0.0, 0.0, 0.0)))
    assert book.after("a", DAY) == rate(DEFAULT, [Result(DEFAULT, 1.0)] * 3)
    assert book.after("b", DAY) == book.after("d", DAY)


def test_a_timeline_counts_the_matches_and_knows_the_last() -> None:
    book = Book()
    book.put(result(1, "alice", "bob", 1.0), result(2, "alice", "bob", 1.0), result(3, "alice", "bob", 1.0, DAY + 2, 7))
    shown = book.timelines["alice"][DAY + 2].player_rating("alice", "bashni-2", DAY + 2)
    assert (shown.matches, shown.updated_at) == (3, (DAY + 2) * DAY_MS + 7000)
    assert shown.rating == pytest.approx(book.after("alice", DAY + 2).rating)


def test_a_rating_is_provisional_until_its_deviation_is_small_and_again_after_a_long_rest() -> None:
    few, many = DayEnd(DAY, Rating(1500, 111, 0.06), 3, 0), DayEnd(DAY, Rating(1500, 60, 0.06), 90, 0)
    assert few.player_rating("alice", "p", DAY).provisional
    assert not many.player_rating("alice", "p", DAY).provisional
    assert many.player_rating("alice", "p", DAY + 3000).provisional
