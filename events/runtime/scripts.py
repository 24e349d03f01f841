"""Lua scripts: one file each beside the module that calls it, run by the server as one atomic step."""

import functools
import hashlib
from collections.abc import Sequence
from importlib.resources import files
from typing import Any

from redis.exceptions import NoScriptError

from events.runtime.connections import StoreClient, StorePipeline

Argument = str | bytes | int | float


class Script:
    """A script on the server of ``client``, called by its digest, sent only where it is not known."""

    def __init__(self, client: StoreClient, script: str) -> None:
        self.script = script
        self.sha = hashlib.sha1(script.encode(), usedforsecurity=False).hexdigest()
        self._client = client

    def __call__(
        self, keys: Sequence[str], args: Sequence[Argument] = (), connection: StorePipeline | None = None
    ) -> Any:
        """Run the script and return its reply; on the ``connection`` of a pipeline that watches keys, if given."""
        run = self._client if connection is None else connection
        try:
            return run.execute_command("EVALSHA", self.sha, len(keys), *keys, *args)
        except NoScriptError:
            # With its source, on the server that has the keys now: there it is known from then on.
            return run.execute_command("EVAL", self.script, len(keys), *keys, *args)


def load_script(client: StoreClient, package: str, name: str) -> Script:
    """Return the script ``name``.lua of ``package``; this does not connect."""
    return Script(client, script_source(package, name))


@functools.cache
def script_source(package: str, name: str) -> str:
    """Return the text of the script ``name``.lua of ``package``, to be queued on a pipeline with EVAL."""
    return files(package).joinpath(f"{name}.lua").read_text(encoding="utf-8")
