"""The jobs of the fleet: which there are, and ending one."""

import click

from deploy.cli.output import CliError, escape_unprintable
from deploy.cli.target import open_installation, target_options
from events.runtime.wall_clock import rfc3339
from events.service.fleet_jobs import FleetJob, JobState


@click.group()
def fleet() -> None:
    """Work over all matches that the workers of the fleet do: rebuild, verify, audit all, rules impact, the ladder."""


@fleet.command("list")
@target_options
def list_jobs() -> None:
    """List the jobs that run, and those that have ended in the last days."""
    jobs = open_installation().fleet_jobs
    found, workers = jobs.jobs(), jobs.count_workers()
    for job in found:
        click.echo(escape_unprintable(describe(job)))
    click.echo(f"{workers} workers of the fleet run." if workers else "No worker of the fleet runs.")


@fleet.command()
@target_options
@click.argument("job")
def cancel(job: str) -> None:
    """End a JOB; nothing that it has done is undone."""
    jobs = open_installation().fleet_jobs
    found = jobs.job(job)
    if found is None:
        raise CliError(f"there is no job {job}: see rookery fleet list")
    if not jobs.cancel(found):
        raise CliError(f"the job {job} has ended already: it is {found.state}")
    click.echo(f"{job} is cancelled.")


def describe(job: FleetJob) -> str:
    """Return a job as one line."""
    progress = f"{job.units_done} of {job.units}" if job.is_planned else "being planned"
    asked = " ".join(f"{name}={value}" for name, value in job.parameters.items())
    state = job.state if job.state != JobState.FAILED else f"{job.state}: {job.reason}"
    return "  ".join(filter(None, (job.id, rfc3339(job.requested_at), progress, asked, state)))
