"""Vacations: how much there is in a year, taken in advance, ended early, or taken automatically before a flag falls."""

from datetime import UTC, datetime
from itertools import pairwise

import pytest
from hypothesis import given, strategies as st

from domain.match.refusals import CommandError
from domain.match.terms import DAY, HOUR
from domain.match.vacation import (
    ALLOWANCE,
    Vacation,
    Vacations,
    automatic,
    booked,
    cancelled,
    current,
    ended,
    left,
    year_of,
)
from tests.support.draws import draws
from tests.support.tables import table
from tests.support.zones import instant

NOW = instant(2024, 5, 1)


def test_a_booked_vacation_is_taken_from_the_allowance_of_the_year_in_which_it_begins() -> None:
    book = booked((), NOW + DAY, NOW + 11 * DAY, NOW)
    assert book == (Vacation(NOW + DAY, NOW + 11 * DAY),)
    assert left(book, 2024) == ALLOWANCE - 10 * DAY
    new_year = booked(book, instant(2024, 12, 30), instant(2025, 1, 9), NOW)
    assert (left(new_year, 2024), left(new_year, 2025)) == (ALLOWANCE - 20 * DAY, ALLOWANCE)


def test_vacations_stand_in_the_order_of_time_however_they_were_booked() -> None:
    book = booked(booked((), NOW + 9 * DAY, NOW + 10 * DAY, NOW), NOW, NOW + DAY, NOW)
    assert [each.since for each in book] == [NOW, NOW + 9 * DAY]


def test_a_vacation_may_begin_where_another_one_ends_and_end_where_another_one_begins() -> None:
    book = booked((), NOW + 2 * DAY, NOW + 7 * DAY, NOW)
    book = booked(booked(book, NOW + DAY, NOW + 2 * DAY, NOW), NOW + 7 * DAY, NOW + 8 * DAY, NOW)
    assert [(each.since - NOW) // DAY for each in book] == [1, 2, 7]


@pytest.mark.parametrize(("since", "until", "code", "field", "words"), table(__file__, "a refused vacation"))
def test_a_refused_vacation_is_explained_in_words(since: int, until: int, code: str, field: str, words: str) -> None:
    book = booked((), NOW + 2 * DAY, NOW + 7 * DAY, NOW)
    with pytest.raises(CommandError, match=words) as refused:
        booked(book, since, until, NOW)
    assert (refused.value.code, refused.value.field) == (code, field)


def test_when_nothing_is_left_that_is_what_the_refusal_says() -> None:
    book = booked((), NOW, NOW + ALLOWANCE, NOW)
    with pytest.raises(CommandError, match="no vacation is left in 2024"):
        booked(book, NOW + ALLOWANCE, NOW + ALLOWANCE + DAY, NOW)


def test_coming_back_early_leaves_the_rest_for_later() -> None:
    book = booked((), NOW, NOW + 20 * DAY, NOW)
    back = ended(book, NOW + 5 * DAY)
    assert back == (Vacation(NOW, NOW + 5 * DAY),)
    assert left(back, 2024) == ALLOWANCE - 5 * DAY
    assert ended(book, NOW) == ()
    with pytest.raises(CommandError, match="not on vacation"):
        ended(back, NOW + 5 * DAY)


def test_a_vacation_ahead_can_be_cancelled_and_one_that_has_begun_cannot() -> None:
    book = booked((), NOW + DAY, NOW + 5 * DAY, NOW)
    assert cancelled(book, NOW + DAY, NOW) == ()
    for since, now in ((NOW + DAY, NOW + DAY), (NOW + 2 * DAY, NOW)):
        with pytest.raises(CommandError) as refused:
            cancelled(book, since, now)
        assert (refused.value.code, refused.value.field) == ("no-vacation", "since")


def test_a_vacation_lasts_from_its_first_instant_to_before_its_last() -> None:
    book = booked((), NOW, NOW + DAY, NOW)
    assert [current(book, NOW + at) is not None for at in (-1, 0, DAY - 1, DAY)] == [False, True, True, False]


def test_automatic_vacation_is_a_day_where_the_flag_would_fall() -> None:
    assert automatic((), NOW) == (Vacation(NOW, NOW + DAY, True),)


def test_automatic_vacation_ends_where_a_booked_one_begins() -> None:
    book = booked((), NOW + 5 * HOUR, NOW + 3 * DAY, NOW)
    assert automatic(book, NOW) == (Vacation(NOW, NOW + 5 * HOUR, True), *book)
    assert automatic(book, NOW + 5 * HOUR) is None


def test_automatic_vacation_lasts_day_after_day_until_the_allowance_is_used_up() -> None:
    book: Vacations | None = ()
    taken, at = 0, NOW
    while (book := automatic(book, at)) is not None:
        taken, at = taken + 1, at + DAY
        exhausted = book
    assert taken == ALLOWANCE // DAY
    assert left(exhausted, 2024) == 0


instants = st.integers(instant(1970, 1, 1), instant(2400, 1, 1) - 1)


@given(at=instants)
@draws(300)
def test_the_year_is_that_of_the_calendar(at: int) -> None:
    assert year_of(at) == datetime.fromtimestamp(at / 1000, UTC).year


def test_every_year_lasts_from_january_to_december_whatever_february_has() -> None:
    years = range(1970, 2401)  # as many as the calendar takes to repeat itself, and some
    assert [year_of(instant(year, 1, 1)) for year in years] == list(years)
    assert [year_of(instant(year, 1, 1) - 1) for year in years] == [year - 1 for year in years]
    assert [year_of(instant(year, 3, 1)) for year in years] == list(years)
    assert [year_of(instant(year, 3, 1) - 1) for year in years] == list(years)


days = st.integers(0, 500).map(lambda number: NOW + number * DAY // 4)


@given(tries=st.lists(st.tuples(st.sampled_from(["book", "auto", "end", "cancel"]), days, st.integers(1, 160))))
@draws(150)
def test_no_book_ever_overlaps_or_exceeds_the_allowance(tries: list[tuple[str, int, int]]) -> None:
    book: Vacations = ()
    for verb, at, quarters in tries:
        try:
            if verb == "book":
                book = booked(book, at, at + quarters * DAY // 4, NOW)
            elif verb == "auto":
                book = automatic(book, at) or book
            else:
                book = ended(book, at) if verb == "end" else cancelled(book, at, NOW)
        except CommandError:
            continue
    assert all(each.since < each.until for each in book)
    assert all(one.until <= other.since for one, other in pairwise(book))
    for year in (2024, 2025):
        assert sum(each.until - each.since for each in book if year_of(each.since) == year) <= ALLOWANCE
