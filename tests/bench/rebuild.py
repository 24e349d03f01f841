"""A full rebuild of the read models, in events a second, beside Celery tasks that do nothing, in tasks a second.

A task for each event is the alternative that was rejected; the ratio shows by how much. The matches are copies of one
complete random game of Bashni. The tasks run in as many processes as there are processors, the rebuild in one;
``tests.bench.fleet`` shows what several workers of the fleet do.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from celery import Celery

from deploy.local.environment import ROOT
from domain.games import GAMES
from events.installation import make_store
from events.runtime.connections import StoreClient, connect
from events.runtime.settings import Settings, next_database
from events.runtime.wall_clock import now_ms
from events.service.matches import Matches
from events.store.contract import EMPTY, Request
from tests.bench.measure import Rates, Table, verdict
from tests.bench.played import play_match, random_game
from tests.support.fleet import rebuild
from tests.support.server import RealServer

TURNS = 3
MATCHES = 400
TASKS = 2000
MARGIN = 200
"""Tasks at both ends of the queue that are not measured."""

TARGET = 15.0
QUEUE = "celery"


def tables() -> Iterator[Table]:
    """Measure and yield the table."""
    processes = os.cpu_count() or 1
    with tempfile.TemporaryDirectory() as directory:
        server = RealServer(Path(directory))
        try:
            settings = Settings(server.url, next_database(server.url), "rk:", "", False, None)
            _fill(settings)
            tasks, alone = [], []
            for _ in range(TURNS):
                tasks.append(_consume(settings.broker_url, processes))
                alone.append(_rebuild(settings))
        finally:
            server.close()
    yardstick = Rates(tuple(tasks))
    table = Table("Rebuild of all read models", "", "per second", "x", "target")
    table.add(f"Celery tasks that do nothing, {processes} processes", yardstick.typical, "1", "")
    rates = Rates(tuple(alone))
    ratio = rates.over(yardstick)
    table.add("events rebuilt, 1 process", rates.typical, ratio, verdict(ratio, TARGET))
    yield table


def _fill(settings: Settings) -> None:
    """Play one match and append copies of it."""
    store = make_store(settings)
    match_id = play_match(Matches(store, now_ms), "bashni", "start", random_game(GAMES["bashni"], "start"))
    drafts = [event.draft for event in store.read(match_id)]
    for number in range(1, MATCHES):
        store.append(f"{match_id}{number}", EMPTY, drafts, Request("copy", "copy"))
    store.client.close()


def _rebuild(settings: Settings) -> float:
    start = time.perf_counter()
    rebuilt = rebuild(settings)
    return rebuilt.events / (time.perf_counter() - start)


def _consume(broker: str, processes: int) -> float:
    client = connect(broker)
    client.flushdb()
    nothing = Celery("nothing", broker=broker).signature("nothing", ignore_result=True)
    for _ in range(TASKS):
        nothing.apply_async()
    command = [sys.executable, "-m", "celery", "--app", "tests.bench.nothing", "worker", "--loglevel", "error"]
    command += ["--concurrency", str(processes), "--without-gossip", "--without-mingle"]
    environment = {**os.environ, "BROKER_URL": broker, "PYTHONPATH": str(ROOT)}
    quiet = subprocess.DEVNULL
    with subprocess.Popen(command, env=environment, cwd=ROOT, stdout=quiet, stderr=quiet) as worker:
        _wait_for(client, TASKS - MARGIN)
        start = time.perf_counter()
        _wait_for(client, MARGIN)
        taken = time.perf_counter() - start
        worker.terminate()
    client.close()
    return (TASKS - 2 * MARGIN) / taken


def _wait_for(client: StoreClient, length: int) -> None:
    deadline = time.monotonic() + 60
    while int(client.llen(QUEUE)) > length:
        if time.monotonic() > deadline:
            raise RuntimeError("the worker does not empty its queue")
        time.sleep(0.002)
