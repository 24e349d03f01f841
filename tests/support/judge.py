"""The judge of the log: a program in Go that checks notes, proofs and tiles with Go's own packages (tests/judges)."""

import base64
import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).parents[1] / "judges" / "main.go"
PACKAGES = Path("/usr/share/gocode")
"""Where Debian's golang-golang-x-mod-dev is."""

NO_JUDGE = "needs Go and golang.org/x/mod (Debian: golang-go, golang-golang-x-mod-dev)"


def find_judge() -> Path | None:
    """Return the program, compiled once for each version of its source; None where it cannot be compiled."""
    compiler, packages = shutil.which("go"), PACKAGES / "src/golang.org/x/mod/sumdb"
    if compiler is None or not packages.is_dir():
        return None
    directory = Path(sys.prefix) / "programs"
    program = directory / f"judge-{hashlib.sha256(SOURCE.read_bytes()).hexdigest()[:16]}"
    if not program.exists():
        directory.mkdir(exist_ok=True)
        # Several processes may compile it at once: each has a name of its own until it is whole. Debian's
        # compiled packages are used as they are, which other options of the compiler would not.
        made = program.with_name(f"{program.name}.{os.getpid()}")
        go = {"GO111MODULE": "off", "GOPATH": str(PACKAGES), "GOCACHE": str(directory / "go-cache")}
        subprocess.run([compiler, "build", "-o", made, "."], cwd=SOURCE.parent, env={**os.environ, **go}, check=True)
        made.rename(program)
    return program


def judge(program: Path, requests: Sequence[dict[str, Any]]) -> list[str]:
    """Return what ``program`` says of each of ``requests``: "ok", or what is wrong. Bytes are sent as base64."""
    lines = "".join(f"{json.dumps(request, default=_base64)}\n" for request in requests)
    ran = subprocess.run([program], input=lines, capture_output=True, text=True, check=True)
    return ran.stdout.splitlines()


def _base64(raw: bytes) -> str:
    return base64.b64encode(raw).decode()
