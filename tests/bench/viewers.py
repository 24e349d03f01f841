"""The live stream when all viewers reconnect at once, as after a restart: how many are served, and how soon.

All viewers connect within ARRIVING_S seconds, from several addresses of the loopback, each to one of MATCHES matches.
A viewer is served when the last event of its match has arrived. CommandError or disconnected viewers do not retry.
"""

import asyncio
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

from deploy.local.installation import LocalInstallation
from events.installation import make_store
from events.runtime.wall_clock import now_ms
from events.service.matches import Matches
from tests.bench.measure import Table, percentile, verdict
from tests.bench.played import start_match

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
        waits = asyncio.run(_all_viewers(port, ids))
    served = sorted(wait for wait in waits if wait is not None)
    table = Table(
        f"{VIEWERS} viewers of live streams within {ARRIVING_S:g} s, seconds until served",
        *("", "served", "target", "p50", "p99", "worst"),
    )
    figures = [percentile(served, share) for share in (0.5, 0.99, 1)] if served else ["", "", ""]
    table.add("at once", len(served), verdict(len(served), VIEWERS), *figures)
    yield table


async def _all_viewers(port: int, matches: list[str]) -> list[float | None]:
    viewers = []
    for number in range(VIEWERS):
        viewers.append(
            asyncio.create_task(_viewer(port, matches[number % MATCHES], f"127.0.0.{2 + number % ADDRESSES}"))
        )
        await asyncio.sleep(ARRIVING_S / VIEWERS)
    return await asyncio.gather(*viewers)


async def _viewer(port: int, match_id: str, address: str) -> float | None:
    """Return after how many seconds a viewer of ``match`` was served; None when it was refused or disconnected."""
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
            _OPEN.append(writer)


_OPEN: list[asyncio.StreamWriter] = []
"""Connections stay open until all viewers are served."""
