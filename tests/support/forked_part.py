"""A part for tests of the nursery, run as ``python -m tests.support.forked_part COMMAND``: it prints what it is."""

import json
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path

from events.runtime import beats


def open_sockets() -> list[str]:
    links = []
    for link in Path("/proc/self/fd").iterdir():
        with suppress(FileNotFoundError):  # that of the directory itself
            links.append(str(link.readlink()))
    return [link for link in links if link.startswith("socket:")]


if __name__ == "__main__":
    command = sys.argv[1]
    part = {"pid": os.getpid(), "group": os.getpgrp(), "session": os.getsid(0), "set": os.environ.get("PART")}
    print(json.dumps({**part, "sockets": open_sockets(), "imported": "api.wsgi" in sys.modules}), flush=True)
    if command.isdigit():
        sys.exit(int(command))
    if command != "wait":
        beats.need(command)
    signal.pause()
