"""The distribution contains the product and no test code."""

import tomllib
from pathlib import Path

from setuptools import find_namespace_packages

ROOT = Path(__file__).parents[2]
PRODUCT = {"domain", "events", "workers", "api", "deploy"}


def test_only_the_packages_of_the_product_are_distributed() -> None:
    configuration = tomllib.loads((ROOT / "pyproject.toml").read_text())
    include = configuration["tool"]["setuptools"]["packages"]["find"]["include"]
    packages = find_namespace_packages(str(ROOT), include=include)
    assert {package.partition(".")[0] for package in packages} == PRODUCT
    with_code = {package for package in packages if any((ROOT / package.replace(".", "/")).glob("*.py"))}
    assert not [package for package in with_code if {"tests", "simulation"} & set(package.split("."))]
