"""Tables of cases, kept as JSON in ``tests/tables``: a file for each test file, in which every case is a line."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parents[1] / "tables"


def table(test_file: str, name: str) -> Any:
    """Return the table ``name`` of a test file."""
    return _tables(Path(test_file).stem.removeprefix("test_"))[name]


def named_cases(test_file: str, name: str) -> list[Any]:
    """Return the cases of a table whose rows begin with the name of the case."""
    return [pytest.param(*row, id=title) for title, *row in table(test_file, name)]


@cache
def _tables(stem: str) -> dict[str, Any]:
    tables: dict[str, Any] = json.loads((FOLDER / f"{stem}.json").read_text(encoding="utf-8"))
    return tables
