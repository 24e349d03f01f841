"""The repository: what is distributed, imported, printed by make, and listed once."""

import subprocess
import sys
import tomllib
from argparse import ArgumentParser
from collections import Counter
from enum import StrEnum
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner
from setuptools import find_namespace_packages

from deploy.cli import main
from deploy.cli.audit import audit_commands
from deploy.cli.people import people
from domain.games import GAMES
from domain.match import enums

ROOT = Path(__file__).parents[2]
PRODUCT = {"domain", "events", "workers", "api", "deploy"}


def test_only_the_packages_of_the_product_are_distributed() -> None:
    configuration = tomllib.loads((ROOT / "pyproject.toml").read_text())
    include = configuration["tool"]["setuptools"]["packages"]["find"]["include"]
    packages = find_namespace_packages(str(ROOT), include=include)
    assert {package.partition(".")[0] for package in packages} == PRODUCT
    with_code = {package for package in packages if any((ROOT / package.replace(".", "/")).glob("*.py"))}
    assert not [package for package in with_code if {"tests", "simulation"} & set(package.split("."))]


def test_every_file_beside_the_code_is_distributed() -> None:
    patterns = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["package-data"]
    running = PRODUCT - {"deploy"}  # which has examples of configuration, too
    distributed = {
        path
        for package in running
        for pattern in (*patterns["*"], *patterns.get(package, ()))
        for path in (ROOT / package).glob(pattern)
    }
    files = (path for package in running for path in (ROOT / package).rglob("*") if path.is_file())
    missing = {path for path in files if path.suffix not in (".py", ".pyc", ".so", ".c", ".md")} - distributed
    assert {str(path.relative_to(ROOT)) for path in missing} == set()


CONTRACTS: dict[str, Any] = {
    contract["name"]: contract
    for contract in tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
}


def test_every_registered_game_is_independent_of_the_others() -> None:
    (contract,) = (contract for name, contract in CONTRACTS.items() if name.startswith("Games do not know each other"))
    packages = {f"domain.{game.replace('-', '_')}" for game in GAMES}
    assert packages == set(contract["modules"]) - {"domain.search", "domain.rating"}
    assert all((ROOT / package.replace(".", "/") / "__init__.py").is_file() for package in packages)


def test_every_package_of_the_product_is_typed() -> None:
    product = ("api", "deploy", "domain", "events", "workers")
    assert [package for package in product if not (ROOT / package / "py.typed").is_file()] == []


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
    pytest.add_argument("folders", nargs="+")
    asked = pytest.parse_args(command.split()[1:])
    files = (path.relative_to(ROOT) for folder in asked.folders for path in (ROOT / folder).rglob("test_*.py"))
    return [path for path in files if Path(asked.ignore) not in path.parents]


def test_make_run_says_what_takes_long_before_it_is_done() -> None:
    lines = planned("--always-make", "run", "PYTHON=python3")
    slow = [number for number, line in enumerate(lines) if any(each in line for each in SLOW)]
    assert len(slow) == 4
    for number in slow:
        assert lines[number - 1].startswith("echo "), lines[number]


def test_every_test_is_run_by_make_test_or_by_make_test_servers_and_by_one_of_them_only() -> None:
    targets = planned("run-unit-tests", "run-tests", "run-server-tests", "JOBS=4")
    *commands, drawn = (line for line in targets if line.startswith(".venv/bin/pytest"))
    run = Counter(path for command in commands for path in files_run_by(command))
    assert run == Counter(path.relative_to(ROOT) for path in (ROOT / "tests").rglob("test_*.py"))
    assert (
        '-m "hypothesis or sampled or thorough" --hypothesis-profile full tests --ignore tests/integration/servers'
        in drawn
    )
    steps = (ROOT / ".ci" / "run").read_text().splitlines()
    assert [line for line in steps if line.startswith("make ")] == ["make test", "make test-servers"]


@pytest.mark.parametrize("group", [main, audit_commands, people], ids=lambda group: group.name)
def test_every_command_has_the_name_under_which_it_is_called_and_a_sentence_of_help(group: click.Group) -> None:
    context = click.Context(group)
    names = group.list_commands(context)
    assert len(names) > 5
    for name in names:
        command = group.get_command(context, name)
        assert command is not None
        assert command.name == name
        assert command.get_short_help_str()
    assert group.get_command(context, "nonsense") is None


def test_a_command_imports_no_other_command() -> None:
    program = (
        "import gc, sys; from deploy.cli import main; main(['relay', '--help'], standalone_mode=False);"
        "print(gc.isenabled());"
        "print(*(name for name in sys.modules if name.startswith('deploy.')))"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    *_, collects, modules = ran.stdout.splitlines()
    assert collects == "True", "garbage is collected again after the imports"
    imported = set(modules.split())
    assert "deploy.cli.services" in imported
    assert not imported & {"deploy.cli.audit", "deploy.cli.vectors"}


def test_a_queue_that_there_is_not_is_refused_with_those_that_there_are() -> None:
    refused = CliRunner().invoke(main, ["work", "default", "slow"])
    assert refused.exit_code == 2
    listed = "default, opponents-quick, opponents, opponents-long, notices, fleet"
    assert f"there is no queue 'slow', only {listed}" in refused.stderr


ENUMS = [kind for kind in vars(enums).values() if isinstance(kind, type) and issubclass(kind, StrEnum)][1:]


@pytest.mark.parametrize("kind", ENUMS)
def test_every_member_is_found_by_what_is_stored_and_nothing_else_is_one(kind: type[StrEnum]) -> None:
    assert [kind(member.value) for member in kind] == list(kind)
    for unknown in ("", "weather", "shout", "dinner", "blitz", "never", "sing", next(iter(kind)).value.upper()):
        with pytest.raises(ValueError, match=f"'{unknown}' is not a valid {kind.__name__}"):
            kind(unknown)


def test_a_member_is_the_text_that_is_stored() -> None:
    assert all(type(member.value) is str and f"{member}" == member.value for kind in ENUMS for member in kind)
