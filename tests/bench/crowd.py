"""How long a level 1 opponent takes to move while another player's many matches wait for level 8.

A real installation with one process for quick answers and one for all others, as on a machine with two processors. The
clock starts when the player's move has been appended and stops when the opponent's has.
"""

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random

from deploy.local.installation import LocalInstallation
from domain.games import GAMES, find_ruleset
from domain.match.commands import CreateMatch, SubmitMove
from domain.match.enums import Status
from domain.match.positions import to_move
from domain.match.state import Seat
from domain.match.terms import STANDARD
from events.installation import make_store
from events.runtime.wall_clock import now_ms
from events.service.matches import Matches
from events.store.contract import Request
from tests.bench.measure import Table, percentile, verdict
from workers.fair_queue import SLOW, FairQueue

QUEUED_MATCHES = 100
ANSWERS = 30
"""Per game."""

TARGET_P99_S = 3.0
TIMEOUT_S = 60.0
POLL_INTERVAL_S = 0.005


def tables() -> Iterator[Table]:
    """Measure and yield the table."""
    table = Table(
        f"Answers at level 1 while {QUEUED_MATCHES} matches of another player wait for level 8, seconds",
        *("game", "answers", "p50", "p99", "worst", "p99 target", "level 8 waiting"),
    )
    with tempfile.TemporaryDirectory() as var, LocalInstallation(Path(var), embedded=True) as installation:
        store = make_store(installation.settings)
        matches, queue = Matches(store, now_ms), FairQueue(store.client, store.prefix)
        for game in GAMES:
            for number in range(QUEUED_MATCHES - queue.waiting(SLOW)):
                _begin(matches, f"crowd-{game}-{number}", game, "crowd", (8,))
            waits = list(_waits(matches, game))
            p50, p99 = (percentile(waits, share) for share in (0.5, 0.99))
            verdicts = verdict(p99, TARGET_P99_S, at_least=False)
            table.add(game, f"{len(waits)}", p50, p99, max(waits), verdicts, f"{queue.waiting(SLOW)}")
    yield table


def _begin(matches: Matches, match_id: str, game: str, creator: str, levels: tuple[int, ...]) -> None:
    """Create a match of opponents of ``levels`` and, on the last seat, its creator; other seats have level 1."""
    setup = next(iter(GAMES[game].setups.values()))
    seats = [Seat.opponent(level) for level in levels]
    seats += [Seat.opponent(1)] * (len(setup.seat_names) - len(seats) - 1)
    command = CreateMatch(
        match=match_id,
        creator=creator,
        game=game,
        setup=setup.name,
        seats=(*seats, Seat.taken(creator)),
        rated=False,
        private=False,
        seed="1",
        terms=STANDARD,
    )
    matches.append_decision(match_id, command, creator, Request("create", ""))


def _waits(matches: Matches, game: str) -> Iterator[float]:
    """Play random moves against opponents of level 1; yield the seconds that each of their moves takes."""
    chance, measured = Random(game), 0
    for number in range(ANSWERS):
        match_id = f"quick-{game}-{number}"
        _begin(matches, match_id, game, "alone", (1,))
        while measured < ANSWERS:
            plies = len(matches.load(match_id).state.play.moves)
            start = time.perf_counter()
            state = matches.load(match_id).state
            turn = to_move(state)
            if state.status != Status.PLAYING or turn is None:
                break
            if state.seats[turn].level is None:
                rules = find_ruleset(state.game, state.ruleset)
                move = rules.format_move(
                    state.play.position, chance.choice(list(rules.legal_moves(state.play.position)))
                )
                matches.append_decision(
                    match_id, SubmitMove(player="alone", move=move), "alone", Request(f"{plies}", "")
                )
                continue
            while len(matches.load(match_id).state.play.moves) == plies:
                if time.perf_counter() - start > TIMEOUT_S:
                    raise RuntimeError(f"no opponent answers in {match_id}")
                time.sleep(POLL_INTERVAL_S)
            yield time.perf_counter() - start
            measured += 1
