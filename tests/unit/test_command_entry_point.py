"""Every command goes through one method, and every refusal has a kind of problem."""

import ast
import functools
from collections.abc import Iterator
from pathlib import Path

import pytest

import domain
import events
from api.http.problems import KINDS
from domain.match import guards

ROOT = Path(__file__).parents[2]
PACKAGES = ("domain", "events", "workers", "api", "deploy")


def callers_of(method: str) -> set[str]:
    """Return the files of the product that call a method, named with the object that has it."""
    return {
        path
        for path, tree in parsed_with(method)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(method)
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


@pytest.mark.parametrize("method", ["matches.decide", "matches.append"])
def test_only_the_service_and_the_timekeeper_append_decisions(method: str) -> None:
    assert callers_of(method) == {"events/matches/match_service.py", "events/matches/timekeeper.py"}


def test_only_matches_and_contests_append_to_the_event_store() -> None:
    assert callers_of("store.append") == {"events/matches/matches.py", "events/contests/contests.py"}


def codes_in(path: Path) -> Iterator[str]:
    source = path.read_text()
    if "CommandError(" not in source:
        return
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "CommandError":
            code = node.args[0]
            yield str(code.value) if isinstance(code, ast.Constant) else str(getattr(guards, ast.unparse(code)))


SOURCES = {
    path: codes
    for package in (domain, events)
    for path in sorted(Path(str(package.__file__)).parent.rglob("*.py"))
    if (codes := set(codes_in(path)))
}


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_every_refusal_has_a_kind_of_problem(source: Path) -> None:
    assert SOURCES[source] <= KINDS.keys()
