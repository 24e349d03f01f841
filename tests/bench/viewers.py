"""The live stream when all viewers reconnect at once, as after a restart: how many are served, and how soon.

All viewers connect within ARRIVING_S seconds, from several addresses of the loopback, each to one of MATCHES matches.
A viewer is served when the last event of its match has arrived. CommandError or disconnected viewers do not retry.
Then a move is played in every match, one after the other: how soon does it reach all viewers of its match? The clock
starts when the append has returned.
"""

import asyncio
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

from deploy.local.installation import LocalInstallation
from domain.games import GAMES
from domain.match.commands import SubmitMove
from events.installation import make_store
from events.runtime.wall_clock import now_ms
from events.service.matches import Matches
from events.store.contract import Request
from tests.bench.measure import Table, percentile, verdict
from tests.bench.played import PLAYERS, random_game, start_match

VIEWERS = 4000
MATCHES = 40
ADDRESSES = 8
ARRIVING_S = 2.0
TIMEOUT_S = 60.0


def tables() -> Iterator[Table]:
    """Measure and yield the table."""
    with tempfile.TemporaryDirectory() as var, LocalInstallation(Path(var), embedded=True) as installation:
        matches = Matches(make_store(installation.settings), now_ms)
        ids = [start_match(matches, "bashni", "start") for _ in range(MATCHES)]
        port = urlsplit(installation.stream_url).port
        assert port is not None
        waits, told = asyncio.run(_all_viewers(port, matches, ids))
    served = sorted(wait for wait in waits if wait is not None)
    table = Table(
        f"{VIEWERS} viewers of live streams within {ARRIVING_S:g} s, seconds until served",
        *("", "served", "target", "p50", "p99", "worst"),
    )
    figures = [percentile(served, share) for share in (0.5, 0.99, 1)] if served else ["", "", ""]
    table.add("at once", len(served), verdict(len(served), VIEWERS), *figures)
    yield table
    table = Table(f"A move to its {VIEWERS // MATCHES} viewers, milliseconds", "", "told", "p50", "p99", "worst")
    table.add(
        f"{MATCHES} moves", len(told), *(1000 * percentile(told, share) if told else "" for share in (0.5, 0.99, 1))
    )
    yield table


async def _all_viewers(port: int, matches: Matches, ids: list[str]) -> tuple[list[float | None], list[float]]:
    """Return after how many seconds each viewer was served, and was told of the move that was played later."""
    viewers = []
    for number in range(VIEWERS):
        viewers.append(asyncio.create_task(_viewer(port, ids[number % MATCHES], f"127.0.0.{2 + number % ADDRESSES}")))
        await asyncio.sleep(ARRIVING_S / VIEWERS)
    served = await asyncio.gather(*viewers)
    move = random_game(GAMES["bashni"], "start", 1)[0]
    told: list[float] = []
    for match_id in ids:
        waiting = [asyncio.create_task(_told(reader)) for watched, reader in _OPEN if watched == match_id]
        await asyncio.sleep(0)
        command = SubmitMove(player=PLAYERS[0], move=move)
        await asyncio.to_thread(matches.append_decision, match_id, command, PLAYERS[0], Request("move", move))
        began = time.perf_counter()
        told += [at - began for at in await asyncio.gather(*waiting) if at is not None]
    return served, told


async def _told(reader: asyncio.StreamReader) -> float | None:
    """Return when a move has reached a viewer; None when it has not."""
    try:
        async with asyncio.timeout(TIMEOUT_S):
            await reader.readuntil(b"event: move-submitted")
            return time.perf_counter()
    except (OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
        return None


async def _viewer(port: int, match_id: str, address: str) -> float | None:
    """Return after how many seconds a viewer of a match was served; None when it was refused or disconnected."""
    began = time.perf_counter()
    writer = None
    try:
        async with asyncio.timeout(TIMEOUT_S):
            reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=(address, 0))
            writer.write(f"GET /api/v1/matches/{match_id}/stream HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
            await reader.readuntil(b"event: match-started")
            # The others are still coming: an open stream stays open, as a page's does.
            return time.perf_counter() - began
    except (OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
        return None
    finally:
        if writer is not None:
            _OPEN.append((match_id, reader))
            _WRITERS.append(writer)


_OPEN: list[tuple[str, asyncio.StreamReader]] = []
_WRITERS: list[asyncio.StreamWriter] = []
"""Connections stay open until the end."""
