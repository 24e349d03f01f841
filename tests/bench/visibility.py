"""From an acknowledged event to its projection: how long until the list of matches shows a move.

A real relay runs beside the measurement, with nothing else to do. The clock starts when the append has returned, which
is when the player gets the answer; it ends when the summary that lists and pages read is at the version of the move.
"""

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from deploy.local.installation import LocalInstallation
from domain.games import GAMES
from domain.match.commands import SubmitMove
from events.installation import make_store
from events.readmodels import ReadModels
from events.runtime.wall_clock import now_ms
from events.service.matches import Matches
from events.store.contract import Request
from tests.bench.measure import Table, percentile, verdict
from tests.bench.played import PLAYERS, random_game, start_match

MOVES = 400
TARGET_P99_MS = 25.0
TIMEOUT_S = 10.0


def tables() -> Iterator[Table]:
    """Measure and yield the table."""
    with tempfile.TemporaryDirectory() as var, LocalInstallation(Path(var), embedded=True) as installation:
        store = make_store(installation.settings)
        readmodels = ReadModels(store.client, store.prefix, store.shards)
        waits = sorted(_waits(Matches(store, now_ms), readmodels))
    table = Table(
        "From acknowledged event to visible projection, milliseconds", "", "p50", "p90", "p99", "worst", "p99 target"
    )
    p50, p90, p99 = (percentile(waits, share) for share in (0.5, 0.9, 0.99))
    table.add(f"{MOVES} moves, one at a time", p50, p90, p99, waits[-1], verdict(p99, TARGET_P99_MS, at_least=False))
    yield table


def _waits(matches: Matches, readmodels: ReadModels) -> Iterator[float]:
    moves = random_game(GAMES["bashni"], "start")
    measured = 0
    while True:
        match = start_match(matches, "bashni", "start")
        for ply, move in enumerate(moves):
            player = PLAYERS[ply % 2]
            executed = matches.append_decision(
                match, SubmitMove(player=player, move=move), player, Request(f"{ply}", move)
            )
            yield 1000 * _until_visible(readmodels, match, executed.version)
            measured += 1
            if measured == MOVES:
                return


def _until_visible(readmodels: ReadModels, match_id: str, version: int) -> float:
    start = time.perf_counter()
    while True:
        summary = readmodels.summary(match_id)
        waited = time.perf_counter() - start
        if summary is not None and summary.version >= version:
            return waited
        if waited > TIMEOUT_S:
            raise RuntimeError(f"version {version} of {match_id} does not become visible")
