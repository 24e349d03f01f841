"""The rules of ``make check`` for names, keys and texts."""

import pytest

from tests.lint import find_faults, words_of


def test_words_of_names_are_told_apart() -> None:
    assert words_of("MAX_HTTPServers_ofMatch") == ["max", "http", "servers", "of", "match"]


@pytest.mark.parametrize(
    ("path", "text", "fault"),
    [
        ("domain/a.py", "x = 1\nhouseKeys = 2\n", "2 houseKeys: docs/glossary.md says what to write instead"),
        ("tests/a.py", "def f(an_idea, ideas): ...\n", "1 ideas: docs/glossary.md says what to write instead"),
        ("tests/unit/test_utils.py", "", "1 test_utils: docs/glossary.md says what to write instead"),
        ("api/a.js", "\nconst whim = 1;", "2 whim: docs/glossary.md says what to write instead"),
        ("events/a.py", "MOST_LINES = 1\n", "1 MOST_LINES: a limit is called MAX_ or MIN_"),
        ("events/a.py", 'def key(self): return f"{self.prefix}x"', "1 keys are spelled in events/runtime/keys.py"),
        ("docs/a.md", "When\nhe moves.", "2 a player may be anyone: he moves."),
        ("events/a.lua", "-- written anew", "1 this is the old dialect: -- written anew"),
        ("workers/a.py", "x = 1\n\n# It may be killed", "3 this reason begins with Crash-safe: # It may be killed"),
    ],
)
def test_a_fault_is_reported_with_its_place(path: str, text: str, fault: str) -> None:
    assert find_faults(path, text) == [f"{path}:{fault}"]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("events/runtime/keys.py", 'def key(self): return f"{self.prefix}x"'),
        ("workers/a.py", "# Crash-safe: it\n# may be killed"),
        ("tests/a.py", '"""What he wrote anew."""\nprint(ideas)\n'),
        ("docs/glossary.md", "anew"),
    ],
)
def test_what_is_allowed_is_not_reported(path: str, text: str) -> None:
    assert find_faults(path, text) == []
