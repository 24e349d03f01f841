"""The clocks of a match: whose flag falls when, and that no pause, gift or change of calendar ever costs time."""

import pytest

from domain.match.calendar import Calendar, Offset
from domain.match.clock import (
    Clock,
    Forecast,
    Pause,
    falls_at,
    forecast,
    forgive,
    give,
    left,
    move,
    new_clock,
    pass_turn,
    pause,
    pauses_at,
    resume,
    start,
    stop,
)
from domain.match.clock_words import in_words
from domain.match.enums import FlagRule, Limit, PauseReason
from domain.match.terms import DAY, HOUR, MAX_UNCLAIMED_MS, MINUTE, STANDARD, Terms, days_per_move
from tests.support.zones import set_calendar

MONDAY = 1_704_067_200_000
"""2024-01-01, midnight UTC, a Monday."""

WEEKENDS_OFF = Calendar((Offset(0, 0),), (5, 6))
THREE_DAYS = days_per_move(3)


def running(terms: Terms = STANDARD, at: int = MONDAY) -> Clock:
    """Return the clocks of two seats that have made their first moves by ``at``, the first seat to move."""
    clock = move(start(new_clock(terms, 2), 0, at), 0, 1, at)
    return move(clock, 1, 0, at)


def expected(clock: Clock) -> Forecast:
    found = forecast(clock)
    assert found is not None
    return found


def test_no_flag_falls_before_the_start_nor_after_the_end() -> None:
    assert forecast(new_clock(STANDARD, 2)) is None
    assert falls_at(stop(running(), MONDAY + DAY)) is None
    assert in_words(new_clock(STANDARD, 2), MONDAY, "White") == ()


def test_days_per_move_begin_anew_with_every_move() -> None:
    clock = running(THREE_DAYS)
    assert forecast(clock) == Forecast(seat=0, at=MONDAY + 3 * DAY, limit=Limit.TIME)
    clock = move(clock, 0, 1, MONDAY + 2 * DAY)
    assert forecast(clock) == Forecast(seat=1, at=MONDAY + 5 * DAY, limit=Limit.TIME)
    clock = move(clock, 1, 0, MONDAY + 2 * DAY + 1)
    assert forecast(clock) == Forecast(seat=0, at=MONDAY + 5 * DAY + 1, limit=Limit.TIME)


def test_a_bank_is_spent_gets_an_increment_after_the_move_and_saves_up_to_the_cap() -> None:
    clock = running(STANDARD._replace(bank=10 * DAY, increment=DAY, cap=12 * DAY))
    assert clock.remaining == (11 * DAY, 11 * DAY)
    clock = move(clock, 0, 1, MONDAY + 4 * DAY)
    assert clock.remaining == (8 * DAY, 11 * DAY)
    clock = move(move(clock, 1, 0, MONDAY + 4 * DAY), 0, 1, MONDAY + 4 * DAY)
    clock = move(clock, 1, 0, MONDAY + 4 * DAY)
    assert clock.remaining == (9 * DAY, 12 * DAY)
    assert forecast(clock) == Forecast(seat=0, at=MONDAY + 13 * DAY, limit=Limit.TIME)


def test_a_single_move_takes_no_longer_than_the_ceiling_however_much_is_banked() -> None:
    clock = running(STANDARD._replace(ceiling=2 * DAY))
    assert forecast(clock) == Forecast(seat=0, at=MONDAY + 2 * DAY, limit=Limit.CEILING)
    assert forecast(give(clock, 0, 5 * DAY)) == forecast(clock)
    clock = move(clock, 0, 1, MONDAY + DAY)
    assert forecast(clock) == Forecast(seat=1, at=MONDAY + 3 * DAY, limit=Limit.CEILING)


def test_the_first_move_of_each_seat_has_a_deadline_of_its_own() -> None:
    clock = start(new_clock(STANDARD, 2), 0, MONDAY)
    assert forecast(clock) == Forecast(seat=0, at=MONDAY + 7 * DAY, limit=Limit.FIRST_MOVE)
    clock = move(clock, 0, 1, MONDAY + DAY)
    assert forecast(clock) == Forecast(seat=1, at=MONDAY + 8 * DAY, limit=Limit.FIRST_MOVE)
    clock = move(clock, 1, 0, MONDAY + DAY)
    assert expected(clock).limit == Limit.TIME


def test_a_first_move_is_never_due_later_than_the_time_there_is() -> None:
    clock = start(new_clock(days_per_move(2), 2), 0, MONDAY)
    assert forecast(clock) == Forecast(seat=0, at=MONDAY + 2 * DAY, limit=Limit.FIRST_MOVE)
    assert "within 2 days" in in_words(clock, MONDAY, "White")[0]


def test_a_flag_that_nobody_claims_falls_by_itself_much_later_but_a_first_move_is_due_at_once() -> None:
    by_claim = STANDARD._replace(flag=FlagRule.CLAIM)
    clock = running(by_claim)
    at = expected(clock).at
    assert at is not None
    assert falls_at(clock) == at + MAX_UNCLAIMED_MS
    assert falls_at(start(new_clock(by_claim, 2), 0, MONDAY)) == MONDAY + 7 * DAY


def test_a_pause_moves_the_flag_by_its_length() -> None:
    clock = pause(
        running(THREE_DAYS), Pause(reason=PauseReason.VACATION, seat=0, since=MONDAY + DAY, until=MONDAY + 8 * DAY)
    )
    assert expected(clock).at == MONDAY + 10 * DAY
    assert left(clock, 0, MONDAY + 4 * DAY) == left(clock, 0, MONDAY + DAY) == 2 * DAY


def test_a_pause_of_one_seat_does_not_stop_another_and_a_pause_of_all_does() -> None:
    clock = running(THREE_DAYS)
    assert (
        expected(pause(clock, Pause(reason=PauseReason.VACATION, seat=1, since=MONDAY, until=MONDAY + 8 * DAY))).at
        == MONDAY + 3 * DAY
    )
    assert (
        expected(pause(clock, Pause(reason=PauseReason.OUTAGE, seat=None, since=MONDAY, until=MONDAY + 8 * DAY))).at
        == MONDAY + 11 * DAY
    )


def test_pauses_that_overlap_count_once() -> None:
    clock = pause(
        running(THREE_DAYS), Pause(reason=PauseReason.VACATION, seat=0, since=MONDAY + DAY, until=MONDAY + 3 * DAY)
    )
    clock = pause(clock, Pause(reason=PauseReason.OUTAGE, seat=None, since=MONDAY + 2 * DAY, until=MONDAY + 4 * DAY))
    assert expected(clock).at == MONDAY + 6 * DAY


def test_while_a_pause_has_no_end_no_flag_falls_and_when_it_ends_the_time_goes_on() -> None:
    clock = pause(running(THREE_DAYS), Pause(reason=PauseReason.ARBITER, seat=None, since=MONDAY + DAY, until=None))
    assert forecast(clock) == Forecast(seat=0, at=None, limit=Limit.TIME)
    assert falls_at(clock) is None
    assert expected(resume(clock, PauseReason.ARBITER, None, MONDAY + 9 * DAY)).at == MONDAY + 11 * DAY


def test_ending_a_pause_cancels_those_ahead_and_leaves_other_reasons_alone() -> None:
    clock = pause(
        running(THREE_DAYS), Pause(reason=PauseReason.VACATION, seat=0, since=MONDAY + DAY, until=MONDAY + 2 * DAY)
    )
    clock = pause(clock, Pause(reason=PauseReason.ARBITER, seat=0, since=MONDAY, until=MONDAY + DAY))
    assert expected(resume(clock, PauseReason.VACATION, 0, MONDAY)).at == MONDAY + 4 * DAY
    assert resume(clock, PauseReason.VACATION, 1, MONDAY) == clock


def test_free_days_do_not_count() -> None:
    clock = set_calendar(running(THREE_DAYS, MONDAY + 3 * DAY), 0, WEEKENDS_OFF, MONDAY)
    assert expected(clock).at == MONDAY + 8 * DAY
    assert left(clock, 0, MONDAY + 6 * DAY) == DAY
    off = running(THREE_DAYS._replace(weekends=False), MONDAY + 3 * DAY)
    assert expected(set_calendar(off, 0, WEEKENDS_OFF, MONDAY)).at == MONDAY + 6 * DAY


def test_whose_time_is_up_the_instant_a_pause_begins_has_until_the_pause_ends() -> None:
    clock = running(THREE_DAYS)
    assert (
        expected(
            pause(clock, Pause(reason=PauseReason.VACATION, seat=0, since=MONDAY + 3 * DAY, until=MONDAY + 4 * DAY))
        ).at
        == MONDAY + 4 * DAY
    )
    friday = running(days_per_move(1), MONDAY + 4 * DAY)
    assert expected(set_calendar(friday, 0, WEEKENDS_OFF, MONDAY + 4 * DAY)).at == MONDAY + 7 * DAY


def test_changing_a_calendar_counts_from_then_on_only() -> None:
    clock = set_calendar(running(days_per_move(9), MONDAY), 0, WEEKENDS_OFF, MONDAY)
    assert expected(clock).at == MONDAY + 11 * DAY
    sunday = MONDAY + 6 * DAY
    clock = set_calendar(clock, 0, None, sunday)
    assert left(clock, 0, sunday) == 4 * DAY
    assert expected(clock).at == sunday + 4 * DAY
    clock = set_calendar(clock, 0, WEEKENDS_OFF, sunday + HOUR)
    assert expected(clock).at == sunday + DAY + 4 * DAY - HOUR


def test_changing_a_calendar_does_not_begin_the_time_of_a_move_anew() -> None:
    clock = set_calendar(running(STANDARD._replace(ceiling=3 * DAY)), 0, WEEKENDS_OFF, MONDAY + DAY)
    assert forecast(clock) == Forecast(seat=0, at=MONDAY + 3 * DAY, limit=Limit.CEILING)


def test_changing_a_calendar_when_time_is_up_does_not_put_the_claim_off() -> None:
    clock = running(STANDARD._replace(flag=FlagRule.CLAIM))
    deadline = expected(clock).at
    assert deadline is not None
    late = set_calendar(clock, 0, Calendar((Offset(0, 0),), (0, 1, 2)), deadline + 5 * DAY)
    assert expected(late).at == deadline
    assert falls_at(late) == deadline + MAX_UNCLAIMED_MS


def test_an_outage_that_is_recorded_late_counts_for_a_single_move_and_across_a_change_of_calendar() -> None:
    clock = running(STANDARD._replace(ceiling=3 * DAY))
    outage = Pause(reason=PauseReason.OUTAGE, seat=None, since=MONDAY, until=MONDAY + DAY)
    changed = set_calendar(clock, 0, WEEKENDS_OFF, MONDAY + 2 * DAY)
    assert expected(pause(changed, outage)).at == MONDAY + 4 * DAY


def test_an_outage_that_is_recorded_after_the_move_is_given_back() -> None:
    clock = move(running(), 0, 1, MONDAY + 3 * DAY)
    in_time = move(
        pause(running(), Pause(reason=PauseReason.OUTAGE, seat=None, since=MONDAY, until=MONDAY + 2 * DAY)),
        0,
        1,
        MONDAY + 3 * DAY,
    )
    late = pause(clock, Pause(reason=PauseReason.OUTAGE, seat=None, since=MONDAY, until=MONDAY + 2 * DAY))
    assert late.remaining == in_time.remaining == (11 * DAY, 11 * DAY)


def test_what_is_given_back_late_stays_above_the_cap_when_it_was_a_gift() -> None:
    generous = give(running(), 0, 15 * DAY)
    outage = Pause(reason=PauseReason.OUTAGE, seat=None, since=MONDAY, until=MONDAY + 2 * DAY)
    late = pause(move(generous, 0, 1, MONDAY + 3 * DAY), outage)
    assert late.remaining == move(pause(generous, outage), 0, 1, MONDAY + 3 * DAY).remaining


def test_a_gift_is_kept_above_the_cap_until_it_is_spent() -> None:
    clock = give(running(STANDARD._replace(cap=11 * DAY)), 0, 3 * DAY)
    assert expected(clock).at == MONDAY + 14 * DAY
    assert move(clock, 0, 1, MONDAY + HOUR).remaining[0] == 14 * DAY - HOUR


def test_who_is_passed_the_turn_without_a_move_has_the_whole_time_per_move() -> None:
    clock = pass_turn(running(THREE_DAYS), 1, MONDAY + 2 * DAY)
    assert forecast(clock) == Forecast(seat=1, at=MONDAY + 5 * DAY, limit=Limit.TIME)
    assert pass_turn(clock, 0, MONDAY + 2 * DAY).remaining == (3 * DAY, 3 * DAY)


def test_who_is_passed_the_turn_without_a_move_gets_no_increment() -> None:
    assert pass_turn(running(), 1, MONDAY + 2 * DAY).remaining == (9 * DAY, 11 * DAY)


def test_who_is_forgiven_has_three_days_or_the_time_of_a_move() -> None:
    flagged = stop(running(), MONDAY + 12 * DAY)
    assert flagged.remaining[0] == 0
    assert forecast(forgive(flagged, 0, 0, MONDAY + 13 * DAY)) == Forecast(
        seat=0, at=MONDAY + 16 * DAY, limit=Limit.TIME
    )
    flagged = stop(running(days_per_move(5)), MONDAY + 6 * DAY)
    assert forecast(forgive(flagged, 0, 0, MONDAY + 7 * DAY)) == Forecast(
        seat=0, at=MONDAY + 12 * DAY, limit=Limit.TIME
    )


def test_after_forgiveness_the_turn_of_the_other_seat_is_remembered() -> None:
    flagged = stop(move(running(), 0, 1, MONDAY + DAY), MONDAY + 20 * DAY)
    again = forgive(flagged, 1, 1, MONDAY + 21 * DAY)
    assert again.last_turns == (flagged.last_turns[0], None)
    assert again.remaining == (flagged.remaining[0], 3 * DAY)


def test_who_comes_back_leaves_what_else_stops_the_clocks_as_it_is() -> None:
    ruled = Pause(reason=PauseReason.ARBITER, seat=None, since=MONDAY, until=None)
    clock = pause(
        pause(running(), ruled), Pause(reason=PauseReason.VACATION, seat=0, since=MONDAY, until=MONDAY + 5 * DAY)
    )
    assert resume(clock, PauseReason.VACATION, 0, MONDAY + DAY).pauses == (
        ruled,
        Pause(reason=PauseReason.VACATION, seat=0, since=MONDAY, until=MONDAY + DAY),
    )
    assert resume(clock, PauseReason.VACATION, 0, MONDAY).pauses == (ruled,)


def test_what_stands_in_the_way_is_told_with_its_end() -> None:
    clock = set_calendar(running(), 0, WEEKENDS_OFF, MONDAY)
    clock = pause(clock, Pause(reason=PauseReason.VACATION, seat=0, since=MONDAY, until=MONDAY + 14 * DAY))
    saturday = MONDAY + 5 * DAY + HOUR
    assert pauses_at(clock, 0, saturday) == (
        Pause(reason=PauseReason.VACATION, seat=0, since=MONDAY, until=MONDAY + 14 * DAY),
        Pause(reason=PauseReason.WEEKEND, seat=0, since=saturday, until=MONDAY + 7 * DAY),
    )
    assert pauses_at(clock, 1, saturday) == ()
    assert in_words(clock, saturday, "White") == (
        "White has 11 days left and gets 1 day more after moving.",
        "The clock stands still for 8 days 23 hours more: vacation.",
        "The clock stands still for 1 day 23 hours more: a free day of the week.",
    )


@pytest.mark.parametrize(
    ("clock", "words"),
    [
        (running(THREE_DAYS), "White has 3 days left for this move."),
        (
            running(STANDARD._replace(ceiling=DAY)),
            "White has 11 days, but a single move may take no longer than 1 day.",
        ),
        (running(), "White has 11 days left and gets 1 day more after moving."),
        (running(STANDARD._replace(flag=FlagRule.CLAIM)), "White has 11 days left and gets 1 day more after moving."),
    ],
)
def test_the_forecast_is_told_in_words(clock: Clock, words: str) -> None:
    assert in_words(clock, MONDAY, "White")[0] == words


def test_what_can_count_no_more_is_forgotten() -> None:
    clock = pause(running(), Pause(reason=PauseReason.VACATION, seat=0, since=MONDAY, until=MONDAY + HOUR))
    clock = set_calendar(clock, 0, WEEKENDS_OFF, MONDAY + MINUTE)
    for number in range(1, 5):
        clock = move(clock, (number + 1) % 2, number % 2, MONDAY + number * DAY)
    assert (clock.pauses, clock.former) == ((), ())
