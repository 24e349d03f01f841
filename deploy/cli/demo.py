"""The demonstration."""

import click

from deploy.cli.output import CliError
from deploy.local.demo import DemoError, play_demo
from deploy.local.installation import InstallationError


@click.command()
@click.option("--seed", type=int, default=1, show_default=True, help="Determines the moves.")
def demo(seed: int) -> None:
    """Play two complete matches over HTTP on a temporary installation."""
    try:
        play_demo(seed, click.echo)
    except (DemoError, InstallationError) as error:
        raise CliError(f"The demonstration failed: {error}") from error
