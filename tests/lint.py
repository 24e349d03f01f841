"""What no other tool checks of names, keys and texts: ``python -m tests.lint``, a part of ``make check``.

- No name has a word that docs/glossary.md retires, and limits are called MAX_ and MIN_.
- One module spells the keys of the store.
- No text takes a player for a man, or is in the old dialect; what makes a kill safe is tagged.

Every file is read and parsed once, and again only when it, the glossary or this file has changed.
"""

import ast
import hashlib
import json
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
GLOSSARY = ROOT / "docs" / "glossary.md"
STORED = ROOT / ".lint_cache.json"
PRODUCT = ("api", "deploy", "domain", "events", "workers")
PAGES = ("README.md", "CONTRIBUTING.md", "Makefile")
SUFFIXES = {".py", ".js", ".lua", ".css", ".html", ".conf", ".yaml", ".md"}

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
PHRASES = {
    re.compile(r"\b(anew|for ever|the house|lest|reckon\w*)\b", re.I): "this is the old dialect",
    re.compile(r"\b(he|his|him|himself)\b", re.I): "a player may be anyone",
}
WITH_KEYS = ("events/", "workers/", "api/access/", "api/live/", "deploy/")
SPELLING_KEYS = {f"events/runtime/{name}.py" for name in ("keys", "notice_keys", "queues")}

Fault = tuple[int, str]


def find_faults(path: str, text: str) -> list[str]:
    """Return the faults of the file at ``path`` in the repository, each with its place."""
    faults: list[Fault] = []
    _, _, suffix = path.rpartition(".")
    name = Path(path).stem.replace("-", "_")
    if suffix == "py":
        nodes = list(_nodes(ast.parse(text)))
        faults += _faults_of_names([(1, name), *_python_names(nodes)])
        if path.startswith(WITH_KEYS) and path not in SPELLING_KEYS:
            faults += _spelled_keys(nodes)
    elif suffix == "js":
        faults += _faults_of_names([(1, name), *_script_names(text)])
    if path.startswith(PRODUCT) or (suffix == "md" and path != "docs/glossary.md") or path == "Makefile":
        faults += _faults_of_words(text)
    if path.startswith(("events/", "workers/")) and suffix in ("py", "lua"):
        faults += _untagged(text)
    return [f"{path}:{line} {fault}" for line, fault in sorted(faults)]


@cache
def retired_words() -> frozenset[str]:
    _, table = GLOSSARY.read_text().split("\n## Retired words\n")
    return frozenset(word for row in ROW.findall(table) for word in row.split(", ")) - {"retired"}


def words_of(name: str) -> list[str]:
    return [word.lower() for word in WORD.findall(name)]


@cache
def is_retired(name: str) -> bool:
    """Return whether an identifier has a word, or several in a row, that the glossary retires."""
    plain = "_".join(words_of(name))
    return any(f"_{word}_" in f"_{plain}_" for word in retired_words())


def _nodes(tree: ast.AST) -> Iterator[Any]:
    """Yield all nodes: like ast.walk, in half the time, as there are a million."""
    nodes: list[Any] = [tree]
    while nodes:
        node = nodes.pop()
        yield node
        for inner in vars(node).values():
            if isinstance(inner, list):
                nodes += [each for each in inner if isinstance(each, ast.AST)]
            elif isinstance(inner, ast.AST):
                nodes.append(inner)


def _python_names(nodes: list[Any]) -> Iterator[tuple[int, str]]:
    for node in nodes:
        naming = NAMING.get(type(node))
        if naming and not isinstance(getattr(node, "ctx", None), ast.Load) and getattr(node, naming) is not None:
            yield node.lineno, getattr(node, naming)


def _script_names(text: str) -> Iterator[tuple[int, str]]:
    for declared in JS_NAME.finditer(text):
        yield text.count("\n", 0, declared.start()) + 1, declared[1] or declared[2]


def _faults_of_names(names: list[tuple[int, str]]) -> Iterator[Fault]:
    for line, name in names:
        if is_retired(name):
            yield line, f"{name}: docs/glossary.md says what to write instead"
        if LIMIT.match(name):
            yield line, f"{name}: a limit is called MAX_ or MIN_"


def _spelled_keys(nodes: list[Any]) -> Iterator[Fault]:
    for node in nodes:
        first = node.values[0] if isinstance(node, ast.JoinedStr) else None
        if isinstance(first, ast.FormattedValue) and ast.unparse(first.value).endswith("prefix"):
            yield node.lineno, "keys are spelled in events/runtime/keys.py"


def _faults_of_words(text: str) -> Iterator[Fault]:
    for pattern, fault in PHRASES.items():
        # Nearly all files have none: lines are told apart only in those that do.
        if pattern.search(text):
            for number, line in enumerate(text.splitlines(), 1):
                if pattern.search(line):
                    yield number, f"{fault}: {line.strip()}"


def _untagged(text: str) -> Iterator[Fault]:
    """Yield each block up to an empty line that says why a kill is safe without the word that tags such reasons."""
    block: list[str] = []
    for number, line in enumerate((*text.splitlines(), ""), 1):
        if line.strip():
            block.append(line.strip())
        elif block:
            said = " ".join(block)
            if CRASH.search(said) and "Crash-safe:" not in said:
                yield number - len(block), f"this reason begins with Crash-safe: {said[:80]}"
            block = []


def checked_files() -> list[Path]:
    inside = (path for folder in (*PRODUCT, "tests", "docs") for path in sorted((ROOT / folder).rglob("*")))
    return [*(path for path in inside if path.suffix in SUFFIXES and path.is_file()), *(ROOT / page for page in PAGES)]


def main() -> int:
    """Print the faults of all files; return 1 if there are any."""
    assert len(retired_words()) > 10, "the glossary has a table of retired words"
    rules = hashlib.sha256(Path(__file__).read_bytes() + GLOSSARY.read_bytes()).hexdigest()
    stored = json.loads(STORED.read_text()) if STORED.exists() else {}
    before, faults = stored if isinstance(stored, dict) else {}, dict[str, list[str]]()
    for path in checked_files():
        content = path.read_bytes()
        place = str(path.relative_to(ROOT))
        digest = hashlib.sha256(f"{rules} {place} ".encode() + content).hexdigest()
        faults[digest] = before[digest] if digest in before else find_faults(place, content.decode())
    STORED.write_text(json.dumps(faults))
    lines = [line for each in faults.values() for line in each]
    print("\n".join(lines) if lines else f"{len(faults)} files: no faults of names, keys and texts")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
