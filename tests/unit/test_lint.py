"""The rules of ``make check`` for names, keys and texts."""

import pytest

from tests.lint import find_faults, words_of
from tests.support.tables import table


def test_words_of_names_are_told_apart() -> None:
    assert words_of("MAX_HTTPServers_ofMatch") == ["max", "http", "servers", "of", "match"]


@pytest.mark.parametrize(("path", "text", "fault"), table(__file__, "a fault is reported with its place"))
def test_a_fault_is_reported_with_its_place(path: str, text: str, fault: str) -> None:
    assert find_faults(path, text) == [f"{path}:{fault}"]


@pytest.mark.parametrize(("path", "text"), table(__file__, "what is allowed is not reported"))
def test_what_is_allowed_is_not_reported(path: str, text: str) -> None:
    assert find_faults(path, text) == []
