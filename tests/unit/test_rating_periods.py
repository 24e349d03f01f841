"""Ratings by day: a function of the results, whatever the order and the batches in which they arrive."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given, strategies as st

from domain.rating import DEFAULT, PeriodSums, Rating, Result, rate, rest
from events.matches.readmodels import recalculation, standings
from events.matches.readmodels.standings import (
    DayEnd,
    DayEntry,
    DayPart,
    pack_end,
    pack_part,
    rating_at_start,
    unpack_end,
    unpack_part,
)
from events.matches.readmodels.summary import DAY_MS, RatedResult
from tests.support.rating_book import RatingBook

PLAYERS = ("alice", "bob", "carol", "opponent-3")
DAY = 19_000


def new_book(*results: RatedResult) -> RatingBook:
    """Return the ratings of a pool with ``results``."""
    book = RatingBook("bashni-2")
    book.put(*results)
    return book


def result(number: int, first: str, second: str, score: float, day: int = DAY, second_of_day: int = 0) -> RatedResult:
    at = day * DAY_MS + second_of_day * 1000
    return RatedResult(f"m{number}", "bashni-2", at, (first, second), (score, 1 - score))


def season(seed: int, size: int) -> list[RatedResult]:
    """Return results over some days, several of them at the same instant."""
    chance = Random(seed)

    def players() -> tuple[str, str]:
        first, second = chance.sample(PLAYERS, 2)
        return first, second

    return [
        result(number, *players(), chance.choice((0.0, 0.5, 1.0)), DAY + chance.randrange(6), chance.randrange(4))
        for number in range(size)
    ]


def as_defined(
    results: Iterable[RatedResult],
) -> tuple[dict[str, dict[int, DayEnd]], dict[tuple[str, int], list[DayEntry]]]:
    """Return timelines and days as they are defined: each rating from all results of the day until then."""
    timelines: dict[str, dict[int, DayEnd]] = defaultdict(dict)
    days: dict[tuple[str, int], list[DayEntry]] = {}
    for day in sorted({each.day for each in results}):
        played: dict[str, list[RatedResult]] = defaultdict(list)
        for each in sorted((each for each in results if each.day == day), key=lambda each: (each.at, each.match)):
            for player in each.results():
                played[player].append(each)
        before = {player: timeline[max(timeline)] for player, timeline in timelines.items()}
        for player, matches in played.items():
            start = rating_at_start(before.get(player), day)
            met: list[Result] = []
            entries = []
            for each in matches:
                scores = each.results()[player]
                met += [Result(rating_at_start(before.get(other), day), score) for other, score in scores]
                entries.append(DayEntry(each.at, each.match, scores, rate(start, met)))
            count = (before[player].matches if player in before else 0) + len(entries)
            timelines[player][day] = DayEnd(day, entries[-1].after, count, entries[-1].at)
            days[player, day] = entries
    return dict(timelines), days


@contextmanager
def parts_of(matches: int) -> Iterator[None]:
    """Store days in parts of ``matches`` matches."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (standings, recalculation):
            patch.setattr(module, "MAX_ENTRIES_PER_PART", matches)
        yield


def assert_defined(book: RatingBook, results: list[RatedResult]) -> None:
    """Check everything that is stored of ratings against its definition."""
    timelines, days = as_defined(results)
    assert (book.timelines, book.days, book.unsettled) == (timelines, days, set())
    assert book.leaderboard == {player: ends[max(ends)].rating.rating for player, ends in timelines.items()}
    for (player, day), entries in days.items():
        start = rating_at_start(max((end for end in timelines[player].values() if end.day < day), default=None), day)
        after = [entry.after.rating for entry in entries]
        assert book.changes(player, day) == list(zip([start.rating, *after[:-1]], after, strict=True))


def test_a_day_is_one_rating_period() -> None:
    book = new_book()
    book.put(result(1, "alice", "bob", 1.0), result(2, "carol", "alice", 1.0, second_of_day=1))
    assert book.after("alice", DAY) == rate(DEFAULT, [Result(DEFAULT, 1.0), Result(DEFAULT, 0.0)])
    assert book.after("bob", DAY) == rate(DEFAULT, [Result(DEFAULT, 0.0)])


def test_everybody_is_rated_as_at_the_start_of_the_day() -> None:
    book = new_book()
    book.put(result(1, "alice", "bob", 1.0), result(2, "alice", "carol", 1.0, DAY + 1))
    alice, carol = book.after("alice", DAY), DEFAULT
    assert book.after("carol", DAY + 1) == rate(carol, [Result(alice, 0.0)])
    assert book.after("alice", DAY + 1) == rate(alice, [Result(carol, 1.0)])


def test_a_deviation_grows_over_days_without_matches() -> None:
    book = new_book()
    book.put(result(1, "alice", "bob", 1.0), result(2, "alice", "bob", 1.0, DAY + 30))
    alice, bob = rest(book.after("alice", DAY), 29), rest(book.after("bob", DAY), 29)
    assert book.after("alice", DAY + 30) == rate(alice, [Result(bob, 1.0)])
    assert book.timelines["alice"][DAY].at_start_of(DAY + 1) == book.after("alice", DAY)


def test_every_match_of_a_day_has_the_rating_after_it() -> None:
    book = new_book()
    book.put(result(1, "alice", "bob", 1.0), result(2, "alice", "carol", 0.5, second_of_day=9))
    first, second = book.days["alice", DAY]
    assert first.after == rate(DEFAULT, [Result(DEFAULT, 1.0)])
    assert second.after == book.after("alice", DAY)


def test_a_late_result_moves_those_who_met_its_players_later() -> None:
    late = result(3, "alice", "bob", 1.0, DAY)
    others = [result(1, "alice", "carol", 1.0, DAY + 1), result(2, "carol", "opponent-3", 0.5, DAY + 2)]
    in_order, late_comer = new_book(), new_book()
    in_order.put(late, *others)
    late_comer.put(*others)
    before = late_comer.after("opponent-3", DAY + 2)
    late_comer.put(late)
    assert late_comer.after("opponent-3", DAY + 2) != before
    assert (late_comer.timelines, late_comer.days) == (in_order.timelines, in_order.days)


def test_a_late_result_leaves_those_alone_who_have_nothing_to_do_with_it() -> None:
    book = new_book(result(1, "alice", "bob", 1.0), result(2, "carol", "opponent-3", 1.0, DAY + 1))
    book.rated = 0
    book.put(result(3, "bob", "alice", 1.0, DAY, 5))
    assert book.rated == 2, "the new match, for alice and for bob"


@given(seed=st.integers(0, 10_000), batches=st.lists(st.integers(0, 23), max_size=6))
def test_any_order_and_any_batches_of_arrival_give_the_same_ratings(seed: int, batches: list[int]) -> None:
    results = season(seed, 24)
    expected = new_book()
    expected.put(*results)
    shuffled = list(results)
    Random(seed + 1).shuffle(shuffled)
    book = new_book()
    for start, end in pairwise([0, *sorted(batches), len(shuffled)]):
        book.put(*shuffled[start:end])
    assert (book.timelines, book.days) == (expected.timelines, expected.days)


@given(seed=st.integers(0, 10_000))
def test_results_that_are_taken_out_again_leave_no_trace(seed: int) -> None:
    results = season(seed, 12)
    undone = Random(seed).sample(results, 5)
    expected, book = new_book(), new_book()
    expected.put(*(each for each in results if each not in undone))
    book.put(*results)
    book.put(removed=tuple(undone))
    assert (book.timelines, book.days) == (expected.timelines, expected.days)


@given(seed=st.integers(0, 10_000), part=st.integers(1, 5), step=st.sampled_from([1, 5, 2000]))
def test_any_steps_in_and_out_give_the_ratings_as_they_are_defined(seed: int, part: int, step: int) -> None:
    chance, book = Random(seed), new_book()
    inside: list[RatedResult] = []
    outside = season(seed, 30)
    with parts_of(part):
        while outside:
            added = [outside.pop() for _ in range(min(len(outside), chance.randrange(1, 9)))]
            removed = chance.sample(inside, min(len(inside), chance.randrange(3)))
            inside = [each for each in inside if each not in removed] + added
            # Later results come in before what depends on the earlier ones is settled.
            if chance.random() < 0.5:
                book.step(added, removed, step)
            else:
                book.put(*added, removed=tuple(removed), step=step)
        book.put(step=step)
    assert_defined(book, inside)


def test_one_more_match_at_the_end_of_a_long_day_writes_the_last_part_only() -> None:
    results = [result(number, "alice", f"p{number}", 1.0, second_of_day=number) for number in range(1000)]
    book = new_book(*results)
    before = dict(book.stored_parts["alice", DAY])
    book.rated = 0
    book.put(result(1000, "alice", "bob", 0.0, second_of_day=1000))
    after = book.stored_parts["alice", DAY]
    assert [number for number, part in after.items() if before.get(number) is not part] == [15]
    assert book.rated == 2


def test_a_part_is_read_as_it_was_written() -> None:
    book = new_book(*(result(number, "alice", "bob", 1.0, second_of_day=number) for number in range(70)))
    for number, part in book.stored_parts["alice", DAY].items():
        assert unpack_part(pack_part(part, number), number) == part
    assert unpack_part(None, 0) is None
    assert unpack_part(b"[]", 0) == DayPart(PeriodSums(), ())


def test_four_seats_are_rated_pairwise() -> None:
    won = RatedResult("m1", "towers-4", DAY * DAY_MS, ("a", "b", "c", "d"), (1.0, 0.0, 0.0, 0.0))
    book = RatingBook("towers-4")
    book.put(won)
    assert book.after("a", DAY) == rate(DEFAULT, [Result(DEFAULT, 1.0, 0.5)] * 3)
    assert book.after("b", DAY) == rate(DEFAULT, [Result(DEFAULT, 0.0, 0.5)])
    assert book.after("b", DAY) == book.after("d", DAY)


def test_a_timeline_counts_the_matches_and_knows_the_last() -> None:
    book = new_book()
    book.put(result(1, "alice", "bob", 1.0), result(2, "alice", "bob", 1.0), result(3, "alice", "bob", 1.0, DAY + 2, 7))
    shown = book.timelines["alice"][DAY + 2].player_rating("alice", "bashni-2", DAY + 2)
    assert (shown.matches, shown.updated_at) == (3, (DAY + 2) * DAY_MS + 7000)
    assert shown.rating == pytest.approx(book.after("alice", DAY + 2).rating)


def test_a_rating_is_provisional_until_its_deviation_is_small_and_again_after_a_long_rest() -> None:
    few, many = DayEnd(DAY, Rating(1500, 111, 0.06), 3, 0), DayEnd(DAY, Rating(1500, 60, 0.06), 90, 0)
    assert few.player_rating("alice", "p", DAY).provisional
    assert not many.player_rating("alice", "p", DAY).provisional
    assert many.player_rating("alice", "p", DAY + 3000).provisional


def test_the_end_of_a_day_is_read_as_it_was_packed() -> None:
    end = DayEnd(DAY, Rating(1512.3456789012345, 87.65432109876543, 0.059999999999999), 7, 1_700_000_000_123)
    assert unpack_end(pack_end(end)) == end
    assert len(pack_end(end)) <= 64, "the server keeps it without pointers"
