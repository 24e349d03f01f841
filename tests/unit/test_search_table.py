"""The transposition table: bounded, and the same in every process."""

import random

from domain.search.table import EXACT, LOWER_BOUND, UPPER_BOUND, Table
from domain.search.values import WIN


def test_a_value_decides_a_window_by_its_bound() -> None:
    table: Table[str] = Table()
    table.store("exact", 3, 10, 0, 20, 0, "move")
    table.store("at least", 3, 30, 0, 20, 0, "move")
    table.store("at most", 3, -5, 0, 20, 0, None)
    exact, lower, upper = (table.get(key) for key in ("exact", "at least", "at most"))
    assert exact is not None
    assert lower is not None
    assert upper is not None
    assert (exact.bound, lower.bound, upper.bound) == (EXACT, LOWER_BOUND, UPPER_BOUND)
    assert exact.value_within(3, -1, 1, 0) == 10
    assert exact.value_within(4, -1, 1, 0) is None
    assert (lower.value_within(3, 0, 30, 0), lower.value_within(3, 0, 31, 0)) == (30, None)
    assert (upper.value_within(3, -5, 0, 0), upper.value_within(3, -6, 0, 0)) == (-5, None)


def test_a_win_is_counted_from_where_it_is_seen() -> None:
    table: Table[str] = Table()
    table.store("mate", 2, WIN - 7, -WIN, WIN, 4, None)
    entry = table.get("mate")
    assert entry is not None
    assert entry.value_within(0, -WIN, WIN, 6) == WIN - 9


def test_a_table_is_bounded_and_keeps_what_is_used() -> None:
    table: Table[int] = Table(max_entries=10)
    for number in range(1_000):
        table.store(number, number % 3, number, 0, 2_000, 0, None)
        if number >= 1:
            assert table.get(1) is not None
        assert len(table) <= 40
    assert table.get(500) is None


def test_leaves_do_not_replace_deeper_results() -> None:
    table: Table[int] = Table(max_entries=10)
    table.store("deep", 5, 1, 0, 2, 0, 7)
    for number in range(100):
        table.store(number, 0, 1, 0, 2, 0, None)
    entry = table.get("deep")
    assert entry is not None
    assert entry.move == 7


def test_the_same_use_leaves_the_same_entries() -> None:
    def entries(seed: int) -> list[bool]:
        chance, table = random.Random(seed), Table[int](max_entries=16)
        for _ in range(500):
            key = f"position {chance.randrange(60)}"
            if table.get(key) is None:
                table.store(key, chance.randrange(3), 0, -1, 1, 0, None)
        return [table.get(f"position {number}") is not None for number in range(60)]

    assert entries(3) == entries(3)
