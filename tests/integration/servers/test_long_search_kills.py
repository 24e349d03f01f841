"""A long search whose worker is killed again and again: its move is that of an undisturbed one.

``python -m tests.integration.servers.test_long_search_kills`` does it at full length, with level 12: some minutes in
compiled code (``make compile``). In plain Python level 12 searches fewer nodes.
"""

import multiprocessing
import os
import sys
import time
from multiprocessing.process import BaseProcess

import pytest

from domain.build import COMPILED
from domain.games import GAMES
from domain.search import LEVELS, budgets, choose, node_budget, seed_for
from domain.search.budgets import Pace
from events.installation import Installation
from events.matches import thoughts
from events.runtime.settings import Settings
from events.runtime.wall_clock import now_ms
from tests.support.eventually import eventually
from tests.support.stepped_installation import SteppedInstallation
from tests.tuning.strength import in_compiled_code
from workers import long_searches
from workers.claims import do_due
from workers.composition import make_long_thinker, make_opponents
from workers.opponents import LONG

BUDGETS = (30_000, 40_000, 50_000, 60_000)
LEASE_MS = 1_000
FULL_LENGTH = "FULL_LENGTH"
IS_FULL_LENGTH = FULL_LENGTH in os.environ
NOTES = 60 if IS_FULL_LENGTH else 1
"""Times that a search notes when it will end before its worker is killed."""
DEADLINE_S = 7_200.0 if IS_FULL_LENGTH else 60.0


def search_until_killed(settings: Settings) -> None:
    """Do the long searches of an installation."""
    parts = Installation(settings)
    parts.turns.lease_ms = LEASE_MS
    while True:
        do_due(parts.turns, [LONG], make_long_thinker(parts, lambda: False).answer, lambda: None, now_ms)
        time.sleep(0.01)


def started(settings: Settings) -> BaseProcess:
    """Return a new worker: a process that is killed with the tests at the latest."""
    worker = multiprocessing.get_context("fork").Process(target=search_until_killed, args=[settings], daemon=True)
    worker.start()
    return worker


def test_a_search_whose_worker_is_killed_three_times_chooses_the_same_move(
    shop: SteppedInstallation, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not IS_FULL_LENGTH:
        monkeypatch.setitem(budgets.PACES, "bashni", Pace(10_000, 10_000, BUDGETS))
    monkeypatch.setattr(long_searches, "MIN_INTERVAL_S", 0.0)
    shop.now = now_ms()
    match, turns = shop.start("opponent-12", "alice"), shop.parts.turns
    before, noted = shop.state(match), 0

    def noted_anew() -> int:
        thought = thoughts.read_thought(turns, match)
        return 0 if thought is None or thought.until == noted else thought.until

    make_opponents(shop.parts).add_turn(match)
    for _ in range(3):
        doomed = started(shop.settings)
        for _ in range(NOTES):
            noted = eventually(noted_anew, "a search", DEADLINE_S)
        doomed.kill()
        doomed.join()
        assert not shop.state(match).play.moves
    worker = started(shop.settings)
    try:
        # After as many kills the entry is given up, and the sweeper adds it again.
        eventually(lambda: turns.entry_content("", thoughts.search_entry(match)) is None, "the end", DEADLINE_S)
        make_opponents(shop.parts).add_turn(match)
        eventually(lambda: shop.state(match).play.moves, "the move", DEADLINE_S)
    finally:
        worker.kill()
        worker.join()
    (played,) = [event for event in shop.store.read(match) if event.type == "move-submitted"]
    game, position = GAMES["bashni"], before.play.position
    undisturbed = choose(game, position, before.play.history, 12, seed_for(before.seed, 1))
    assert (played.data["nodes"], played.data["move"]) == (
        node_budget("bashni", 12),
        game.format_move(position, undisturbed.move),
    )
    assert undisturbed.nodes > LEVELS[8].nodes


if __name__ == "__main__":
    os.environ[FULL_LENGTH] = "1"
    in_compiled_code(sys.argv[1:], "tests.integration.servers.test_long_search_kills")
    if not COMPILED:
        sys.exit("Level 12 has its whole budget in compiled code only.")
    sys.exit(pytest.main(["--timeout=7200", __file__]))
