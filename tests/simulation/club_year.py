"""Play and audit the year of a club: a part of ``make simulate``, or ``python -m tests.simulation.club_year``."""

import logging
from pathlib import Path
from tempfile import TemporaryDirectory

import click
import structlog

from deploy.cli.output import progress_bar
from tests.simulation.club import MAX_DAYS, Club
from tests.simulation.club_audit import audit_club, report
from tests.support.server import RealServer
from tests.support.stepped_installation import SteppedInstallation


@click.command()
@click.option("--seed", type=int, default=1, show_default=True, help="Another seed gives another year.")
def main(seed: int) -> None:
    """Play a year of 40 people with seeks and four tournaments on a server, and audit all of it.

    Every contest is decided again from its commands, every tournament computed again from its signed bundle and by a
    slow second reading, and the notices to each person are counted. Exit code 1 when any check fails.
    """
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
    with TemporaryDirectory() as directory:
        server = RealServer(Path(directory))
        try:
            with progress_bar(MAX_DAYS, "Playing") as step:
                year = Club(SteppedInstallation(server.url), seed, step).play()
            made, findings = audit_club(year)
            click.echo("\n".join(report(year)))
        finally:
            server.close()
    click.echo(f"\n{'check':<60} {'places':>9} {'failed':>6}")
    for check, places in sorted(made.items()):
        click.echo(f"  {check:<58} {places:>9} {sum(finding.check == check for finding in findings):>6}")
    for finding in findings:
        click.echo(f"FAILED: {finding.check}: {finding.place}")
    if findings:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
