"""Side-by-side measurement: subjects are measured in turns, and only ratios within a turn are reported."""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from statistics import median
from typing import NamedTuple

Measured = Callable[[], tuple[int, float]]
"""Does some work and returns the number of units and the seconds."""


class Rates(NamedTuple):
    """Units per second of one subject in every turn."""

    turns: tuple[float, ...]

    @property
    def typical(self) -> float:
        return median(self.turns)

    def over(self, other: "Rates") -> float:
        """Return the median, over the turns, of this rate divided by ``other``'s in the same turn."""
        return median(one / two for one, two in zip(self.turns, other.turns, strict=True))


def measure_in_turns(subjects: Mapping[str, Measured], turns: int) -> dict[str, Rates]:
    """Measure all ``subjects`` in turn, ``turns`` times, and return their rates."""
    measured: dict[str, list[float]] = {name: [] for name in subjects}
    for _ in range(turns):
        for name, subject in subjects.items():
            units, seconds = subject()
            measured[name].append(units / seconds)
    return {name: Rates(tuple(rates)) for name, rates in measured.items()}


def repeat(work: Callable[[], int], seconds: float, clock: Callable[[], float] = time.process_time) -> Measured:
    """Return a subject that repeats ``work``, which returns its number of units, for ``seconds`` of ``clock``."""

    def subject() -> tuple[int, float]:
        units = 0
        start = clock()
        while True:
            units += work()
            taken = clock() - start
            if taken >= seconds:
                return units, taken

    return subject


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value that ``share`` (0 to 1) of ``values`` do not exceed."""
    ordered = sorted(values)
    return ordered[min(math.ceil(share * len(ordered)), len(ordered)) - 1]


class Table:
    """Rows of figures as text, with their targets."""

    def __init__(self, title: str, *columns: str) -> None:
        self.title = title
        self._rows: list[tuple[str, ...]] = [columns]

    def add(self, *cells: str | float) -> None:
        """Add a row; numbers are written with three significant digits."""
        self._rows.append(tuple(cell if isinstance(cell, str) else format_number(cell) for cell in cells))

    def __str__(self) -> str:
        """Return the title and the rows, the first column left and the others right aligned."""
        widths = [max(len(row[column]) for row in self._rows) for column in range(len(self._rows[0]))]
        lines = []
        for row in self._rows:
            first, *rest = (
                cell.ljust(w) if not c else cell.rjust(w) for c, (cell, w) in enumerate(zip(row, widths, strict=True))
            )
            lines.append("  ".join((first, *rest)).rstrip())
        lines.insert(1, "-" * max(map(len, lines)))
        return "\n".join((f"\n{self.title}", *lines))


def format_number(value: float) -> str:
    """Return ``value`` with three significant digits and thousands separated."""
    if value == 0 or abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.{2 - math.floor(math.log10(abs(value)))}f}"


def verdict(value: float, target: float, at_least: bool = True) -> str:
    """Return ``target`` and whether ``value`` meets it."""
    reached = value >= target if at_least else value <= target
    return f"{'>=' if at_least else '<='} {target:g} {'yes' if reached else 'NO'}"
