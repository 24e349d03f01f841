"""Kill processes under play: ``python -m tests.chaos --store cluster --kills 350 --seconds 900``.

Also with ``--failovers 20`` or ``--power-cuts 20``.
"""

import argparse
import tempfile
import time
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from deploy.local.embedded import ALWAYS, EVERYSEC
from tests.chaos import run
from tests.chaos.campaign import run_campaign
from tests.chaos.failovers import FailoverReport, run_failovers
from tests.chaos.power import CutReport, cut_power
from tests.chaos.report import Report
from tests.chaos.stores import CLUSTER, SENTINEL, SINGLE


def main() -> None:
    """Run, print the report and the faults; exit code 1 when there are any."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description="Kill processes under play and check.")
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seconds", type=float, help="approximate duration of the kills (default: one kill a second)")
    parser.add_argument(
        "--store",
        choices=(SINGLE, SENTINEL, CLUSTER),
        help="kill and pause an installation of several processes on this kind of store, and the servers of the store "
        "(default: kill the installation of rookery up)",
    )
    parser.add_argument("--keep", type=Path, help="keep history and logs in this new directory")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--power-cuts", type=int, help="simulate this many power cuts, with each setting of fsync, instead"
    )
    parser.add_argument(
        "--failovers",
        type=int,
        metavar="ROUNDS",
        help="let the primary fail in each way this often, under load, instead",
    )
    chosen = parser.parse_args()
    start = time.monotonic()

    def print_line(text: str) -> None:
        print(f"{time.monotonic() - start:6.1f} s  {text}", flush=True)

    with _directory(chosen.keep) as var:
        reports: list[Report | FailoverReport | CutReport] = []
        if chosen.failovers:
            reports += (
                run_failovers(Path(var) / f"replicas-{replicas}", replicas, chosen.failovers, print_line)
                for replicas in (1, 2)
            )
        elif chosen.power_cuts:
            reports += (
                cut_power(Path(var) / fsync, chosen.power_cuts, chosen.seed, fsync, print_line)
                for fsync in (ALWAYS, EVERYSEC)
            )
        elif chosen.store:
            seconds = chosen.seconds or 2.5 * chosen.kills
            reports.append(run_campaign(Path(var), chosen.store, chosen.kills, seconds, chosen.seed, print_line))
        else:
            reports.append(run(Path(var), chosen.kills, chosen.seconds or chosen.kills, chosen.seed, print_line))
    for report in reports:
        print(report)
        for fault in report.faults:
            print(fault)
    raise SystemExit(1 if any(report.faults for report in reports) else 0)


def _directory(kept: Path | None) -> AbstractContextManager[str]:
    if kept is None:
        return tempfile.TemporaryDirectory(prefix="rookery-chaos-")
    kept.mkdir(parents=True)
    return nullcontext(str(kept))


main()
