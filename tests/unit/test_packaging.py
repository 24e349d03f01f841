"""The distribution contains the product and no test code."""

import ast
import tomllib
from pathlib import Path

from setuptools import find_namespace_packages

ROOT = Path(__file__).parents[2]
PRODUCT = {"domain", "events", "workers", "api", "deploy"}
TEST_TOOLS = {"tests", "pytest", "hypothesis", "playwright"}


def imported_names(path: Path) -> set[str]:
    """Return the top-level packages that the module at ``path`` imports."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module is not None and not node.level:
            names.add(node.module.partition(".")[0])
    return names


def test_only_the_packages_of_the_product_are_distributed() -> None:
    configuration = tomllib.loads((ROOT / "pyproject.toml").read_text())
    include = configuration["tool"]["setuptools"]["packages"]["find"]["include"]
    packages = find_namespace_packages(str(ROOT), include=include)
    assert {package.partition(".")[0] for package in packages} == PRODUCT
    with_code = {package for package in packages if any((ROOT / package.replace(".", "/")).glob("*.py"))}
    assert not [package for package in with_code if {"tests", "simulation"} & set(package.split("."))]


def test_no_module_of_the_product_imports_tests_or_their_tools() -> None:
    modules = [path for package in PRODUCT for path in (ROOT / package).rglob("*.py")]
    assert len(modules) > 100
    assert {path: found for path in modules if (found := imported_names(path) & TEST_TOOLS)} == {}
