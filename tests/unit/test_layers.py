"""The contracts of imports in pyproject.toml cover what is there."""

import tomllib
from pathlib import Path
from typing import Any

from domain.games import GAMES

ROOT = Path(__file__).parents[2]
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
