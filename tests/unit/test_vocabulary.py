"""One term for one thing: what docs/glossary.md retires is in no name and in no text of the product."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PRODUCT = ("api", "deploy", "domain", "events", "workers")
WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
ROW = re.compile(r"^\| ([\w, ]+) \| .+ \|$", re.M)
JS_NAME = re.compile(
    r"\b(?:const|let|function|class)\s+([A-Za-z_$][\w$]*)|^\s*(?:static |async |get |set )*#?([a-z]\w*)\(.*\{$", re.M
)
NAMING = {
    **dict.fromkeys((ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef), "name"),
    **{ast.arg: "arg", ast.Name: "id", ast.Attribute: "attr", ast.alias: "asname"},
}
"""The field in which a node has the name that it gives."""

LIMIT = re.compile(r"_?(MOST|LONGEST|LARGEST|DEEPEST|SHORTEST|SMALLEST)(_|$)")
CRASH = re.compile(r"\bmay be killed\b|\b[Kk]illed (at any|anywhere|in between|right|halfway)\b|\bare killed\b")
PHRASE = re.compile(r"\b(anew|for ever|the house|lest|reckon\w*)\b", re.I)
HE = re.compile(r"\b(he|his|him|himself)\b", re.I)


@cache
def retired() -> frozenset[str]:
    _, table = (ROOT / "docs" / "glossary.md").read_text().split("\n## Retired words\n")
    return frozenset(word for row in ROW.findall(table) for word in row.split(", ")) - {"retired"}


def files(*suffixes: str, below: tuple[str, ...] = (*PRODUCT, "tests", "docs")) -> Iterator[Path]:
    """Yield the files of the repository with one of ``suffixes``."""
    for folder in below:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in suffixes and "node_modules" not in path.parts:
                yield path


def python_names(path: Path) -> Iterator[tuple[str, int]]:
    """Yield each name that is given in a Python file, with its line, and the name of the module."""
    yield path.stem, 1
    nodes: list[Any] = [ast.parse(path.read_text())]
    # Like ast.walk, in half the time: there are a million nodes.
    while nodes:
        node = nodes.pop()
        naming = NAMING.get(type(node))
        if naming and not isinstance(getattr(node, "ctx", None), ast.Load) and getattr(node, naming) is not None:
            yield getattr(node, naming), node.lineno
        for inner in vars(node).values():
            if isinstance(inner, list):
                nodes += [each for each in inner if isinstance(each, ast.AST)]
            elif isinstance(inner, ast.AST):
                nodes.append(inner)


def script_names(path: Path) -> Iterator[tuple[str, int]]:
    """Yield each name that is declared in a script, with its line, and the name of the file."""
    yield path.stem.replace("-", "_"), 1
    text = path.read_text()
    for found in JS_NAME.finditer(text):
        yield found[1] or found[2], text.count("\n", 0, found.start()) + 1


@cache
def names() -> tuple[tuple[str, str], ...]:
    """Return each name that is given in Python and in the scripts of the pages, with its place."""
    found = []
    for path in files(".py", ".js"):
        read = python_names if path.suffix == ".py" else script_names
        found += [(name, f"{path.relative_to(ROOT)}:{line}") for name, line in read(path)]
    return tuple(found)


def words(name: str) -> list[str]:
    """Return the words of an identifier, in lower case."""
    return [word.lower() for word in WORD.findall(name)]


@cache
def is_retired(name: str) -> bool:
    """Return whether an identifier has a word, or several in a row, that the glossary retires."""
    plain = "_".join(words(name))
    return any(f"_{word}_" in f"_{plain}_" for word in retired())


def test_words_of_names_are_told_apart() -> None:
    assert words("MAX_HTTPServers_ofMatch") == ["max", "http", "servers", "of", "match"]


def test_no_name_has_a_word_that_is_retired() -> None:
    assert len(retired()) > 10
    assert [f"{place} {name}" for name, place in names() if is_retired(name)] == []


def test_limits_are_called_max_and_min() -> None:
    assert [f"{place} {name}" for name, place in names() if LIMIT.match(name)] == []


def lines_with(pattern: re.Pattern[str]) -> Iterator[str]:
    """Yield each line of the product and of its documentation in which ``pattern`` is found, with its place."""
    product = files(".py", ".lua", ".js", ".css", ".html", ".conf", ".yaml", below=PRODUCT)
    documents = (path for path in files(".md", below=("docs",)) if path.name != "glossary.md")
    for path in (*product, *documents, *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "Makefile"))):
        text = path.read_text()
        # Nearly all files have none: lines are told apart only in those that do.
        if pattern.search(text):
            for number, line in enumerate(text.splitlines(), 1):
                if pattern.search(line):
                    yield f"{path.relative_to(ROOT)}:{number} {line.strip()}"


def test_a_player_may_be_anyone() -> None:
    assert list(lines_with(HE)) == []


def test_no_text_is_in_the_old_dialect() -> None:
    assert list(lines_with(PHRASE)) == []


def paragraphs(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the first line and the text of each block of a file that an empty line or a line of code ends."""
    block: list[str] = []
    for number, line in enumerate((*path.read_text().splitlines(), ""), 1):
        if line.strip():
            block.append(line.strip())
        elif block:
            yield number - len(block), " ".join(block)
            block = []


@pytest.mark.parametrize("folder", ["events", "workers"])
def test_what_makes_a_kill_safe_is_tagged(folder: str) -> None:
    untagged = [
        f"{path.relative_to(ROOT)}:{line} {text[:80]}"
        for path in files(".py", ".lua", below=(folder,))
        for line, text in paragraphs(path)
        if CRASH.search(text) and "Crash-safe:" not in text
    ]
    assert untagged == []
