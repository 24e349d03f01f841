"""Print how the figures of this checkout compare with those of an older one: ``python -m tests.bench.compare OLD``.

Both measure the same tables in turns, each in its own environment (``.venv``). Every number is the median, over the
rounds, of the new figure divided by the old one of the same round. Rows and columns are matched by their places, so
that they may be called differently.
"""

import argparse
import re
import subprocess
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from statistics import median

from tests.bench.measure import Table

ROOT = Path(__file__).parents[2]
TABLES = ("rules", "store", "submission", "memory", "pages")
NUMBER = re.compile(r"-?[0-9][0-9,]*(\.[0-9]+)?(e[+-]?[0-9]+)?")
Printed = list[list[str]]
"""The printed rows of a table, title and column names first."""


def run_table(checkout: Path, table: str) -> list[Printed]:
    """Return the tables that ``make bench ONLY=table`` prints in ``checkout``."""
    python = checkout / ".venv" / "bin" / "python"
    command = [str(python), "-m", "tests.bench", "--only", table]
    ran = subprocess.run(command, cwd=checkout, capture_output=True, text=True, check=True)
    _, *printed = ran.stdout.split("\n\n")
    return [parse_table(text) for text in printed]


def parse_table(text: str) -> Printed:
    """Return the cells of a table: all columns but the first are aligned at the right ends of their names."""
    title, header, *lines = (line for line in text.strip("\n").splitlines() if set(line) != {"-"})
    names = [(found[0], found.end()) for found in re.finditer(r"\S+( \S+)*", header)]
    names = [("", 0), *names] if header.startswith(" ") else names
    rows = []
    for line in lines:
        first, *second = re.split(r" {2,}", line[: names[1][1]].rstrip())
        rest = [line[start:end].strip() for (_, start), (_, end) in pairwise(names[1:])]
        rows.append([first, *(second[-1:] or [""]), *rest])
    return [[title], [name for name, _ in names], *rows]


def ratios(rounds: Sequence[tuple[Printed, Printed]]) -> Table:
    """Return a table of ratios, new to old; ``rounds`` are the old and the new figures of each round."""
    old, new = rounds[0]
    table = Table(f"{new[0][0]}: new / old, median of {len(rounds)} rounds", *new[1])
    if [len(row) for row in old] != [len(row) for row in new]:
        raise SystemExit(f"the rows or columns of this table are others than they were: {old[0][0]}")
    for number, row in enumerate(new[2:], 2):
        table.add(row[0], *(_ratio(rounds, number, column) for column in range(1, len(row))))
    return table


def _ratio(rounds: Sequence[tuple[Printed, Printed]], row: int, column: int) -> str:
    ratios = []
    for figures in rounds:
        old, new = (table[row][column] for table in figures)
        if not (NUMBER.fullmatch(old) and NUMBER.fullmatch(new)):
            return ""
        before, after = (float(text.replace(",", "")) for text in (old, new))
        if before:
            ratios.append(after / before)
    return f"{median(ratios):.3f}" if ratios else ""


def main() -> None:
    parser = argparse.ArgumentParser(prog="make bench-compare", description="Compare figures with an older checkout.")
    parser.add_argument("old", type=Path, help="the older checkout, with its environment in .venv")
    parser.add_argument("--only", nargs="+", default=TABLES, help=f"tables to compare (default: {' '.join(TABLES)})")
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    for name in arguments.only:
        rounds = []
        for number in range(arguments.rounds):
            places = (arguments.old.resolve(), ROOT) if number % 2 == 0 else (ROOT, arguments.old.resolve())
            figures = {place: run_table(place, name) for place in places}
            rounds.append((figures[arguments.old.resolve()], figures[ROOT]))
        for each in range(len(rounds[0][1])):
            print(ratios([(old[each], new[each]) for old, new in rounds]), flush=True)


if __name__ == "__main__":
    main()
