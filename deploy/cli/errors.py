"""How commands fail: with a message and exit code 1."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from events.runtime.errors import StoreError


class CliError(click.ClickException):
    """Something that cannot be done as requested: exit code 1 and the reason."""

    def show(self, file: Any = None) -> None:
        """Print the reason alone, without a prefix."""
        click.echo(self.message, file=file, err=file is None)


@contextmanager
def report_errors(*types: type[Exception]) -> Iterator[None]:
    """Turn errors of ``types`` (by default those of the store) into a CliError."""
    try:
        yield
    except types or (StoreError,) as error:  # noqa: B030 - a tuple of them
        raise CliError(str(error)) from error
