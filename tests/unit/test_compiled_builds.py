"""A compiled build belongs to the sources that it was made from, and is never taken for others."""

import shutil
from pathlib import Path

import pytest

from deploy.cli.up import describe_build
from deploy.local import compiled
from deploy.local.environment import ROOT


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A source tree with a build in it; only the names of its files matter."""
    for name in ("setup.py", "requirements-compile.txt"):
        shutil.copy(ROOT / name, tmp_path)
    shutil.copytree(ROOT / "domain", tmp_path / "domain", ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(compiled, "ROOT", tmp_path)
    monkeypatch.setattr(compiled, "BUILDS", tmp_path / "build" / "compiled")
    compiled.build_directory().mkdir(parents=True)
    return tmp_path


def test_a_build_is_taken_while_the_sources_are_those_that_it_was_made_from(tree: Path) -> None:
    build = compiled.find_build()
    assert build == compiled.build_directory()
    assert describe_build(build) == "The opponents search in compiled code."


@pytest.mark.parametrize(
    "name", ["domain/bashni/evaluate.py", "domain/game.py", "setup.py", "requirements-compile.txt"]
)
def test_a_build_of_other_sources_is_never_taken(tree: Path, name: str) -> None:
    with (tree / name).open("a") as file:
        file.write("\n")
    assert compiled.find_build() is None
    assert "what was compiled is of other sources: `make compile`" in describe_build(None)


def test_a_module_that_was_added_makes_the_build_stale(tree: Path) -> None:
    (tree / "domain" / "added.py").touch()
    assert compiled.find_build() is None


def test_without_a_build_plain_python_runs_and_the_way_to_a_faster_one_is_named(tree: Path) -> None:
    compiled.build_directory().rmdir()
    assert compiled.find_build() is None
    assert describe_build(None) == (
        "The opponents search in plain Python: `make compile` makes them several times as fast."
    )


def test_an_installed_package_without_its_source_tree_has_no_build_of_its_own(tree: Path) -> None:
    (tree / "setup.py").unlink()
    assert compiled.find_build() is None
