"""How the domain was built: as plain Python, the reference, or compiled with mypyc (``make compile``)."""

from typing import Final


def _probe() -> None:
    """Do nothing: a function of plain Python has byte code, a compiled one has none."""


COMPILED: Final = not hasattr(_probe, "__code__")
"""Whether this process runs the compiled build: the same choices, values and node counts in a fraction of the time."""
