"""The second verifier, in JavaScript, written from the documents alone: the one of the page ``/verify``."""

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path

from tests.support.node import NODE
from tests.support.verdicts import Given, Verdict

LINES = Path(__file__).with_name("verify_lines.mjs")


def second_verdicts(asked: Sequence[Given]) -> list[Verdict]:
    """Return what the second verifier says of each of ``asked``, without the rules; one process reads them all."""
    lines = "".join(f"{json.dumps(each)}\n" for each in asked)
    done = subprocess.run([NODE, LINES], input=lines.encode(), stdout=subprocess.PIPE, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]
