"""A log of many leaves, served over HTTP, mirrored, and checked by Go's own packages: ``python -m tests.bench.mirror``.

Printed are the seconds and the live bytes of each step. The status is 1 when the judge (``tests/judges``) refuses the
mirror.
"""

import argparse
import hashlib
import http.client
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

from werkzeug.serving import WSGIRequestHandler, make_server

from api.services import EXTENSION, Services
from events.proof.leaves import MatchLeaf
from events.proof.notes import parse_note
from events.proof.tree_heads import note_key, parse_tree_head
from events.transparency.tiles import places_of
from tests.support.callers import app_on
from tests.support.judge import NO_JUDGE, find_judge, judge
from tests.support.server import RealServer

LEAVES_PER_BATCH = 20_000
MAX_LEVELS = 8


def main() -> None:
    """Make the log, mirror and judge it."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.mirror", description=__doc__)
    parser.add_argument("leaves", type=int, nargs="?", default=1_000_000, help="how many leaves (1000000)")
    leaves = parser.parse_args().leaves
    program = find_judge()
    if program is None:
        sys.exit(NO_JUDGE)
    with tempfile.TemporaryDirectory() as directory:
        server = RealServer(Path(directory, "store"))
        try:
            sys.exit(_run(server, Path(directory), leaves, program))
        finally:
            server.close()


def _run(server: RealServer, directory: Path, leaves: int, program: Path) -> int:
    app = app_on(server.url, archive_url=(directory / "archive").as_uri())
    services: Services = app.extensions[EXTENSION]
    log = services.checkpoints

    def append() -> None:
        for batch in _batches(leaves):
            log.restore(batch)

    _timed(f"append {leaves:,} leaves", server, append)
    _timed("sign", server, lambda: log.sign(services.now()))

    def move() -> None:
        while log.move_tiles():
            pass

    # A table of all matches is not what is measured here.
    server.client().delete(log._places.logged)
    _timed("move full tiles to the archive", server, move)
    serving = make_server("127.0.0.1", 0, app, threaded=True, request_handler=_QuietHandler)
    thread = threading.Thread(target=serving.serve_forever, daemon=True)
    thread.start()
    mirror = directory / "mirror"
    files = 0

    def fetch() -> None:
        nonlocal files
        files = _mirror(f"http://127.0.0.1:{serving.server_port}", mirror)

    _timed("mirror over HTTP", server, fetch)
    serving.shutdown()
    vkey = note_key(log.origin(), services.keys.signing().public.raw).vkey
    said: list[str] = []
    asked = {"Kind": "tiles", "Directory": str(mirror), "Entries": True, "Vkeys": [vkey]}
    _timed("judge the mirror in Go", server, lambda: said.extend(judge(program, [asked])))
    total = sum(path.stat().st_size for path in mirror.rglob("*") if path.is_file())
    print(f"{files:,} files of {total:,} bytes: {said[0]}")
    return int(said != ["ok"])


def _batches(leaves: int) -> Iterator[list[bytes]]:
    for start in range(0, leaves, LEAVES_PER_BATCH):
        numbers = range(start, min(start + LEAVES_PER_BATCH, leaves))
        yield [MatchLeaf(f"m{number:09d}", 1, hashlib.sha256(b"%d" % number).hexdigest()).stored for number in numbers]


def _mirror(url: str, directory: Path) -> int:
    """Write all files of the log at ``url`` under their paths; return how many there are."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port)

    def get(path: str) -> bytes:
        connection.request("GET", f"/{path}")
        answer = connection.getresponse()
        content = answer.read()
        if answer.status != http.HTTPStatus.OK:
            raise OSError(f"{path}: {answer.status}")
        file = directory / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
        return content

    size = parse_tree_head(parse_note(get("checkpoint")).text).size
    paths = [f"tile/{level}/{place.path}" for level in range(MAX_LEVELS) for place in places_of(size, level)]
    paths += [f"tile/entries/{place.path}" for place in places_of(size, 0)]
    for path in paths:
        get(path)
    return 1 + len(paths)


class _QuietHandler(WSGIRequestHandler):
    protocol_version = "HTTP/1.1"

    def log(self, type: str, message: str, *args: object) -> None:
        """Say nothing of requests."""


def _timed(step: str, server: RealServer, do: Callable[[], object]) -> None:
    began = time.perf_counter()
    do()
    memory = server.client().info("memory")["used_memory_dataset"]
    print(f"{time.perf_counter() - began:>8.1f} s  {memory:>13,} live bytes  {step}", flush=True)


if __name__ == "__main__":
    main()
