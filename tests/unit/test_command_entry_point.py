"""Every command of every caller goes through ``MatchService.execute``: nothing else appends to a match."""

import ast
import functools
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("domain", "events", "workers", "api", "deploy")
SERVICE = {f"events/service/{name}.py" for name in ("matches", "match_service", "timekeeper")}


def callers_of(method: str) -> set[str]:
    """Return the files of the product that use an attribute of this name."""
    return {
        path for path, tree in parsed_with(method) for node in ast.walk(tree) if getattr(node, "attr", None) == method
    }


def parsed_with(word: str) -> Iterator[tuple[str, ast.AST]]:
    """Yield every file of the product in whose text ``word`` stands, with its syntax tree."""
    for path, text in sources():
        if word in text:
            yield path, ast.parse(text)


@functools.cache
def sources() -> list[tuple[str, str]]:
    paths = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]
    return [(str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")) for path in paths]


@pytest.mark.parametrize("method", ["append_decision", "append_decision_on"])
def test_only_the_service_appends_decisions(method: str) -> None:
    assert callers_of(method) <= SERVICE


def test_only_matches_append_to_the_event_store() -> None:
    appending = {
        path
        for path, tree in parsed_with("append")
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("store.append")
    }
    assert appending == {"events/service/matches.py"}
