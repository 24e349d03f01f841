"""A move on a cluster of three primaries beside a single server: what a player's request costs more, or less.

Appends and opened matches by one client, and whole submissions over HTTP as in ``submission``. Both stores run on this
machine with the same files and settings, and are measured in turns. The cluster has three server processes, and where
there are fewer processors each command wakes another one: so the cluster is also measured with matches that are all on
one of its servers, which leaves what the client and the server do more.
"""

import contextlib
import os
import tempfile
import time
from collections.abc import Collection, Iterator
from pathlib import Path

from redis.crc import key_slot

from deploy.local.environment import ROOT
from deploy.local.ports import Ports
from events.runtime.connections import connect
from events.runtime.keys import ShardKeys
from events.runtime.settings import next_database
from events.store.redis import RedisStore
from tests.bench.measure import Measured, Rates, Table, measure_in_turns, repeat, verdict
from tests.bench.store import MOVES_PER_MATCH, append_match, appends
from tests.bench.submission import Submissions, measure_submissions, serve
from tests.support.server import RealServer
from tests.support.topologies import ThreeMasters

TURNS = 7
TURN_SECONDS = 0.5
MATCHES = 24
"""Matches that are opened in turn: they lie on all servers."""

TARGET = 0.8
PLACES = ("single", "cluster")
PART = "part"


def tables() -> Iterator[Table]:
    """Measure and yield the table."""
    with tempfile.TemporaryDirectory() as directory, contextlib.ExitStack() as stack:
        single = RealServer(Path(directory) / "single")
        stack.callback(single.close)
        cluster = stack.enter_context(ThreeMasters(Path(directory) / "cluster"))
        urls = dict(zip(PLACES, (single.url, cluster.url), strict=True))
        stores = {place: RedisStore(stack.enter_context(connect(url))) for place, url in urls.items()}
        rates = measure_in_turns(_subjects(stores, _shards_of_one_server(cluster, stores["cluster"])), TURNS)
        rates |= _submissions(stores, urls, next_database(single.url))
    table = Table(
        "On a cluster of three, beside one server, per second",
        *("", "one server", "cluster", "x", "target", "one of three", "x"),
    )
    for what in ("append", "open", "submission over HTTP"):
        one, three, part = (rates.get(f"{what} {place}") for place in (*PLACES, PART))
        assert one is not None
        assert three is not None
        ratio = three.over(one)
        last = ("", "") if part is None else (part.typical, part.over(one))
        table.add(what, one.typical, three.typical, ratio, verdict(ratio, TARGET), *last)
    yield table


def _subjects(stores: dict[str, RedisStore], shards: Collection[int]) -> dict[str, Measured]:
    subjects: dict[str, Measured] = {}
    for place, store in stores.items():
        subjects[f"append {place}"] = appends(store)
    subjects[f"append {PART}"] = appends(stores["cluster"], shards)
    for place, store in stores.items():
        subjects[f"open {place}"] = _opens(store)
    subjects[f"open {PART}"] = _opens(stores["cluster"], shards)
    return subjects


def _shards_of_one_server(cluster: ThreeMasters, store: RedisStore) -> list[int]:
    slots = [key_slot(ShardKeys(store.prefix, shard).feed.encode()) for shard in range(store.shards)]
    return [shard for shard, slot in enumerate(slots) if cluster.owner_of(slot) == 0]


def _opens(store: RedisStore, shards: Collection[int] | None = None) -> Measured:
    matches = [append_match(store, shards) for _ in range(MATCHES)]

    def open_all() -> int:
        for match in matches:
            store.open(match, MOVES_PER_MATCH)
        return MATCHES

    return repeat(open_all, TURN_SECONDS, time.perf_counter)


def _submissions(stores: dict[str, RedisStore], urls: dict[str, str], broker: str) -> dict[str, Rates]:
    with contextlib.ExitStack() as stack:
        ports = {place: Ports.free().api for place in PLACES}
        requests = {place: Submissions(store) for place, store in stores.items()}
        leaders = {}
        for place, url in urls.items():
            environment = {**os.environ, "REDIS_URL": url, "BROKER_URL": broker, "PYTHONPATH": str(ROOT)}
            leaders[place] = stack.enter_context(serve("product", ports[place], environment))
        found: dict[str, list[float]] = {place: [] for place in PLACES}
        for turn in range(-1, TURNS):  # the first one warms up and is not counted
            for place in PLACES:
                rate, _ = measure_submissions("product", ports[place], leaders[place], requests[place])
                if turn >= 0:
                    found[place].append(rate)
    return {f"submission over HTTP {place}": Rates(tuple(rates)) for place, rates in found.items()}
