"""Reading the policies that commands are given."""

from pathlib import Path

from deploy.cli.errors import CliError
from deploy.cli.output import escape_unprintable
from events.proof.documents import DocumentError
from events.proof.policies import Policy, parse_policy


def read_policy(path: Path | None) -> Policy | None:
    """Return the policy in a file, None without a file; raises CliError with the line of its first fault."""
    if path is None:
        return None
    try:
        return parse_policy(path.read_bytes())
    except DocumentError as fault:
        raise CliError(escape_unprintable(f"{path}: {fault}")) from None
