"""The store: appends one at a time, beside a bare XADD of the same bytes and a PING on the same connection.

Seconds are wall-clock: a round trip is mostly waiting. A ratio is taken within one turn, because the speed of a round
trip swings with what else the machine does.
"""

import secrets
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from redis import Redis

from domain.match import events as e
from domain.match.state import Seat
from events.codec import draft_of
from events.envelope import seal
from events.redis_store import RedisStore
from events.store import EMPTY, GENESIS, Head, Request
from tests.bench.measure import Measured, Table, in_turns, repeated, verdict
from tests.support.server import RealServer

TURNS = 9
TURN_SECONDS = 0.4
MOVES_A_MATCH = 60
TARGET = 0.5

NOW = 1_790_000_000_000
PERSON = "p" * 17
SEATS = (Seat.taken(PERSON), Seat.opponent(3))
CREATED = draft_of(e.MatchCreated(NOW, PERSON, "bashni", 1, "start", SEATS, True, False, 1), PERSON)
MOVED = draft_of(e.MoveSubmitted(NOW, 0, 17, "c3-d4"), PERSON)


def tables() -> Iterator[Table]:
    """Measure and yield the table."""
    with tempfile.TemporaryDirectory() as directory:
        server = RealServer(Path(directory))
        try:
            client = server.client()
            rates = in_turns(
                {"PING": _pings(client), "XADD": _raw_appends(client), "append": _appends(RedisStore(client))}, TURNS
            )
            client.close()
        finally:
            server.close()
    table = Table("Store, one at a time on one connection, per second", "", "rate", "x PING", "x XADD", "target")
    for name, rate in rates.items():
        beside = rate.over(rates["XADD"])
        goal = verdict(beside, TARGET) if name == "append" else ""
        table.add(name, rate.typical, rate.over(rates["PING"]), beside, goal)
    yield table


def _pings(client: Redis) -> Measured:
    return repeated(lambda: bool(client.ping()), TURN_SECONDS, time.perf_counter)


def _raw_appends(client: Redis) -> Measured:
    (event,) = seal([MOVED], "raw", 0, GENESIS)
    fields = {b"b": event.packed, b"h": event.digest}

    def match() -> int:
        key = f"raw:{secrets.token_hex(8)}"
        for _ in range(MOVES_A_MATCH):
            client.xadd(key, fields)
        return MOVES_A_MATCH

    return repeated(match, TURN_SECONDS, time.perf_counter)


def _appends(store: RedisStore) -> Measured:
    store.installation()

    def match() -> int:
        stream = secrets.token_hex(8)
        head = EMPTY
        for number in range(MOVES_A_MATCH):
            draft = MOVED if number else CREATED
            appended = store.append(stream, head, [draft], Request(f"{PERSON}:{number:032}", "f" * 64))
            head = Head(appended.head.version, appended.head.digest)
        return MOVES_A_MATCH

    return repeated(match, TURN_SECONDS, time.perf_counter)
