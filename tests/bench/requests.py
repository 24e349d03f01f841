"""The worst cost of requests, in milliseconds of processor time: every operation, pages, and long matches.

All figures are medians of several turns.
"""

import gc
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

from api.operations.exploration import MAX_OUTCOME_STEPS
from domain.errors import OutcomeUnknownError, StepBudget
from domain.four_towers import GAME
from domain.games import GAMES
from events.proof.bundle import make_bundle
from events.store.codec import draft_of
from events.store.contract import GENESIS
from events.store.envelope import Envelope, seal
from tests.bench.measure import Table, verdict
from tests.support.bundles import KEY, SIGNED_AT
from tests.support.callers import app_on
from tests.support.costs import Cost
from tests.support.long_games import events_of
from tests.support.matches import T0
from tests.support.server import RealServer
from tests.support.worst import CRAFTED, WorstWorld

TARGET_MS = 100.0
BUNDLE_TARGET_MS = 60.0
TURNS = 5
BUNDLE_TURNS = 9
LONG = 5385
MEDIUM = 490
MATCHES = 300


def tables() -> Iterator[Table]:
    yield _long_matches()
    yield _crafted()
    with tempfile.TemporaryDirectory() as folder:
        server = RealServer(Path(folder))
        try:
            world = WorstWorld(app_on(server.url), LONG, MEDIUM, MATCHES)
            # As a process of the API does before its first request (deploy/production/gunicorn.conf.py).
            gc.collect()
            gc.freeze()
            yield _operations(world)
            gc.unfreeze()
        finally:
            server.close()


def _long_matches() -> Table:
    table = Table(
        "Bundles made from all events of a match, in milliseconds of processor time", "game", "plies", "ms", "target"
    )
    for name, setup, plies in (
        ("tower-game", "original", 1000),
        ("towers", "two-player", 1000),
        ("four-towers", "standard", 1000),
        ("tower-game", "original", LONG),
    ):
        events = events_of(GAMES[name], setup, plies, ("alice", "bob"), T0)
        drafts = [draft_of(event, "alice") for event in events]
        envelopes: list[Envelope] = [sealed.envelope for sealed in seal(drafts, "m", 0, GENESIS)]
        took = _median(lambda found=envelopes: make_bundle("m", found, KEY, SIGNED_AT, None), BUNDLE_TURNS)  # type: ignore[misc]
        target = verdict(took, BUNDLE_TARGET_MS, at_least=False) if plies == 1000 else "by a worker"
        table.add(name, f"{plies:,}", took, target)
    return table


def _crafted() -> Table:
    table = Table("An end that takes long to detect, in milliseconds of processor time", "asked", "ms", "target")
    position = GAME.parse_position(CRAFTED)

    def bounded() -> None:
        try:
            GAME.bounded_outcome(position, (), StepBudget(MAX_OUTCOME_STEPS))
        except OutcomeUnknownError:
            return

    table.add("by anybody, bounded", took := _median(bounded), verdict(took, TARGET_MS, at_least=False))
    table.add("by a played move, exact", _median(lambda: GAME.outcome(position, ())), "")
    return table


def _operations(world: WorstWorld) -> Table:
    title = f"The worst request of every operation, with a match of {LONG:,} plies, in milliseconds of processor time"
    table = Table(title, "operation", "ms", "target", "status", "path")
    worst: dict[str, Cost] = {}
    for request in (*world.pages(), *world.requests(), *world.archives()):
        cost = world.cost(request, TURNS)
        name = request.path if request.operation == "page" else request.operation
        if name not in worst or worst[name].median_ms < cost.median_ms:
            worst[name] = cost
    for name, cost in sorted(worst.items(), key=lambda found: -found[1].median_ms):
        reached = verdict(cost.median_ms, TARGET_MS, at_least=False)
        table.add(name[:60], cost.median_ms, reached, str(cost.status), cost.asked.path[:40])
    return table


def _median(work: Callable[[], Any], turns: int = TURNS) -> float:
    taken = []
    for _ in range(turns):
        began = time.process_time()
        work()
        taken.append(1000 * (time.process_time() - began))
    return median(taken)
