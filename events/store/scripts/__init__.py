"""The scripts that Redis runs for the keys of people: one file each, every one a single atomic step."""

from importlib.resources import files
from typing import Any

from redis.commands.core import Script


def registered(client: Any, name: str) -> Script:
    """Return the script of this name, which ``client`` loads when it is first called."""
    script: Script = client.register_script(files(__name__).joinpath(f"{name}.lua").read_text())
    return script
