"""Webhooks are sent again by the schedule of the specification, cut to the clock of the match."""

from itertools import accumulate

import pytest
from hypothesis import given, strategies as st

from events.notify.webhooks.retries import (
    DELAYS_MS,
    HOLD_MS,
    HOUR_MS,
    MAX_JITTER,
    MAX_REFUSALS_AT_ONCE,
    MAX_RETRY_AFTER_MS,
    MIN_DELAY_MS,
    MINUTE_MS,
    SECOND_MS,
    Retry,
    held_until,
    next_attempt,
    retry_after_ms,
    within_time,
)
from events.runtime.backoff import Backoff
from tests.support.matches import T0
from tests.support.tables import table

DAY_MS = 24 * HOUR_MS


def test_the_schedule_is_that_of_the_specification() -> None:
    since_start = list(accumulate(DELAYS_MS))
    assert since_start[:3] == [5 * SECOND_MS, 305 * SECOND_MS, 35 * MINUTE_MS + 5 * SECOND_MS]
    assert since_start[-1] == 75 * HOUR_MS + 35 * MINUTE_MS + 5 * SECOND_MS


@given(st.text(max_size=20), st.integers(1, len(DELAYS_MS)))
def test_each_delay_has_jitter_that_is_the_same_when_it_is_asked_for_again(id: str, attempts: int) -> None:
    retry = next_attempt(id, attempts, T0, T0)
    assert retry == next_attempt(id, attempts, T0, T0)
    delay = retry.due - T0
    assert DELAYS_MS[attempts - 1] <= delay <= DELAYS_MS[attempts - 1] * (1 + MAX_JITTER)
    assert not retry.tell_by_mail


def test_receivers_are_not_called_by_all_at_once() -> None:
    assert len({next_attempt(str(number), 3, T0, T0).due for number in range(50)}) > 40


def test_after_the_last_attempt_the_player_is_told_by_mail() -> None:
    assert next_attempt("n", len(DELAYS_MS) + 1, T0, T0) == Retry(None, True)


def test_an_attempt_is_not_later_than_half_of_the_time_to_move() -> None:
    deadline = T0 + HOUR_MS
    assert next_attempt("n", 4, T0, T0 + MINUTE_MS, deadline=deadline) == Retry(T0 + HOUR_MS // 2, False)


def test_when_half_of_the_time_has_passed_the_player_is_told_by_mail_and_the_attempts_go_on() -> None:
    deadline = T0 + 2 * DAY_MS
    retry = next_attempt("n", 3, T0, T0 + DAY_MS, deadline=deadline)
    assert retry.tell_by_mail
    assert T0 + DAY_MS < retry.due < deadline


def test_nothing_is_sent_behind_the_deadline() -> None:
    assert next_attempt("n", 8, T0, T0 + DAY_MS, deadline=T0 + DAY_MS + HOUR_MS) == Retry(None, True)
    assert next_attempt("n", 1, T0, T0 + DAY_MS, deadline=T0 + DAY_MS) == Retry(None, True)


@given(st.integers(1, 12), st.integers(0, 40 * DAY_MS), st.integers(1, 20 * DAY_MS), st.integers(0, 2 * DAY_MS))
def test_attempts_come_to_an_end_and_mail_comes_in_time(attempts: int, late: int, time: int, asked: int) -> None:
    now, deadline = T0 + late, T0 + time
    retry = next_attempt("n", attempts, T0, now, deadline=deadline, retry_after_ms=asked)
    if retry.due is None:
        assert retry.tell_by_mail
    else:
        assert retry.due >= now + MIN_DELAY_MS
        if not retry.tell_by_mail:
            assert retry.due <= max(T0 + time // 2, now + MIN_DELAY_MS)


def test_the_receiver_may_ask_for_more_time() -> None:
    assert next_attempt("n", 1, T0, T0, retry_after_ms=HOUR_MS).due == T0 + HOUR_MS
    assert next_attempt("n", 1, T0, T0, retry_after_ms=30 * DAY_MS).due == T0 + MAX_RETRY_AFTER_MS


@pytest.mark.parametrize(("header", "wait"), table(__file__, "retry after is read as seconds or as a date"))
def test_retry_after_is_read_as_seconds_or_as_a_date(header: str | None, wait: int) -> None:
    assert retry_after_ms(header, T0) == wait


def test_a_receiver_that_asks_for_fewer_requests_gets_none_for_a_while() -> None:
    assert held_until(429, 1, 0, T0) == T0 + HOLD_MS
    assert held_until(502, 1, 7_000, T0) == T0 + 7_000
    assert held_until(500, 1, 7_000, T0) is None
    assert held_until(404, MAX_REFUSALS_AT_ONCE, 0, T0) is None


def test_a_receiver_that_does_not_answer_is_called_less_and_less_often() -> None:
    waits = [held_until(None, failures, 0, T0) - T0 for failures in range(1, 9)]
    assert waits == [5_000, 10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000]


def test_a_wait_that_the_receiver_has_asked_for_is_cut_to_the_clock_of_the_match() -> None:
    assert within_time(T0 + DAY_MS, T0, T0, None) == Retry(T0 + DAY_MS, False)
    assert within_time(T0 + DAY_MS, T0, T0, T0 + HOUR_MS) == Retry(T0 + HOUR_MS // 2, False)
    assert within_time(T0 + DAY_MS, T0, T0 + HOUR_MS // 2, T0 + HOUR_MS) == Retry(None, True)


def test_a_receiver_that_refuses_everything_is_left_alone_for_longer_and_longer() -> None:
    waits = [(held_until(404, MAX_REFUSALS_AT_ONCE + further, 0, T0) or 0) - T0 for further in range(1, 20)]
    assert waits == sorted(waits)
    assert (waits[0], waits[-1]) == (5_000, 300_000)


def test_delays_double_up_to_the_longest() -> None:
    backoff = Backoff(first=0.5, longest=3)
    assert [backoff.after(failures) for failures in (1, 2, 3, 4, 5)] == [0.5, 1.0, 2.0, 3, 3]


def test_whole_milliseconds_stay_whole() -> None:
    assert Backoff(10_000, 600_000).after(3) == 40_000


def test_any_number_of_failures_has_a_delay() -> None:
    assert Backoff(0.1, 10.0).after(1_000_000) == 10.0
