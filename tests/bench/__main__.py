"""Print all benchmark tables: ``python -m tests.bench [--only rules]``."""

import argparse
import importlib
import os
import platform

TABLES = (
    "rules", "walks", "search", "store", "wait", "submission", "relays", "memory", "archive", "backup", "forecasts",
    "broker", "fleet", "scale", "whole", "crowd", "footprint", "requests", "endings", "pages", "seeks",
)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="make bench", description="Print tables of figures, medians of several turns."
    )
    parser.add_argument("--only", choices=TABLES, help="measure one table only")
    only = parser.parse_args().only
    load = ", ".join(f"{average:.1f}" for average in os.getloadavg())
    print(f"{platform.python_implementation()} {platform.python_version()}, {os.cpu_count()} processors, load {load}")
    for name in TABLES if only is None else (only,):
        for table in importlib.import_module(f"tests.bench.{name}").tables():
            print(table, flush=True)


main()
