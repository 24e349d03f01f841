"""The store: appends beside a bare XADD of the same bytes and a PING, with both settings of fsync, 1 and 16 clients.

Seconds are wall-clock: a round trip is mostly waiting. A ratio is taken within one turn, because the speed of a round
trip swings with what else the machine does.

A last table has the time from the call of an append until another process, which waits for events, has the event.
"""

import multiprocessing
import secrets
import tempfile
import time
from collections.abc import Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from deploy.local.embedded import ALWAYS, EVERYSEC
from deploy.local.store_watch import StoreWatch
from domain.match import events as e
from domain.match.state import Seat
from domain.match.terms import STANDARD
from events.runtime.connections import StoreClient, connect
from events.store.codec import draft_of
from events.store.contract import EMPTY, GENESIS, Head, Request
from events.store.envelope import seal
from events.store.feed import FeedTail
from events.store.mark import MARK
from events.store.redis import RedisStore
from tests.bench.measure import Measured, Table, measure_in_turns, percentile, repeat, verdict
from tests.support.eventually import eventually
from tests.support.server import RealServer

TURNS = 9
TURN_SECONDS = 0.4
MOVES_PER_MATCH = 60
TARGET = 0.5
CLIENTS = 16
MATCHES_SEEN = 25
MAX_VISIBLE_MS = 10
WATCH_MS = 60_000

NOW = 1_790_000_000_000
PERSON = "p" * 17
SEATS = (Seat.taken(PERSON), Seat.opponent(3))
CREATED = draft_of(
    e.MatchCreated(
        at=NOW, creator=PERSON, game="bashni", ruleset=1, setup="start", seats=SEATS, rated=True, private=False,
        seed="1", terms=STANDARD,
    ),
    PERSON,
)  # fmt: skip
MOVED = draft_of(e.MoveSubmitted(at=NOW, seat=0, ply=17, move="c3-d4"), PERSON)


def tables() -> Iterator[Table]:
    """Measure and yield the tables: one client in detail with each setting, then appends by 1 and by 16 clients."""
    together = Table(
        f"Appends by {CLIENTS} clients, per second", "fsync", "1 client", f"{CLIENTS} clients", "x 1 client"
    )
    visible = Table("Milliseconds from an append to another process", "fsync", "events", "median", "p99", "target")
    for fsync in (ALWAYS, EVERYSEC):
        with tempfile.TemporaryDirectory() as directory, ExitStack() as closing:
            path = Path(directory)
            server = RealServer(path / "redis", fsync=fsync)
            closing.callback(server.close)
            client = closing.enter_context(server.client())
            store = RedisStore(client)
            store.installation()
            watch = StoreWatch(store, path / MARK, print, path / "redis", fsync == EVERYSEC)
            watch.start()
            closing.callback(watch.stop)
            alone, crowd = appends(store), appends_by_clients(store)
            subjects = {"PING": _pings(client), "XADD": _rawappends(client), "append": alone, "crowd": crowd}
            rates = measure_in_turns(subjects, TURNS)
            waits = waits_until_visible(store, server.url)
        table = Table(f"Store, fsync {fsync}, one at a time, per second", "", "rate", "x PING", "x XADD", "target")
        for name in ("PING", "XADD", "append"):
            beside = rates[name].over(rates["XADD"])
            goal = verdict(beside, TARGET) if name == "append" else ""
            table.add(name, rates[name].typical, rates[name].over(rates["PING"]), beside, goal)
        yield table
        append, many = rates["append"], rates["crowd"]
        together.add(fsync, append.typical, many.typical, many.over(append))
        last = percentile(waits, 0.99)
        visible.add(fsync, f"{len(waits)}", percentile(waits, 0.5), last, verdict(last, MAX_VISIBLE_MS, at_least=False))
    yield together
    yield visible


def waits_until_visible(store: RedisStore, url: str) -> list[float]:
    """Return the milliseconds after which another process had each of the events that are appended one by one."""
    receiver, sender = multiprocessing.Pipe(duplex=False)
    events = MATCHES_SEEN * MOVES_PER_MATCH
    watcher = multiprocessing.Process(target=_watch, args=(url, store.prefix, store.shards, events, sender))
    watcher.start()
    # Until its subscription stands it looks only every POLL_S seconds.
    eventually(lambda: len(store.client.execute_command("PUBSUB", "SHARDCHANNELS")) == store.shards, "its subscription")
    appended: dict[tuple[str, int], float] = {}
    for _ in range(MATCHES_SEEN):
        append_match(store, begun=appended)
    seen = receiver.recv()
    watcher.join()
    return [(seen[event] - begun) * 1000 for event, begun in appended.items()]


def _watch(url: str, prefix: str, shards: int, events: int, sender: Connection) -> None:
    """Send when all of ``events`` events were there, by the clock that all processes of the machine share."""
    with connect(url) as client:
        tail = FeedTail(client, prefix, shards)
        seen: dict[tuple[str, int], float] = {}
        while len(seen) < events:
            for delivery in tail.read(WATCH_MS):
                seen[delivery.stream, delivery.version] = time.monotonic()
        sender.send(seen)
        tail.close()


def appends_by_clients(store: RedisStore) -> Measured:
    """Return a subject that appends from several threads at once, each with its own connection."""
    work = appends(store)

    def subject() -> tuple[int, float]:
        with ThreadPoolExecutor(CLIENTS) as pool:
            done = list(pool.map(lambda _: work(), range(CLIENTS)))
        return sum(units for units, _ in done), max(seconds for _, seconds in done)

    return subject


def _pings(client: StoreClient) -> Measured:
    return repeat(lambda: bool(client.ping()), TURN_SECONDS, time.perf_counter)


def _rawappends(client: Any) -> Measured:
    (event,) = seal([MOVED], "raw", 0, GENESIS)
    fields = {b"b": event.packed, b"h": event.digest}

    def match() -> int:
        key = f"raw:{secrets.token_hex(8)}"
        for _ in range(MOVES_PER_MATCH):
            client.xadd(key, fields)
        return MOVES_PER_MATCH

    return repeat(match, TURN_SECONDS, time.perf_counter)


def appends(store: RedisStore, shards: Collection[int] | None = None) -> Measured:
    """Return a subject that appends the events of matches of ``shards`` (None: of all), one by one."""

    def match() -> int:
        append_match(store, shards)
        return MOVES_PER_MATCH

    return repeat(match, TURN_SECONDS, time.perf_counter)


def append_match(
    store: RedisStore, shards: Collection[int] | None = None, begun: dict[tuple[str, int], float] | None = None
) -> str:
    """Append the events of a match of one of ``shards`` (None: of all), one by one; return its name.

    ``begun`` gets the instant (s) at which each append, by stream and version, was begun.
    """
    stream = secrets.token_hex(8)
    while shards is not None and store.shard_of(stream) not in shards:
        stream = secrets.token_hex(8)
    head = EMPTY
    for number in range(MOVES_PER_MATCH):
        draft = MOVED if number else CREATED
        if begun is not None:
            begun[stream, number + 1] = time.monotonic()
        appended = store.append(stream, head, [draft], Request(f"{PERSON}:{number:032}", "f" * 64))
        head = Head(appended.head.version, appended.head.digest)
    return stream
