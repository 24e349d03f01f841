"""Memory of the server per event, with feed, head and stored requests, beside the canonical bytes of the events."""

import secrets
import tempfile
from collections.abc import Iterator
from pathlib import Path

from events.runtime.connections import StoreClient
from events.store.contract import EMPTY, Request
from events.store.envelope import canonical_bytes
from events.store.redis import RedisStore
from tests.bench.measure import Table, verdict
from tests.bench.store import CREATED, MOVED
from tests.support.server import RealServer

MATCHES = 400
TARGET = 1.6
"""Bytes of server memory per canonical byte of an event, in matches of a hundred events."""


def tables() -> Iterator[Table]:
    table = Table("Memory of the server per event", "", "events", "bytes an event", "canonical event", "x", "target")
    for events in (5, 20, 100):
        with tempfile.TemporaryDirectory() as directory:
            server = RealServer(Path(directory))
            try:
                with server.client() as client:
                    used, bare = _fill(client, events)
            finally:
                server.close()
        goal = verdict(used / bare, TARGET, at_least=False) if events == 100 else ""
        table.add(f"matches of {events} events", str(MATCHES * events), used, bare, used / bare, goal)
    yield table


def _fill(client: StoreClient, events: int) -> tuple[float, float]:
    store = RedisStore(client)
    store.append("warm", EMPTY, [CREATED], Request("warm", "f" * 64))
    before = _used(client)
    bare = 0
    for _ in range(MATCHES):
        stream = f"m{secrets.token_hex(8)}"
        head = EMPTY
        for number in range(events):
            draft = MOVED if number else CREATED
            bare += len(canonical_bytes(draft, stream, head.version + 1))
            head = store.append(stream, head, [draft], Request(secrets.token_hex(25), secrets.token_hex(32))).head
    return (_used(client) - before) / (MATCHES * events), bare / (MATCHES * events)


def _used(client: StoreClient) -> int:
    return int(client.info("memory")["used_memory"])
