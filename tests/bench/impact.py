"""Replaying a store under another ruleset: ``rookery rules impact`` over a thousand matches of Bashni.

The matches are random games, another one from every seed, played to their ends. There is nothing to compare the rate
with; the share that would have gone differently is printed beside it, for it shortens the replay.
"""

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random

from domain.games import GAMES
from domain.match.commands import JoinMatch
from domain.match.enums import Status
from events.installation import Installation, make_store
from events.runtime.settings import Settings, next_database
from events.store.codec import draft_of
from events.store.contract import EMPTY, EventStore, Request
from tests.bench.measure import Rates, Table
from tests.support.matches import PlayedMatch, creation
from tests.support.server import RealServer
from workers.fleet.impact import ImpactQuery, Replayed
from workers.fleet.kinds import IMPACT
from workers.fleet.work import run_here

TURNS = 3
MATCHES = 1000
QUERY = ImpactQuery("bashni", 1, 2)


def tables() -> Iterator[Table]:
    """Measure and yield the table."""
    with tempfile.TemporaryDirectory() as directory:
        server = RealServer(Path(directory))
        try:
            settings = Settings(server.url, next_database(server.url), "rk:", "", False, None)
            store = make_store(settings)
            for seed in range(MATCHES):
                store_random_match(store, seed)
            store.client.close()
            turns = [_replay(settings) for _ in range(TURNS)]
        finally:
            server.close()
    table = Table(
        f"{MATCHES} matches of Bashni replayed under another ruleset", "", "matches/s", "plies/s", "would differ"
    )
    matches, plies = (Rates(tuple(turn[kind] for turn in turns)) for kind in (0, 1))
    table.add("1 process", matches.typical, plies.typical, f"{turns[0][2]}")
    yield table


def store_random_match(store: EventStore, seed: int) -> None:
    """Play a random game of Bashni to its end and append it under a name made of the seed."""
    game, chance = GAMES["bashni"], Random(seed)
    match = PlayedMatch(creation(match_id=f"m{seed}", rated=False))
    match.do(JoinMatch(player="bob"))
    while match.state.status == Status.PLAYING:
        player = match.state.seats[game.to_move(match.state.play.position)].player or ""
        match.move(player, chance.choice(match.legal_moves()))
    store.append(match.name, EMPTY, [draft_of(event, "bench") for event in match.events], Request("all", ""))


def _replay(settings: Settings) -> tuple[float, float, int]:
    """Return matches and plies a second, and the number of matches that would have gone differently."""
    total = Replayed()
    start = time.perf_counter()
    for replayed in run_here(Installation(settings), IMPACT, QUERY._asdict()):
        total = total.plus(replayed)
    seconds = time.perf_counter() - start
    return total.matches / seconds, total.plies / seconds, len(total.differing)
