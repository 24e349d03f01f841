"""A backup of 10,000 matches: seconds and bytes, the way back, and how long appends of players take meanwhile."""

import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from deploy.local.embedded import ALWAYS
from deploy.local.environment import ROOT
from events.installation import Installation
from events.operations.backup.files import open_records
from events.operations.backup.restoring import restore_backup, verify_backup
from events.runtime.settings import Settings, next_database
from events.store.contract import Request
from events.store.envelope import canonical_bytes
from tests.bench.measure import Table, percentile
from tests.bench.store import CREATED, MOVED
from tests.bench.stored import Loader
from tests.support.server import RealServer

MATCHES = 10_000
IDLE_S = 5.0
PROBE_EVERY_S = 0.005


def tables() -> Iterator[Table]:
    with tempfile.TemporaryDirectory() as directory:
        source, empty = (RealServer(Path(directory, name), fsync=ALWAYS) for name in ("source", "empty"))
        try:
            yield _measure(source, empty, Path(directory))
        finally:
            source.close()
            empty.close()


def _measure(source: RealServer, empty: RealServer, directory: Path) -> Table:
    parts = _installation(source.url)
    loader = Loader(parts, MATCHES)
    for _ in loader.batches():
        loader.project()
    parts.checkpoints.sign(loader.now)
    match_ids = loader.ids[:: MATCHES // 200]
    canonical = [
        len(canonical_bytes(event.draft, match_id, event.version))
        for match_id in match_ids
        for event in parts.store.read(match_id)
    ]
    table = Table(f"A backup of {MATCHES} matches with {loader.events} events", "", "seconds", "bytes")
    idle = _Probe(parts, "idle")
    with idle:
        time.sleep(IDLE_S)
    for name, options in (("plain", []), ("encrypted", ["--key", str(_key(directory))])):
        probe, file = _Probe(parts, name), directory / name
        with probe:
            seconds = _command(source.url, "backup", str(file), *options)
        table.add(f"backup, {name}, read back", seconds, str(file.stat().st_size))
        table.add("  appends meanwhile: median, slowest of 100", *_quantiles(probe))
    table.add("appends without one: median, slowest of 100", *_quantiles(idle))
    table.add("canonical bytes of the events, about", "", str(sum(canonical) * MATCHES // len(match_ids)))
    target, start = _installation(empty.url), time.perf_counter()
    with open_records(str(directory / "plain"), None) as records:
        begin, _ = verify_backup(records)
    with open_records(str(directory / "plain"), None) as records:
        restore_backup(target.store, begin, target.checkpoints, records)
    table.add("restore without verify and rebuild", time.perf_counter() - start, "")
    return table


def _installation(url: str) -> Installation:
    return Installation(Settings(url, next_database(url), "rk:", "", False, None), lambda: int(time.time() * 1000))


def _key(directory: Path) -> Path:
    path = directory / "key"
    path.write_text("5e" * 32)
    return path


def _command(url: str, *arguments: str) -> float:
    start = time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "deploy.cli", *arguments],
        env={**os.environ, "REDIS_URL": url},
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    return time.perf_counter() - start


def _quantiles(probe: "_Probe") -> tuple[str, str]:
    return tuple(f"{percentile(probe.taken, share) * 1000:.2f} ms" for share in (0.5, 0.99))  # type: ignore[return-value]


class _Probe:
    """Appends to a match of its own again and again in the ``with`` block; ``taken`` are the seconds of each."""

    def __init__(self, parts: Installation, name: str) -> None:
        self.taken: list[float] = []
        self._store = parts.store
        self._match = f"probe-{name}"
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> "_Probe":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _run(self) -> None:
        head = self._store.head(self._match)
        while not self._ended.wait(PROBE_EVERY_S):
            draft, start = MOVED if head.version else CREATED, time.perf_counter()
            head = self._store.append(self._match, head, [draft], Request(str(head.version), "")).head
            self.taken.append(time.perf_counter() - start)
