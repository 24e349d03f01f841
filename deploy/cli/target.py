"""Which installation a command uses: the store that is named, or else the installation that runs on this machine.

In this order: ``--redis URL``, the environment variable REDIS_URL, ``--var DIRECTORY``, ``var`` in the current
directory, ``var`` beside the program. The choice is printed on standard error.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from urllib.parse import urlsplit

import click
from environs import ValidationError

from deploy.cli.output import CliError
from deploy.local.environment import ENVIRONMENT_FILE, ROOT, parse_exports
from deploy.local.ports import is_serving
from events.installation import Installation
from events.runtime.connections import StoreClient, connect
from events.runtime.errors import StoreError
from events.runtime.settings import Settings, check_store
from events.runtime.topology import WrongTopologyError, read_topology
from events.store.archive.store import make_store

F = TypeVar("F", bound=Callable[..., Any])

_REDIS, _VAR, _TARGET = (f"{__name__}.{name}" for name in ("redis", "var", "target"))


class InstallationTarget(NamedTuple):
    """The settings of an installation, and the directory where it keeps everything, which may not exist."""

    settings: Settings
    var: Path


def target_options(command: F) -> F:
    """Give ``command`` the options --redis and --var, which name the installation it uses."""
    var_type = click.Path(file_okay=False, path_type=Path)
    redis = click.option(
        "--redis", callback=_store_redis, expose_value=False, help="The store, as redis://host:6379/0; also REDIS_URL."
    )
    var = click.option(
        "--var", type=var_type, callback=_store_var, expose_value=False, help="Directory of the installation."
    )
    return redis(var(command))


def find_target() -> InstallationTarget:
    """Return the installation that the current command uses. Raises CliError when none runs, and environs.EnvError."""
    meta = click.get_current_context().meta
    if _TARGET not in meta:
        meta[_TARGET], message = _find(meta.get(_REDIS), meta.get(_VAR))
        click.echo(message, err=True)
    target: InstallationTarget = meta[_TARGET]
    return target


def find_var(named: Path | None = None) -> Path:
    """Return the directory ``named``, or else ``var`` here, unless only the one beside the program exists."""
    if named is not None:
        return named
    here, beside = Path("var"), ROOT / "var"
    return beside if beside.is_dir() and not here.is_dir() else here


def names_store() -> bool:
    """Return whether the current command names a store, by --redis or REDIS_URL."""
    return bool(click.get_current_context().meta.get(_REDIS) or Settings.from_environment(redis_url="").redis_url)


def named_var() -> Path | None:
    """Return the directory that --var names for the current command, None without it."""
    named: Path | None = click.get_current_context().meta.get(_VAR)
    return named


def open_installation() -> Installation:
    """Return the parts of the installation; raises like ``find_target``, and CliError for a store of another kind."""
    settings = find_target().settings
    installation = Installation(settings, store=make_store(settings, creates=False))
    refuse_other_kinds(installation.client)
    return installation


def refuse_other_kinds(client: StoreClient) -> None:
    """Raise CliError when the URL of the store names servers of another kind; a store that is away is no error here."""
    try:
        read_topology(client)
    except WrongTopologyError as error:
        raise CliError(str(error)) from error
    except StoreError:
        return


def open_if_running() -> Installation | None:
    """Return the parts of the installation like ``open_installation``; None where none is named and none runs."""
    meta = click.get_current_context().meta
    try:
        return open_installation()
    except CliError:
        if _REDIS in meta or _VAR in meta:
            raise
        return None


def _store_redis(context: click.Context, parameter: click.Parameter, value: str | None) -> None:
    if value is not None:
        try:
            check_store(value)
        except ValidationError as error:
            raise click.BadParameter(" ".join(map(str, error.messages)), context, parameter) from error
        context.meta[_REDIS] = value


def _store_var(context: click.Context, _: click.Parameter, value: Path | None) -> None:
    if value is not None:
        context.meta[_VAR] = value


def _find(redis_url: str | None, named: Path | None) -> tuple[InstallationTarget, str]:
    var = find_var(named)
    settings = Settings.from_environment(redis_url="", named_store=redis_url)
    if settings.redis_url:
        source = "--redis" if redis_url else "REDIS_URL"
        return InstallationTarget(
            settings, var
        ), f"Using the store {without_secrets(settings.redis_url)}, named by {source}."
    try:
        running = parse_exports((var / ENVIRONMENT_FILE).read_text())
        settings = settings._replace(
            redis_url=running["REDIS_URL"], broker_url=running["BROKER_URL"], prefix=running["ROOKERY_PREFIX"]
        )
    except (OSError, ValueError, KeyError):
        raise _not_running(var) from None
    if "ROOKERY_KEY_FILE" in running:
        settings = settings._replace(key_file=Path(running["ROOKERY_KEY_FILE"]))
    if "ROOKERY_ARCHIVE_URL" in running:
        settings = settings._replace(archive_url=running["ROOKERY_ARCHIVE_URL"])
    if "ROOKERY_CHECKPOINT_GUARD" in running:
        settings = settings._replace(checkpoint_guard=running["ROOKERY_CHECKPOINT_GUARD"])
    with connect(settings.redis_url) as client:
        if not is_serving(client):
            raise _not_running(var)
    return InstallationTarget(
        settings, var
    ), f"Using the installation in {var.resolve()} (name another: --var or --redis)."


def _not_running(var: Path) -> CliError:
    return CliError(
        f"No Rookery runs on {var.resolve()}: start it (make run), or name another one with --var DIRECTORY, "
        "--redis URL or REDIS_URL."
    )


def without_secrets(url: str) -> str:
    """Return ``url`` without user, password and options, as it may be shown."""
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl().partition("?")[0]
