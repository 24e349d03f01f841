"""What commands print."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

import click


def escape_unprintable(text: str) -> str:
    """Return ``text`` as one line in which nothing is hidden: others may have written anything into it.

    Line feeds, terminal escape sequences and marks that change the direction of writing are shown as their codes.
    """
    return "".join(
        each if each.isprintable() else each.encode("unicode_escape", "backslashreplace").decode() for each in text
    )


class Step(Protocol):
    """What is called after one or more steps."""

    def __call__(self, steps: int = 1) -> None:
        """Show that ``steps`` more are done."""


@contextmanager
def progress_bar(length: int, label: str) -> Iterator[Step]:
    """Show a progress bar of ``length`` steps on standard error; yields the function to call after each."""
    with click.progressbar(length=length, label=label, file=sys.stderr) as bar:

        def step(steps: int = 1) -> None:
            bar.update(steps)

        yield step
