"""The targets of the Makefile: what they say, and which tests they run."""

import subprocess
from argparse import ArgumentParser
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[2]
SLOW = ("-m venv", "pip install", "uv pip install")


def planned(*arguments: str) -> list[str]:
    """Return the lines that ``make`` would run."""
    command = ["make", "--dry-run", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()


def files_run_by(command: str) -> list[Path]:
    """Return the files of tests that a command runs: pytest may be given no other arguments than these."""
    pytest = ArgumentParser()
    pytest.add_argument("-q", action="store_true")
    pytest.add_argument("-n")
    pytest.add_argument("--ignore", default="nowhere")
    pytest.add_argument("folder")
    asked = pytest.parse_args(command.split()[1:])
    files = (path.relative_to(ROOT) for path in (ROOT / asked.folder).rglob("test_*.py"))
    return [path for path in files if Path(asked.ignore) not in path.parents]


def test_make_run_says_what_takes_long_before_it_is_done() -> None:
    lines = planned("--always-make", "run", "PYTHON=python3")
    slow = [number for number, line in enumerate(lines) if any(each in line for each in SLOW)]
    assert len(slow) == 4
    for number in slow:
        assert lines[number - 1].startswith("echo "), lines[number]


def test_every_test_is_run_by_make_test_or_by_make_test_servers_and_by_one_of_them_only() -> None:
    targets = planned("run-tests", "run-server-tests", "JOBS=4")
    quick, servers, drawn = (line for line in targets if line.startswith(".venv/bin/pytest"))
    run = Counter([*files_run_by(quick), *files_run_by(servers)])
    assert run == Counter(path.relative_to(ROOT) for path in (ROOT / "tests").rglob("test_*.py"))
    assert "-m hypothesis --hypothesis-profile full tests/unit tests/contract tests/integration" in drawn
    commands = (ROOT / ".ci" / "run").read_text().splitlines()
    assert [line for line in commands if line.startswith("make ")] == ["make test", "make test-servers"]
