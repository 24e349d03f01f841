"""Which installation a command acts on: the store that is named, or else the installation that runs here.

In this order: ``--redis URL``, the environment variable REDIS_URL, ``--var DIRECTORY``, ``var`` in the current folder,
``var`` beside the program. What was chosen is printed on standard error.
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from urllib.parse import urlsplit

import click
from environs import ValidationError

from deploy.cli.arguments import Refusal
from deploy.local.environment import ENVIRONMENT_FILE, parse_exports
from deploy.local.ports import is_serving
from events.installation import Installation
from events.runtime.connections import connect
from events.runtime.settings import Settings, check_store

F = TypeVar("F", bound=Callable[..., Any])

BESIDE_THE_PROGRAM = Path(__file__).parents[2]
_REDIS, _VAR, _FOUND = (f"{__name__}.{name}" for name in ("redis", "var", "found"))


class Found(NamedTuple):
    """The settings of an installation, and the directory where it keeps everything, which may not exist."""

    settings: Settings
    var: Path


def store_options(command: F) -> F:
    """Give ``command`` the options --redis and --var, which say which installation it acts on."""
    var_kind = click.Path(file_okay=False, path_type=Path)
    redis = click.option(
        "--redis", callback=_checked, expose_value=False, help="The store, as redis://host:6379/0; also REDIS_URL."
    )
    var = click.option(
        "--var", type=var_kind, callback=_kept, expose_value=False, help="Where the installation keeps everything."
    )
    return redis(var(command))


def find() -> Found:
    """Return the installation that the present command acts on; the first call says which on standard error.

    Raises Refusal when none runs where it was looked for, and environs.EnvError for an unfit setting.
    """
    meta = click.get_current_context().meta
    if _FOUND not in meta:
        meta[_FOUND], said = _find(meta.get(_REDIS), meta.get(_VAR))
        click.echo(said, err=True)
    found: Found = meta[_FOUND]
    return found


def find_var(named: Path | None = None) -> Path:
    """Return the directory ``named``, or else ``var`` in the current folder or beside the program.

    It is the first one that exists, or ``var`` in the current folder when neither does.
    """
    if named is not None:
        return named
    here, beside = Path("var"), BESIDE_THE_PROGRAM / "var"
    return beside if beside.is_dir() and not here.is_dir() else here


def open_installation() -> Installation:
    """Return the parts of the installation that the present command acts on; raises like ``find``."""
    return Installation(find().settings)


def _checked(context: click.Context, parameter: click.Parameter, value: str | None) -> None:
    if value is not None:
        try:
            check_store(value)
        except ValidationError as error:
            raise click.BadParameter(" ".join(map(str, error.messages)), context, parameter) from error
        context.meta[_REDIS] = value


def _kept(context: click.Context, _: click.Parameter, value: Path | None) -> None:
    if value is not None:
        context.meta[_VAR] = value


def _find(redis_url: str | None, named: Path | None) -> tuple[Found, str]:
    var = find_var(named)
    settings = Settings.from_environment()
    if redis_url is not None or "REDIS_URL" in os.environ:
        by = "REDIS_URL" if redis_url is None else "--redis"
        settings = settings._replace(redis_url=redis_url or settings.redis_url)
        return Found(settings, var), f"Acting on the store {_without_password(settings.redis_url)}, which {by} names."
    try:
        running = parse_exports((var / ENVIRONMENT_FILE).read_text())
        settings = settings._replace(
            redis_url=running["REDIS_URL"], broker_url=running["BROKER_URL"], prefix=running["ROOKERY_PREFIX"]
        )
    except (OSError, ValueError, KeyError):
        raise _nothing_runs(var) from None
    if "ROOKERY_KEY_FILE" in running:
        settings = settings._replace(key_file=Path(running["ROOKERY_KEY_FILE"]))
    with connect(settings.redis_url) as client:
        if not is_serving(client):
            raise _nothing_runs(var)
    return Found(settings, var), f"Acting on the installation in {var.resolve()} (name another: --var or --redis)."


def _nothing_runs(var: Path) -> Refusal:
    return Refusal(
        f"No Rookery runs on {var.resolve()}: start it (make run), or name another one with --var DIRECTORY, "
        "--redis URL or REDIS_URL."
    )


def _without_password(url: str) -> str:
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl().partition("?")[0]
