"""What an append costs that is on two disks when it is acknowledged, beside one that is flushed within a second.

All servers run side by side on one disk and are measured in turns, by 1 and by 16 clients of one process. Seconds are
wall-clock: an append that waits for a disk or a replica does nothing else.
"""

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

from deploy.local.embedded import ALWAYS, EVERYSEC
from deploy.local.store_watch import StoreWatch
from events.store.mark import MARK
from events.store.redis import RedisStore
from tests.bench.measure import Table, measure_in_turns
from tests.bench.store import CLIENTS, appends, appends_by_clients
from tests.support.eventually import eventually
from tests.support.server import RealServer

TURNS = 7
PATIENCE_S = 30
PROMPT = ("--repl-diskless-sync-delay", "0")


def tables() -> Iterator[Table]:
    with tempfile.TemporaryDirectory() as directory, ExitStack() as closing:
        stores = _stores(Path(directory), closing)
        alone = measure_in_turns({name: appends(store) for name, store in stores.items()}, TURNS)
        crowd = measure_in_turns({name: appends_by_clients(store) for name, store in stores.items()}, TURNS)
    table = Table(
        "Appends per second, by what is done before they are acknowledged",
        *("", "1 client", "x everysec", f"{CLIENTS} clients", "x everysec"),
    )
    first = next(iter(stores))
    for name in stores:
        table.add(
            name,
            *(alone[name].typical, alone[name].over(alone[first])),
            *(crowd[name].typical, crowd[name].over(crowd[first])),
        )
    yield table


def _stores(directory: Path, closing: ExitStack) -> dict[str, RedisStore]:
    everysec = _server(directory / "everysec", closing, EVERYSEC)
    store = _store(everysec, closing)
    watch = StoreWatch(store, directory / MARK, print, directory / "everysec", behind=True)
    watch.start()
    closing.callback(watch.stop)
    primary = _server(directory / "primary", closing, ALWAYS)
    replica = _server(directory / "replica", closing, ALWAYS)
    replica.client().execute_command("REPLICAOF", "127.0.0.1", primary.port)
    copied = _store(primary, closing, wait_replicas=1)
    eventually(lambda: _has_replica(copied), "the replica", PATIENCE_S)
    return {
        "everysec, no replica": store,
        "always, no replica": _store(_server(directory / "always", closing, ALWAYS), closing),
        "always, one replica": _store(primary, closing),
        "always, one replica, WAIT 1": copied,
    }


def _server(directory: Path, closing: ExitStack, fsync: str) -> RealServer:
    server = RealServer(directory, *PROMPT, fsync=fsync)
    closing.callback(server.close)
    return server


def _store(server: RealServer, closing: ExitStack, wait_replicas: int = 0) -> RedisStore:
    store = RedisStore(closing.enter_context(server.client()), wait_replicas=wait_replicas)
    store.installation()
    return store


def _has_replica(store: RedisStore) -> bool:
    _, _, replicas = store.client.execute_command("ROLE")
    return bool(replicas) and int(replicas[0][2]) > 0
