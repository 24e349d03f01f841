"""Everything else is in pyproject.toml: this compiles the rules and the search with mypyc, where that is asked for.

Set ROOKERY_COMPILE=1 for it, with the packages of requirements-compile.txt and a C compiler installed.
"""

import os
from pathlib import Path

from setuptools import setup

LEFT_IN_PYTHON = {
    "__init__", "composition", "contest", "diagram", "draft", "facts", "game", "games", "grid", "legality",
    "machine_integers", "match", "notation", "presentation", "puzzles", "rating", "refusals", "review", "scene",
    "vector", "view",
}  # fmt: skip
"""No search spends time in these: declarations of games, looked up by name, and what people read and write."""


def compiled_modules() -> list[str]:
    """Return the files of the domain that are compiled: the rules of all games, and the search."""
    modules = sorted(Path("domain").rglob("*.py"))
    return [str(module) for module in modules if not LEFT_IN_PYTHON & {*module.parts, module.stem}]


if os.environ.get("ROOKERY_COMPILE") == "1":
    from mypyc.build import mypycify

    extensions = mypycify(compiled_modules(), opt_level="2", debug_level="0", multi_file=True)
    for extension in extensions:
        # Functions call each other directly, instead of through a table that another library could change.
        extension.extra_compile_args.append("-fvisibility=hidden")
    setup(ext_modules=extensions)
else:
    setup()
