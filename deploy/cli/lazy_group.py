"""Groups whose commands are imported one by one, so that a command costs only the time of its own imports."""

import gc
import sys
from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType, ModuleType
from typing import Any

import click
from environs import EnvError

from deploy.cli.output import CliError
from events.runtime.errors import StoreError


class LazyGroup(click.Group):
    """A group whose commands are imported from ``module:variable`` when they are called or listed.

    An environment variable that cannot be read, and any error of the store, fails a command with its message.
    """

    def __init__(self, *arguments: Any, locations: Mapping[str, str] = MappingProxyType({}), **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._locations = locations

    def list_commands(self, context: click.Context) -> list[str]:
        """Return the names of all commands in alphabetical order."""
        return sorted([*super().list_commands(context), *self._locations])

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        """Return the command ``name``, or None when there is none."""
        if name not in self._locations:
            return super().get_command(context, name)
        module, _, variable = self._locations[name].partition(":")
        command: click.Command = getattr(_imported(module), variable)
        return command

    def invoke(self, context: click.Context) -> Any:
        """Run the command; raises CliError for an invalid setting, and for errors of the store."""
        try:
            return super().invoke(context)
        except (EnvError, StoreError) as error:
            raise CliError(str(error)) from error


def _imported(name: str) -> ModuleType:
    """Return the module, exempt from garbage collection, which would take an eighth of the time of a start."""
    if name in sys.modules:
        return sys.modules[name]
    gc.disable()
    try:
        return import_module(name)
    finally:
        gc.freeze()
        gc.enable()
