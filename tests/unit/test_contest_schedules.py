"""Schedules recounted: meetings, seats, neighbours and opposites, by plain loops over the pairings."""

from collections import Counter
from itertools import combinations, permutations
from random import Random

import pytest
from hypothesis import given, strategies as st

from domain.contest.balance import balance_seats, count_balance
from domain.contest.schedules import Form, Pairing, field_size, rounds, schedule, sizes

EVERY = [(form, seats, size) for form in Form for seats in (2, 4) for size in sizes(form, seats)]


Pair = tuple[int, int]


def counts(
    pairings: list[Pairing], size: int
) -> tuple[Counter[frozenset[int]], Counter[Pair], Counter[Pair], Counter[Pair]]:
    """Return meetings by pair, seats by entrant, and by ordered pair who plays before whom and who sits opposite."""
    meetings: Counter[frozenset[int]] = Counter()
    taken: Counter[Pair] = Counter()
    before: Counter[Pair] = Counter()
    opposite: Counter[Pair] = Counter()
    for pairing in pairings:
        assert len(set(pairing)) == len(pairing)
        assert set(pairing) <= set(range(size))
        meetings.update(map(frozenset, combinations(pairing, 2)))
        taken.update((one, seat) for seat, one in enumerate(pairing))
        before.update(zip(pairing, pairing[1:] + pairing[:1], strict=True))
        if len(pairing) == 4:
            opposite.update([(pairing[0], pairing[2]), (pairing[2], pairing[0])])
            opposite.update([(pairing[1], pairing[3]), (pairing[3], pairing[1])])
    return meetings, taken, before, opposite


@pytest.mark.parametrize("size", sizes(Form.ALL_PLAY_ALL, 2))
def test_everybody_meets_everybody_once_and_begins_as_often_as_not(size: int) -> None:
    drawn = rounds(Form.ALL_PLAY_ALL, 2, size)
    meetings, taken, _, _ = counts([pairing for pairings in drawn for pairing in pairings], size)
    assert meetings == {frozenset(pair): 1 for pair in combinations(range(size), 2)}
    for one in range(size):
        assert abs(taken[one, 0] - taken[one, 1]) <= (1 - size % 2)
    for pairings in drawn:
        playing = [one for pairing in pairings for one in pairing]
        assert len(playing) == len(set(playing)) == size - size % 2


def test_the_schedule_for_six_is_the_printed_one() -> None:
    printed = "16 25 34 64 53 12 26 31 45 65 14 23 36 42 51"  # FIDE Handbook C.05, Annex 1: five or six players
    expected = {tuple(int(digit) - 1 for digit in pair) for pair in printed.split()}
    assert set(schedule(Form.ALL_PLAY_ALL, 2, 6)) == expected
    assert [set(pairings) for pairings in rounds(Form.ALL_PLAY_ALL, 2, 6)] == [
        {tuple(int(digit) - 1 for digit in pair) for pair in printed.split()[start : start + 3]}
        for start in range(0, 15, 3)
    ]


@pytest.mark.parametrize("size", sizes(Form.SHIFTED, 2))
def test_a_shifted_schedule_for_two_seats_gives_four_opponents_and_each_seat_twice(size: int) -> None:
    meetings, taken, _, _ = counts(list(schedule(Form.SHIFTED, 2, size)), size)
    assert set(meetings.values()) == {1}
    assert {taken[one, seat] for one in range(size) for seat in (0, 1)} == {2}


@pytest.mark.parametrize("size", sizes(Form.SHIFTED, 4))
def test_a_shifted_schedule_for_four_seats_gives_four_matches_and_each_seat_once(size: int) -> None:
    meetings, taken, _, _ = counts(list(schedule(Form.SHIFTED, 4, size)), size)
    assert {taken[one, seat] for one in range(size) for seat in range(4)} == {1}
    most = {5: 3, 6: 3, 7: 2, 8: 2, 9: 2, 10: 2, 11: 2, 12: 2}.get(size, 1)
    assert max(meetings.values()) == most
    if size <= 13:
        assert len(meetings) == size * (size - 1) // 2, "everybody meets everybody"
    else:
        assert {sum(one in pair for pair in meetings) for one in range(size)} == {12}


@pytest.mark.parametrize("size", sizes(Form.PERFECT, 4))
def test_a_perfect_schedule_has_everybody_once_before_once_behind_and_once_opposite_everybody(size: int) -> None:
    drawn = rounds(Form.PERFECT, 4, size)
    meetings, taken, before, opposite = counts([pairing for pairings in drawn for pairing in pairings], size)
    everybody_twice = dict.fromkeys(permutations(range(size), 2), 1)
    assert before == everybody_twice
    assert opposite == everybody_twice
    assert set(meetings.values()) == {3}
    assert {taken[one, seat] for one in range(size) for seat in range(4)} == {(size - 1) // 4}
    for left_out, pairings in enumerate(drawn):
        assert sorted(one for pairing in pairings for one in pairing) == [n for n in range(size) if n != left_out]


@pytest.mark.parametrize("size", sizes(Form.WHIST, 4))
def test_a_whist_schedule_has_everybody_in_every_round_and_once_opposite_everybody(size: int) -> None:
    drawn = rounds(Form.WHIST, 4, size)
    meetings, taken, before, opposite = counts([pairing for pairings in drawn for pairing in pairings], size)
    assert len(drawn) == size - 1
    assert set(meetings.values()) == {3}
    assert len(meetings) == size * (size - 1) // 2
    assert opposite == dict.fromkeys(permutations(range(size), 2), 1)
    assert max(before.values()) <= 2
    plain = {(size - 1) // 4, -(-(size - 1) // 4)}
    uneven = [one for one in range(size) if not {taken[one, seat] for seat in range(4)} <= plain]
    assert len(uneven) == (1 if size == 8 else 0), "among eight one person has a seat three times"
    for pairings in drawn:
        assert sorted(one for pairing in pairings for one in pairing) == list(range(size))


@pytest.mark.parametrize(("form", "seats", "size"), EVERY)
def test_the_counts_that_are_printed_are_those_recounted(form: Form, seats: int, size: int) -> None:
    pairings = schedule(form, seats, size)
    balance = count_balance(pairings, size)
    meetings, taken, before, opposite = counts(list(pairings), size)
    others = list(permutations(range(size), 2))
    assert balance.pairings == len(pairings)
    assert balance.meetings == span([meetings[frozenset(pair)] for pair in others])
    assert balance.seats == span([taken[one, seat] for one in range(size) for seat in range(seats)])
    assert balance.before == span([before[pair] for pair in others])
    assert balance.opposite == span([opposite[pair] for pair in others])


def span(numbers: list[int]) -> tuple[int, int]:
    return min(numbers), max(numbers)


@pytest.mark.parametrize(
    ("form", "seats", "entries", "size"),
    [
        (Form.PERFECT, 4, 4, 0),
        (Form.PERFECT, 4, 12, 9),
        (Form.WHIST, 4, 40, 16),
        (Form.SHIFTED, 4, 40, 40),
        (Form.ALL_PLAY_ALL, 2, 2, 0),
        (Form.ALL_PLAY_ALL, 4, 8, 0),
    ],
)
def test_as_many_people_play_as_the_form_has_a_schedule_for(form: Form, seats: int, entries: int, size: int) -> None:
    assert field_size(form, seats, entries) == size


def test_there_is_no_schedule_for_other_numbers() -> None:
    with pytest.raises(ValueError, match="no perfect schedule for 7 people at 4 seats"):
        schedule(Form.PERFECT, 4, 7)


@given(st.integers(4, 24), st.integers(1, 40), st.randoms(use_true_random=False))
def test_any_tables_can_have_seats_so_that_everybody_has_each_once_in_four_matches(
    people: int, number: int, random: Random
) -> None:
    tables = [tuple(random.sample(range(people), 4)) for _ in range(number)]
    seated = balance_seats(tables)
    assert [set(table) for table in seated] == [set(table) for table in tables]
    for one in range(people):
        seats = [table.index(one) for table in seated if one in table]
        for start in range(0, len(seats), 4):
            four = seats[start : start + 4]
            assert len(set(four)) == len(four)
