"""The command line ``rookery``. Exit codes: 0 done, 1 refused or found wanting, 2 asked for in a wrong way."""

from typing import Any

import click
from environs import EnvError

from deploy.cli.accounts import rename, reset_password, restore, suspend
from deploy.cli.arguments import Refusal
from deploy.cli.audit import audit_commands
from deploy.cli.checkpoints import checkpoint, consistency, keys, revoke_key, rotate_key
from deploy.cli.clocks import clocks
from deploy.cli.everything import examine_everything
from deploy.cli.files import store_files
from deploy.cli.opponents import opponent
from deploy.cli.people import people
from deploy.cli.rules import rules
from deploy.cli.serving import demo, relay, up
from deploy.cli.simulation import simulation
from deploy.cli.store import incidents, rebuild, verify


class Commands(click.Group):
    """Commands that refuse, whichever it is, a setting in the environment that cannot be used, in its words."""

    def invoke(self, context: click.Context) -> Any:
        """Run the command; raises Refusal for an unfit setting."""
        try:
            return super().invoke(context)
        except EnvError as error:
            raise Refusal(str(error)) from error


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="rookery", message="Rookery %(version)s")
def main() -> None:
    """Rookery: a correspondence server for tower games."""


for command in (
    up,
    demo,
    relay,
    rebuild,
    verify,
    incidents,
    store_files,
    rules,
    opponent,
    people,
    clocks,
    audit_commands,
    simulation,
):
    main.add_command(command)
for command in (examine_everything, checkpoint, consistency, keys, rotate_key, revoke_key):
    audit_commands.add_command(command)
for command in (suspend, restore, rename, reset_password):
    people.add_command(command)
