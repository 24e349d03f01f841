"""Kill processes under play: ``python -m tests.chaos --kills 200 --seconds 300``; also with ``--mail 4``."""

import argparse
import tempfile
import time
from pathlib import Path

from deploy.local.embedded import ALWAYS, EVERYSEC
from tests.chaos import Report, run
from tests.chaos.mail import MailReport, run_mail
from tests.chaos.power import CutReport, cut_power


def main() -> None:
    """Run, print the report and the faults; exit code 1 when there are any."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description="Kill processes under play and check.")
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seconds", type=float, help="approximate duration of the kills (default: one kill a second)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--power-cuts", type=int, help="simulate this many power cuts, with each setting of fsync, instead"
    )
    parser.add_argument("--mail", type=int, metavar="MATCHES", help="play this many matches by mail instead")
    chosen = parser.parse_args()
    start = time.monotonic()

    def print_line(text: str) -> None:
        print(f"{time.monotonic() - start:6.1f} s  {text}", flush=True)

    with tempfile.TemporaryDirectory(prefix="rookery-chaos-") as var:
        reports: list[Report | CutReport | MailReport] = []
        if chosen.mail:
            seconds = chosen.seconds or 5 * chosen.kills
            reports.append(run_mail(Path(var), chosen.mail, chosen.kills, seconds, chosen.seed, print_line))
        elif chosen.power_cuts:
            reports += (
                cut_power(Path(var) / fsync, chosen.power_cuts, chosen.seed, fsync, print_line)
                for fsync in (ALWAYS, EVERYSEC)
            )
        else:
            reports.append(run(Path(var), chosen.kills, chosen.seconds or chosen.kills, chosen.seed, print_line))
    for report in reports:
        print(report)
        for fault in report.faults:
            print(fault)
    raise SystemExit(1 if any(report.faults for report in reports) else 0)


main()
