"""Instants as callers write them: RFC 3339, and nothing that only looks like it."""

import pytest

from api.http.schemas import read_instant
from tests.support.tables import table


@pytest.mark.parametrize(("text", "instant"), table(__file__, "an instant is read to the millisecond"))
def test_an_instant_is_read_to_the_millisecond(text: str, instant: int) -> None:
    assert read_instant(text) == instant


@pytest.mark.parametrize("text", table(__file__, "what is no instant is none"))
def test_what_is_no_instant_is_none(text: str) -> None:
    assert read_instant(text) is None
