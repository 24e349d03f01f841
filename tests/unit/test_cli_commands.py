"""The commands of ``rookery``: found under their names, and imported one by one."""

import subprocess
import sys

import click
import pytest
from click.testing import CliRunner

from deploy.cli import main
from deploy.cli.audit import audit_commands
from deploy.cli.people import people


@pytest.mark.parametrize("group", [main, audit_commands, people], ids=lambda group: group.name)
def test_every_command_has_the_name_under_which_it_is_called_and_a_sentence_of_help(group: click.Group) -> None:
    context = click.Context(group)
    names = group.list_commands(context)
    assert len(names) > 5
    for name in names:
        command = group.get_command(context, name)
        assert command is not None
        assert command.name == name
        assert command.get_short_help_str()
    assert group.get_command(context, "nonsense") is None


def test_a_command_imports_no_other_command() -> None:
    program = (
        "import gc, sys; from deploy.cli import main; main(['relay', '--help'], standalone_mode=False);"
        "print(gc.isenabled());"
        "print(*(name for name in sys.modules if name.startswith('deploy.')))"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    *_, collects, modules = ran.stdout.splitlines()
    assert collects == "True", "garbage is collected again after the imports"
    imported = set(modules.split())
    assert "deploy.cli.services" in imported
    assert not imported & {"deploy.cli.audit", "deploy.cli.vectors"}


def test_a_queue_that_there_is_not_is_refused_with_those_that_there_are() -> None:
    refused = CliRunner().invoke(main, ["work", "default", "slow"])
    assert refused.exit_code == 2
    assert "there is no queue 'slow', only default, opponents-quick, opponents, notices, fleet" in refused.stderr
