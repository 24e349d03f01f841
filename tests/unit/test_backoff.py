"""Delays that grow with every failure in a row."""

from events.runtime.backoff import Backoff


def test_delays_double_up_to_the_longest() -> None:
    backoff = Backoff(first=0.5, longest=3)
    assert [backoff.after(failures) for failures in (1, 2, 3, 4, 5)] == [0.5, 1.0, 2.0, 3, 3]


def test_whole_milliseconds_stay_whole() -> None:
    assert Backoff(10_000, 600_000).after(3) == 40_000


def test_any_number_of_failures_has_a_delay() -> None:
    assert Backoff(0.1, 10.0).after(1_000_000) == 10.0
