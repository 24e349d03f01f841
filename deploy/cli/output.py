"""What commands print."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click


def escape_unprintable(text: str) -> str:
    """Return ``text`` as one line in which nothing is hidden: others may have written anything into it.

    Line feeds, terminal escape sequences and marks that change the direction of writing are shown as their codes.
    """
    return "".join(
        each if each.isprintable() else each.encode("unicode_escape", "backslashreplace").decode() for each in text
    )


@contextmanager
def progress_bar(length: int, label: str) -> Iterator[Callable[[], None]]:
    """Show a progress bar of ``length`` steps on standard error; yields the function to call after each step."""
    with click.progressbar(range(length), label=label, file=sys.stderr) as bar:
        yield lambda: bar.update(1)
