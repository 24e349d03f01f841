"""How the domain was built: as plain Python, the reference, or compiled with mypyc (``make compile``)."""

from typing import Final


def _probe() -> None:
    """A function has byte code only in plain Python."""


COMPILED: Final = not hasattr(_probe, "__code__")
"""Whether this process runs the compiled build: the same choices, values and node counts in a fraction of the time."""
