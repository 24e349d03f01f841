"""``rookery rules new`` begins a game that works at once, in a source tree of its own."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from deploy.cli import main
from tests.support.server import RealServer

ROOT = Path(__file__).parents[3]
PAGES = """
import sys

from api.app import create_app
from tests.support.callers import settings_for

client = create_app(settings_for(sys.argv[1])).test_client()
for path in ("/games/glass-towers", "/games/glass-towers/rules"):
    answer = client.get(path)
    assert answer.status_code == 200, path
    assert "Towers of Glass" in answer.text, path
"""


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a source tree in which a game has been begun."""
    tree = tmp_path_factory.mktemp("tree")
    for package in ("api", "deploy", "domain", "events", "workers", "tests"):
        ignored = shutil.ignore_patterns("__pycache__", "stores", "e2e")
        shutil.copytree(ROOT / package, tree / package, ignore=ignored)
    for name in ("pyproject.toml", "README.md"):
        shutil.copy(ROOT / name, tree)
    said = rookery("glass-towers", "--title", "Towers of Glass", "--root", tree)
    assert said.exit_code == 0, said.output
    return tree


def rookery(*arguments: object) -> Result:
    """Run ``rookery rules new``."""
    return CliRunner().invoke(main, ["rules", "new", *map(str, arguments)])


def run(tree: Path, *arguments: str) -> str:
    """Run a Python program in ``tree``; return what it prints."""
    done = subprocess.run([sys.executable, *arguments], cwd=tree, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_new_game_passes_its_vectors_and_the_suite_of_the_contract(tree: Path) -> None:
    checked = run(tree, "-m", "deploy.cli", "rules", "check", "tests/vectors/glass-towers.public.json")
    assert checked == "5 passed, 0 failed\n"
    suites = ("tests/contract/test_games.py", "tests/contract/test_game_words.py")
    assert " passed" in run(tree, "-m", "pytest", "-q", *suites, "-k", "glass-towers")


def test_a_new_game_has_pages(tree: Path, server: RealServer) -> None:
    run(tree, "-c", PAGES, server.url)


def test_a_new_game_is_registered_wherever_it_must_be(tree: Path) -> None:
    lacking = (
        "from tests.contract.test_every_game_is_complete import *; print(*missing(GAMES['glass-towers']), sep='\\n')"
    )
    assert run(tree, "-c", lacking) == "tests/golden: python -m tests.golden glass-towers 1\n"


def test_the_rules_page_of_a_new_game_is_whole(tree: Path) -> None:
    assert " passed" in run(tree, "-m", "pytest", "-q", "tests/unit/test_rules_pages.py", "-k", "glass-towers")


def test_a_new_game_is_formatted_and_linted(tree: Path) -> None:
    written = "domain/glass_towers"
    run(tree, "-m", "ruff", "check", "--fix", "--select", "I", written)  # the order of imports depends on the name
    run(tree, "-m", "ruff", "check", written)
    run(tree, "-m", "ruff", "format", "--check", written)


def test_a_game_is_not_begun_twice_nor_under_a_bad_name_nor_elsewhere(tree: Path, tmp_path: Path) -> None:
    assert "exists already" in rookery("glass-towers", "--root", tree).output
    assert rookery("Glass Towers", "--root", tree).exit_code == 2
    assert "is not the source tree" in rookery("glass", "--root", tmp_path).output


def test_a_game_is_not_begun_where_there_is_no_place_for_it(tree: Path, tmp_path: Path) -> None:
    for name in ("domain/games.py", "pyproject.toml", "tests/bench/rules.py", "README.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(tree / name, tmp_path / name)
    (tmp_path / "README.md").write_text("Rookery")
    assert "README.md has no place for a new game" in rookery("glass", "--root", tmp_path).output
    assert (tmp_path / "domain" / "games.py").read_text() == (tree / "domain" / "games.py").read_text()
