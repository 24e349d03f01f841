"""Lua scripts: one file each beside the module that calls it, run by the server as one atomic step."""

import functools
from importlib.resources import files

from redis.commands.core import Script

from events.runtime.connections import StoreClient


def load_script(client: StoreClient, package: str, name: str) -> Script:
    """Return the script ``name``.lua of ``package``, to be called with ``keys`` and ``args``.

    It is sent by its digest (EVALSHA), and whole only when the server does not know it, as after a restart.
    """
    return client.register_script(script_source(package, name))


@functools.cache
def script_source(package: str, name: str) -> str:
    """Return the text of the script ``name``.lua of ``package``, to be queued on a pipeline with EVAL."""
    return files(package).joinpath(f"{name}.lua").read_text(encoding="utf-8")
