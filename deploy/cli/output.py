"""Output of commands, and their failures: with a message and exit code 1."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

import click


class CliError(click.ClickException):
    """Something that cannot be done as requested: exit code 1 and the reason."""

    def show(self, file: Any = None) -> None:
        """Print the reason alone, without a prefix."""
        click.echo(self.message, file=file, err=file is None)


@contextmanager
def report_errors(*types: type[Exception]) -> Iterator[None]:
    """Turn errors of ``types`` into a CliError; those of the store are in any command."""
    try:
        yield
    except types as error:
        raise CliError(str(error)) from error


def escape_unprintable(text: str) -> str:
    """Return ``text`` as one line in which nothing is hidden: others may have written anything into it.

    Line feeds, terminal escape sequences and marks that change the direction of writing are shown as their codes.
    """
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape", "backslashreplace").decode()
        for character in text
    )


class ProgressReporter(Protocol):
    """A function that is called after one or more steps."""

    def __call__(self, steps: int = 1) -> None:
        """Show that ``steps`` more are done."""


@contextmanager
def progress_bar(length: int, label: str) -> Iterator[ProgressReporter]:
    """Show a progress bar of ``length`` steps on standard error; yields the function to call after each."""
    with click.progressbar(length=length, label=label, file=sys.stderr) as bar:

        def step(steps: int = 1) -> None:
            bar.update(steps)

        yield step
