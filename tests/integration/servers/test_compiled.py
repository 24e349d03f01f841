"""The compiled build plays, reconstructs and reviews matches as plain Python does, and chooses alike, bit for bit."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from deploy.local.compiled import make_build
from deploy.local.environment import ROOT
from domain.build import COMPILED

pytestmark = pytest.mark.timeout(3600)  # to compile takes minutes; a build is kept until its sources change


ONE_MORE = """
right = evaluate

def evaluate(position, seat):
    return right(position, seat) + (-1 if seat else 1)
"""
"""Added to a module, it makes every position look better to White by the smallest unit."""


PLAY = (
    "contract/test_games.py", "contract/test_game_words.py", "unit/test_golden_matches.py", "unit/test_match_evolve.py",
    "unit/test_lines.py", "unit/test_disputes.py", "unit/test_review.py", "unit/test_said_to_players.py",
)  # fmt: skip
"""The tests of games, matches and reviews that run on the build as well."""

RUN_TESTS = "import domain.build, pytest, sys; assert domain.build.COMPILED; sys.exit(pytest.main(sys.argv[1:]))"
"""Imports the domain first, as pytest would put the sources before the build."""


@pytest.fixture(scope="module")
def build() -> Path:
    return make_build()


def choices(*path: Path, count: int | None = None) -> list[str]:
    """Return the lines that ``tests.support.twin`` prints with the packages of ``path`` before those of the sources."""
    command = [sys.executable, "-m", "tests.support.twin", *([] if count is None else [str(count)])]
    environment = {"PYTHONPATH": ":".join(map(str, (*path, ROOT))), "PYTHONSAFEPATH": "1"}
    ran = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    return ran.stdout.splitlines()


def test_games_are_played_and_matches_reconstructed_and_reviewed_by_it(build: Path) -> None:
    command = [sys.executable, "-c", RUN_TESTS, "-q", "-p", "no:cacheprovider", *(f"tests/{path}" for path in PLAY)]
    environment = {**os.environ, "PYTHONPATH": f"{build}:{ROOT}", "PYTHONSAFEPATH": "1"}
    ran = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout[-3000:] + ran.stderr[-3000:]


def test_choices_values_and_node_counts_are_those_of_plain_python(build: Path) -> None:
    assert not COMPILED, "the tests run on the reference"
    which, *plain = choices()
    assert which == "plain"
    which, *compiled = choices(build)
    assert which == "compiled"
    assert compiled == plain


def test_a_build_that_values_anything_differently_is_noticed(build: Path, tmp_path: Path) -> None:
    broken = shutil.copytree(build, tmp_path / "broken")
    (extension,) = broken.glob("domain/tower_game/evaluate.*.so")
    extension.unlink()
    with (broken / "domain" / "tower_game" / "evaluate.py").open("a") as module:
        module.write(ONE_MORE)
    which, *compiled = choices(broken, count=20)
    assert which == "compiled"
    assert compiled != choices(count=20)[1:]
