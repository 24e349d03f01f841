"""Instants as callers write them: RFC 3339, and nothing that only looks like it."""

import pytest

from api.http.schemas import read_instant
from tests.support.tables import table


@pytest.mark.parametrize(
    ("text", "instant"),
    [
        ("1970-01-01T00:00:00Z", 0),
        ("1970-01-01T00:00:00.0019Z", 1),
        ("2023-12-24t00:00:00+01:00", 1_703_372_400_000),
        ("2023-12-24 00:00:00.500z", 1_703_376_000_500),
        ("2016-12-31T23:59:60Z", 1_483_228_800_000),
        ("1969-12-31T23:59:59.999Z", -1),
    ],
)
def test_an_instant_is_read_to_the_millisecond(text: str, instant: int) -> None:
    assert read_instant(text) == instant


@pytest.mark.parametrize("text", table(__file__, "what is no instant is none"))
def test_what_is_no_instant_is_none(text: str) -> None:
    assert read_instant(text) is None
