"""The beginning of a game: a package that works, vectors and a rules page, to be replaced module by module."""

import re
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from string import Template

import click

from deploy.cli.errors import CliError

_NAME = re.compile("[a-z][a-z0-9]*(-[a-z0-9]+)*")

_NEXT_STEPS = """
Next:
  1. domain/games.py: import $package from domain and add ($package.GAME,) to GAMES.
  2. pyproject.toml: add "domain.$package" to the contract "Games do not know each other"; make format.
  3. Replace the rules of the template, module by module, with those of $title; keep every test green:
     rookery rules check tests/vectors/$id.public.json
     pytest tests/contract
  4. When they are final: python -m tests.golden $id 1
What is still missing: pytest tests/contract/test_every_game_is_complete.py"""


@click.command("new")
@click.argument("name")
@click.option("--title", help="What people call the game. Default: NAME in title case.")
@click.option("--root", type=click.Path(file_okay=False, path_type=Path), default=".", help="The source tree.")
def new_game(name: str, title: str | None, root: Path) -> None:
    """Begin the game NAME, such as four-towers: write a package, a vector file and a rules page that work."""
    if not _NAME.fullmatch(name):
        raise click.BadParameter(f"{name!r} is not made of lower-case words with hyphens between them")
    if not (root / "domain" / "games.py").is_file():
        raise CliError(f"{root} is not the source tree of rookery: it has no domain/games.py")
    values = {"id": name, "package": name.replace("-", "_"), "title": title or name.replace("-", " ").title()}
    written = {root / _target(path, values): text for path, text in _templates(files("deploy.cli") / "game_template")}
    for path in written:
        if path.exists():
            raise CliError(f"{path} exists already")
    for path, text in written.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(Template(text).substitute(values), encoding="utf-8")
        click.echo(f"wrote {path.relative_to(root)}")
    click.echo(Template(_NEXT_STEPS).substitute(values))


def _templates(folder: Traversable, path: str = "") -> list[tuple[str, str]]:
    """Return the path below ``folder`` and the text of every template."""
    found: list[tuple[str, str]] = []
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        here = f"{path}{entry.name}"
        found += _templates(entry, f"{here}/") if entry.is_dir() else [(here, entry.read_text(encoding="utf-8"))]
    return found


def _target(path: str, values: dict[str, str]) -> str:
    """Return where the template ``path`` goes: "package" and "id" in it stand for the names of the game."""
    target = path.removesuffix(".txt").replace("domain/package/", f"domain/{values['package']}/")
    return target.replace("/id.", f"/{values['id']}.")
