"""The command line ``rookery``. Exit codes: 0 success, 1 failure or faults found, 2 usage error."""

import click

from deploy.cli.lazy_group import LazyGroup
from events.runtime.exit_codes import exit_quickly

COMMANDS = {
    "up": "deploy.cli.up:up",
    "demo": "deploy.cli.demo:demo",
    "relay": "deploy.cli.services:relay",
    "work": "deploy.cli.services:work",
    "gateway": "deploy.cli.gateway:gateway",
    "alive": "deploy.cli.alive:alive",
    "postmaster": "deploy.cli.gateway:postmaster",
    "rebuild": "deploy.cli.store:rebuild",
    "fleet": "deploy.cli.following:fleet",
    "archive": "deploy.cli.archive:archive",
    "backup": "deploy.cli.backup:backup",
    "restore": "deploy.cli.backup:restore",
    "verify": "deploy.cli.store:verify",
    "incidents": "deploy.cli.store:incidents",
    "store": "deploy.cli.store_files:store_files",
    "rules": "deploy.cli.rules:rules",
    "schedules": "deploy.cli.schedules:schedules",
    "tournaments": "deploy.cli.tournaments:tournaments",
    "opponent": "deploy.cli.opponents:opponent",
    "people": "deploy.cli.people:people",
    "clocks": "deploy.cli.clocks:clocks",
    "audit": "deploy.cli.audit:audit_commands",
    "witness": "deploy.cli.witness:witness",
}


@click.group(
    cls=LazyGroup,
    locations=COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(package_name="rookery", message="Rookery %(version)s")
def main() -> None:
    """Rookery: a correspondence server for tower games.

    Commands that need an installation use the one that runs on `var` in the current directory, or else beside the
    program. Name another one with --var DIRECTORY, --redis URL or the variable REDIS_URL.
    """
    exit_quickly()
