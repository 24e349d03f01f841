"""How fast one, two and four relays carry events to all that follows from them.

The relays are processes of their own that wait while the events are appended, and then go on all at once: the clock
runs until no consumer group has anything left. Every relay has one processor at most, and the server needs its part, so
more relays than processors only divide the work. How well they do shows in the last column: events for each second of
processor time of the relay that has worked most, which is what they would do in a second with a processor each.
"""

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from deploy.local.child import bound_to_parent
from domain.games import GAMES
from domain.match.commands import SubmitMove
from events.matches.matches import Matches
from events.runtime.liveness import RedisLiveness
from events.runtime.queues import ConsumerGroup
from events.runtime.wall_clock import now_ms
from events.store.archive.store import make_store
from events.store.contract import Request
from events.store.feed import feed_states
from events.store.redis import RedisStore
from tests.bench.measure import Table
from tests.bench.played import PLAYERS, random_game, start_match
from tests.support.eventually import eventually
from tests.support.server import RealServer
from tests.support.stepped_installation import settings_for
from tests.support.timeless import execute
from workers.shares import divide

RELAYS = (1, 2, 4)
MATCHES = 800
PLIES = 3
"""Of many matches in turn: the events of one that arrive together are handled together."""

POLL_INTERVAL_S = 0.02
PATIENCE_S = 120


def tables() -> Iterator[Table]:
    table = Table(
        f"Events that relays have carried to all {len(ConsumerGroup)} groups, {os.cpu_count()} processors",
        *("relays", "events", "events/s", "over one", "shards of each", "a processor each", "over one"),
    )
    alone: tuple[float, float] | None = None
    for number in RELAYS:
        with tempfile.TemporaryDirectory() as directory:
            server = RealServer(Path(directory))
            try:
                events, seconds, busiest_s, sizes = _measure(server, number)
            finally:
                server.close()
        rates = events / seconds, events / busiest_s
        alone = alone or rates
        ratios = rates[0] / alone[0], rates[1] / alone[1]
        table.add(f"{number}", f"{events}", rates[0], ratios[0], ", ".join(map(str, sizes)), rates[1], ratios[1])
    yield table


def _measure(server: RealServer, number: int) -> tuple[int, float, float, list[int]]:
    """Return how many events ``number`` relays have handled, and in how many seconds.

    Also how many seconds of processor time the busiest of them took, and how many shards each has.
    """
    settings = settings_for(server.url)._replace(shards=16)
    store = make_store(settings)
    store.installation()
    environment = {
        "REDIS_URL": settings.redis_url,
        "ROOKERY_PREFIX": settings.prefix,
        "BROKER_URL": settings.broker_url,
    }
    command = bound_to_parent([sys.executable, "-m", "deploy.cli", "relay"])
    relays = [
        subprocess.Popen(command, env=os.environ | environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(number)
    ]
    try:
        liveness = RedisLiveness(store.client, store.prefix)
        eventually(lambda: len(liveness.reports()) == number, "the relays", PATIENCE_S)
        _signal(relays, signal.SIGSTOP)
        _play(Matches(store, now_ms))
        living = sorted(report.relay for report in liveness.reports())
        for name in living:
            liveness.report(name, {})  # they were not away: nothing is to be taken over
        sizes = sorted(Counter(divide(tuple(living), store.shards).values()).values())
        before = [_processor_s(relay.pid) for relay in relays]
        _signal(relays, signal.SIGCONT)
        began = time.perf_counter()
        while _left(store):
            if time.perf_counter() - began > PATIENCE_S:
                raise RuntimeError("the relays do not get done")
            time.sleep(POLL_INTERVAL_S)
        seconds = time.perf_counter() - began
        busiest_s = max(_processor_s(relay.pid) - start for relay, start in zip(relays, before, strict=True))
        return _events(store), seconds, busiest_s, sizes
    finally:
        _signal(relays, signal.SIGKILL)
        for relay in relays:
            relay.wait()


def _processor_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _play(matches: Matches) -> None:
    match_ids = [start_match(matches, "bashni", "start") for _ in range(MATCHES)]
    for ply, move in enumerate(random_game(GAMES["bashni"], "start", PLIES)):
        player = PLAYERS[ply % 2]
        for match_id in match_ids:
            command = SubmitMove(player=player, move=move)
            execute(matches, match_id, command, player, Request(f"{ply}", move))


def _left(store: RedisStore) -> int:
    states = feed_states(store.client, store.prefix, range(store.shards)).values()
    return sum(sum(state.lag(group)) for state in states for group in ConsumerGroup)


def _events(store: RedisStore) -> int:
    return sum(state.sequence for state in feed_states(store.client, store.prefix, range(store.shards)).values())


def _signal(relays: Sequence[subprocess.Popen[bytes]], number: int) -> None:
    for relay in relays:
        relay.send_signal(number)
