"""Power cuts under load: the append-only file ends at a random byte, and every loss must be reported.

Writers append while a ``StoreWatch`` keeps the high-water mark. At each cut all writers pause for a moment, which fixes
what has been acknowledged; some more is written, and a copy of the directory is truncated at a random byte. A power cut
spares what was flushed; a disk that lies about flushing, or a damaged file, does not: every other cut is anywhere in
the file.
"""

import json
import random
import shutil
import threading
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from deploy.local import aof
from deploy.local.embedded import ALWAYS, EVERYSEC, find_binary
from deploy.local.store_watch import StoreWatch
from events.runtime.wall_clock import now_ms
from events.store.contract import Request
from events.store.high_water_mark import MissingEvents
from events.store.mark import MARK
from events.store.redis import RedisStore
from tests.bench.store import CREATED, MOVED
from tests.support.eventually import eventually
from tests.support.server import RealServer

WRITERS = 4
MATCHES_PER_WRITER = 6


class Acknowledged(NamedTuple):
    """An event whose append was acknowledged, and when (milliseconds since 1970 UTC)."""

    match: str
    version: int
    digest: bytes
    at: int


class CutReport(NamedTuple):
    """The result of the cuts. ``faults`` must be empty."""

    fsync: str
    cuts: int
    acknowledged: int
    lost: int
    named: int
    in_the_last_second: int
    refused: int
    faults: tuple[str, ...]

    def __str__(self) -> str:
        return "\n".join(
            (
                f"appendfsync               {self.fsync}", f"power cuts                {self.cuts}",
                f"acknowledged events       {self.acknowledged}", f"lost                      {self.lost}",
                f"  named by match, version {self.named}", f"  in the stated second    {self.in_the_last_second}",
                f"starts refused            {self.refused}", f"faults                    {len(self.faults)}",
            )
        )  # fmt: skip


class Writer:
    """Appends to its own matches while ``go`` is set, until ``stop``; holds ``writing`` during each append."""

    def __init__(self, store: RedisStore, number: int, seed: int, go: threading.Event, stop: threading.Event) -> None:
        self.writing = threading.Lock()
        self.acknowledged: list[Acknowledged] = []
        self._store = store
        self._matches = [f"match-{number}-{each}" for each in range(MATCHES_PER_WRITER)]
        self._chance = random.Random(f"{seed}/{number}")
        self._go = go
        self._stop = stop
        self.thread = threading.Thread(target=self._run, name=f"writer-{number}")

    def _run(self) -> None:
        heads = self._store.heads(self._matches)
        while self._go.wait() and not self._stop.is_set():
            number = self._chance.randrange(len(heads))
            match, head = self._matches[number], heads[number]
            with self.writing:
                draft = MOVED if head.version else CREATED
                heads[number] = self._store.append(match, head, [draft], Request(f"{head.version}", match)).head
                self.acknowledged.append(Acknowledged(match, head.version + 1, heads[number].digest, now_ms()))


def cut_power(
    directory: Path, cuts: int, seed: int, fsync: str, print_line: Callable[[str], None] = lambda _: None
) -> CutReport:
    """Simulate power cuts below ``directory`` and check what is missing. Raises only when the harness fails."""
    chance = random.Random(seed)
    directory.mkdir(exist_ok=True)
    server = RealServer(directory / "redis", fsync=fsync)
    store = RedisStore(server.client())
    store.installation()
    watch = StoreWatch(store, directory / MARK, print_line, directory / "redis", fsync == EVERYSEC)
    watch.start()
    go, stop = threading.Event(), threading.Event()
    writers = [Writer(store, number, seed, go, stop) for number in range(WRITERS)]
    total = CutReport(fsync, 0, 0, 0, 0, 0, 0, ())
    try:
        for writer in writers:
            writer.thread.start()
        for number in range(cuts):
            go.set()
            _wait_for_appends(writers, chance.randrange(20, 80))
            copy = directory / f"cut-{number}"
            acknowledged = _cut(directory, copy, writers, chance, fsync, anywhere=number % 2 == 1)
            go.clear()
            total = _check(total, copy, acknowledged, anywhere=number % 2 == 1)
            shutil.rmtree(copy)
            if number % 10 == 9:
                print_line(f"{number + 1} of {cuts} cuts, {total.lost} lost, {len(total.faults)} faults")
    finally:
        stop.set()
        go.set()
        for writer in writers:
            writer.thread.join()
        watch.stop()
        server.close()
    return total


def _wait_for_appends(writers: list[Writer], more: int) -> None:
    before = sum(len(writer.acknowledged) for writer in writers)
    eventually(lambda: sum(len(writer.acknowledged) for writer in writers) >= before + more, "more events")


def _cut(
    directory: Path, copy: Path, writers: list[Writer], chance: random.Random, fsync: str, anywhere: bool
) -> list[Acknowledged]:
    """Copy to ``copy`` what a power cut leaves of ``directory``; return what had been acknowledged."""
    (log,) = aof.incremental_files(directory / "redis")
    with ExitStack() as paused:
        for writer in writers:
            paused.enter_context(writer.writing)
        mark = json.loads((directory / MARK).read_text())
        acknowledged = [event for writer in writers for event in writer.acknowledged]
        written = log.stat().st_size
    eventually(lambda: log.stat().st_size > written, "a write that is not acknowledged yet")
    shutil.copytree(directory / "redis", copy / "redis", ignore=shutil.ignore_patterns("rookery-lock", "reserve"))
    (copy / MARK).write_text(json.dumps({**mark, "boot": "another boot"}))
    flushed = written if fsync == ALWAYS else mark["flushed"][1]
    left = copy / "redis" / log.relative_to(directory / "redis")
    first = 1 if anywhere else flushed
    with left.open("r+b") as file:
        size = file.seek(0, 2)
        file.truncate(chance.randrange(first, size + 1))
        if chance.random() < 0.5:  # as some file systems do
            file.seek(0, 2)
            file.write(bytes(chance.randrange(1, 8192)))
    return acknowledged


def _check(total: CutReport, copy: Path, acknowledged: list[Acknowledged], anywhere: bool) -> CutReport:
    """Start a store on ``copy`` as an installation does; return ``total`` with the findings."""
    messages: list[str] = []
    aof.repair_tails(copy / "redis", str(find_binary().path), copy / MARK)
    server = RealServer(copy / "redis", fsync=EVERYSEC)
    try:
        store = RedisStore(server.client())
        missing = StoreWatch(store, copy / MARK, messages.append, copy / "redis").find_missing()
        left = {(match, event.version): event.digest for match in store.all_streams() for event in store.read(match)}
        marked = json.loads((copy / MARK).read_text())["at"]
    finally:
        server.close()
    lost = [event for event in acknowledged if left.get((event.match, event.version)) != event.digest]
    named = [event for event in lost if missing is not None and _reports(missing, event)]
    recent = [
        event for event in lost if event not in named and missing is not None and missing.unsure and event.at >= marked
    ]
    faults = [f"{event} is missing and was not reported" for event in lost if event not in named + recent]
    if not anywhere and total.fsync == ALWAYS and (lost or (missing is not None and missing.certain)):
        faults.append(f"lost although it was flushed: {lost}, {missing}")
    if not anywhere and missing is not None and missing.flushed:
        faults.append(f"a mere power cut refuses the start: {missing}")
    return total._replace(
        cuts=total.cuts + 1, acknowledged=len(acknowledged), lost=total.lost + len(lost),
        named=total.named + len(named), in_the_last_second=total.in_the_last_second + len(recent),
        refused=total.refused + bool(missing is not None and missing.flushed),
        faults=total.faults + tuple(faults + messages),
    )  # fmt: skip


def _reports(missing: MissingEvents, event: Acknowledged) -> bool:
    return any(lost.match == event.match and lost.after < event.version <= lost.until for lost in missing.losses)
