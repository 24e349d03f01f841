"""Groups of commands that are imported one by one, so that each costs the time of its own imports alone."""

from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Any

import click
from environs import EnvError

from deploy.cli.arguments import Refusal


class Commands(click.Group):
    """A group whose commands are imported when they are called or listed.

    ``places`` says where each command is, as ``module:variable``, by the name under which it is called. A setting in
    the environment that cannot be used is refused in its words, whichever the command.
    """

    def __init__(self, *arguments: Any, places: Mapping[str, str] = MappingProxyType({}), **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._places = places

    def list_commands(self, context: click.Context) -> list[str]:
        """Return the names of all commands in the order of the alphabet."""
        return sorted([*super().list_commands(context), *self._places])

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        """Return the command ``name``, or None when there is none."""
        if name not in self._places:
            return super().get_command(context, name)
        module, _, variable = self._places[name].partition(":")
        command: click.Command = getattr(import_module(module), variable)
        return command

    def invoke(self, context: click.Context) -> Any:
        """Run the command; raises Refusal for an unfit setting."""
        try:
            return super().invoke(context)
        except EnvError as error:
            raise Refusal(str(error)) from error
