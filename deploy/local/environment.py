"""The settings of an installation on this machine, and the environment that passes them to processes and shells."""

import os
import shlex
from collections.abc import Mapping
from pathlib import Path

from deploy.local.ports import LOOPBACK, Ports
from deploy.local.private_files import GUARD_DIRECTORY, KEY_FILE, KEYS_DIRECTORY
from events.runtime.settings import STORE_URL, Settings, next_database
from events.store.mark import MARK

ROOT = Path(__file__).parents[2]
ARCHIVE_DIRECTORY = "archive"
ENVIRONMENT_FILE = "environment"
"""The file that a shell sources to run commands on the store of a running installation."""


def local_settings(var: Path, ports: Ports, host: str, password: str, embedded: bool | None) -> tuple[Settings, bool]:
    """Return the settings of an installation on this machine, and whether it runs the embedded server.

    ``embedded`` True runs it whatever REDIS_URL names, None only where that names no store. Raises environs.EnvError.
    """
    embedded_url = f"redis://:{password}@{LOOPBACK}:{ports.server}/0"
    settings = Settings.from_environment(
        redis_url=embedded_url if embedded is None else STORE_URL,
        stream_url=f"http://{host}:{ports.stream}",
        page_url=f"http://{host}:{ports.api}",
    )
    if embedded:
        settings = settings._replace(redis_url=embedded_url, broker_url=next_database(embedded_url))
    if settings.redis_url != embedded_url:
        return settings._replace(mark_file=settings.mark_file or (var / MARK).resolve()), False
    key_file = settings.key_file or var / KEYS_DIRECTORY / KEY_FILE
    archive_url = settings.archive_url or (var / ARCHIVE_DIRECTORY).resolve().as_uri()
    guard = settings.checkpoint_guard or str((var / KEYS_DIRECTORY / GUARD_DIRECTORY).resolve())
    settings = settings._replace(key_file=key_file, archive_url=archive_url, checkpoint_guard=guard)
    return settings._replace(mark_file=None), True


def child_environment(settings: Settings, build: Path | None = None) -> dict[str, str]:
    """Return the environment of the processes of an installation; ``build`` has the domain that they import."""
    path = [*([] if build is None else [str(build)]), str(ROOT), os.environ.get("PYTHONPATH", "")]
    return {
        # The mark of the embedded server is kept by the supervisor alone.
        **{name: value for name, value in os.environ.items() if name != "ROOKERY_MARK_FILE"},
        **store_environment(settings),
        "ROOKERY_STREAM_URL": settings.stream_url,
        "ROOKERY_PAGE_URL": settings.page_url,
        "PYTHONPATH": os.pathsep.join(filter(None, path)),
        # Else the working directory, which may have the sources, would come before the build.
        **({} if build is None else {"PYTHONSAFEPATH": "1"}),
        "PYTHONUNBUFFERED": "1",
    }


def store_environment(settings: Settings) -> dict[str, str]:
    """Return the environment variables by which a program reaches the store."""
    optional = {
        "ROOKERY_KEY_FILE": settings.key_file,
        "ROOKERY_ARCHIVE_URL": settings.archive_url,
        "ROOKERY_CHECKPOINT_GUARD": settings.checkpoint_guard,
        "ROOKERY_MARK_FILE": settings.mark_file,
    }
    return {
        "REDIS_URL": settings.redis_url,
        "BROKER_URL": settings.broker_url,
        "ROOKERY_PREFIX": settings.prefix,
        **{name: str(value) for name, value in optional.items() if value is not None},
    }


def format_exports(environment: Mapping[str, str]) -> str:
    """Return the lines with which a shell exports ``environment``."""
    return "".join(f"export {name}={shlex.quote(value)}\n" for name, value in environment.items())


def parse_exports(text: str) -> dict[str, str]:
    """Return the environment that ``format_exports`` wrote as ``text``; raises ValueError for a truncated text."""
    return dict(word.split("=", 1) for word in shlex.split(text) if word != "export")
