"""The command line ``rookery``. Exit codes: 0 done, 1 refused or found wanting, 2 asked for in a wrong way."""

import click

from deploy.cli.commands import Commands
from events.runtime.exit_codes import exit_quickly

PLACES = {
    "up": "deploy.cli.serving:up",
    "demo": "deploy.cli.serving:demo",
    "relay": "deploy.cli.serving:relay",
    "work": "deploy.cli.serving:work",
    "rebuild": "deploy.cli.store:rebuild",
    "verify": "deploy.cli.store:verify",
    "incidents": "deploy.cli.store:incidents",
    "store": "deploy.cli.files:store_files",
    "rules": "deploy.cli.rules:rules",
    "opponent": "deploy.cli.opponents:opponent",
    "people": "deploy.cli.people:people",
    "clocks": "deploy.cli.clocks:clocks",
    "audit": "deploy.cli.audit:audit_commands",
}


@click.group(
    cls=Commands,
    places=PLACES,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(package_name="rookery", message="Rookery %(version)s")
def main() -> None:
    """Rookery: a correspondence server for tower games.

    Commands on an installation act on the one that runs on `var` in the current folder, or else beside the program.
    Name another one with --var DIRECTORY, --redis URL or the variable REDIS_URL.
    """
    exit_quickly()
