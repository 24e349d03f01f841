"""What `make` prints while it installs and starts."""

import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
SLOW = ("-m venv", "pip install", "uv pip install")


def test_make_run_says_what_takes_long_before_it_is_done() -> None:
    planned = subprocess.run(
        ["make", "--dry-run", "--always-make", "run", "PYTHON=python3"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    slow = [number for number, line in enumerate(planned) if any(each in line for each in SLOW)]
    assert len(slow) == 4
    for number in slow:
        assert planned[number - 1].startswith("echo "), planned[number]
