"""Rebuilding the read models."""

import click

from deploy.cli.errors import CliError, report_errors
from deploy.cli.following import follow_job
from deploy.cli.processes import processes_option
from deploy.cli.target import open_installation, target_options
from events.readmodels import dump
from workers.fleet.kinds import REBUILD
from workers.fleet.rebuild import Rebuilt


@click.command()
@target_options
@click.option("--check", is_flag=True, help="Fail when the new read models differ from the old ones.")
@processes_option
def rebuild(check: bool, processes: int) -> None:
    """Rebuild all read models from the events, then switch to them.

    Everything else may keep running. --check then also reports what changed meanwhile.
    """
    installation, total = open_installation(), Rebuilt()

    def show(rebuilt: Rebuilt) -> None:
        nonlocal total
        total = total.plus(rebuilt)
        for match_id, reason in rebuilt.left_out:
            click.echo(f"LEFT OUT {match_id}: {reason}")

    with report_errors():
        running = installation.fleet_jobs.find_running(REBUILD, {})
        if check and running is not None:
            raise CliError(
                f"the job {running.id} is rebuilding the read models already: --check has nothing to compare with "
                "until it has ended"
            )
        keys = installation.readmodels.keys
        before = dump(installation.client, keys) if check else {}
        follow_job(REBUILD, {}, processes, "Rebuilding", show)
        after = dump(installation.client, keys) if check else {}
    different = sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
    for name in different:
        click.echo(f"DIFFERENT {name}")
    click.echo(f"{total.matches} matches, {total.events} events")
    if total.left_out or different:
        raise SystemExit(1)
