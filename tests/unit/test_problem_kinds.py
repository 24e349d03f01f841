"""Every refusal has a kind of problem, so that none is answered as a mistake of the server."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import domain
import events
from api.http.problems import KINDS
from domain.match import guards


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
