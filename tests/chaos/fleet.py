"""Workers of the fleet killed at random while they audit and rebuild, the rebuild beside relays and people who play.

The matches are copies of some short ones between many people, all rated and over on one day. First both jobs are done
without a kill. Then they are done again, with workers that are killed: the audit must have the same results, and after
the rebuild, once the relay has caught up, the read models must be those that another rebuild makes.
"""

import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from domain.match.commands import JoinMatch, Resign, SubmitMove
from domain.match.state import Seat
from events.installation import Installation
from events.readmodels import dump
from events.runtime.keys import ShardKeys
from events.runtime.queues import Group, Queue
from events.runtime.settings import STREAM_URL, Settings, next_database
from events.service.fleet_jobs import JobState, Parameters
from events.store.codec import draft_of
from events.store.contract import EMPTY, Request
from events.store.envelope import Draft
from events.store.feed import FeedGroup
from tests.support.celery_worker import CeleryWorker
from tests.support.eventually import eventually
from tests.support.matches import PlayedMatch, creation
from tests.support.relays import running
from tests.support.server import RealServer
from workers.fleet.audit import RECOMPUTE
from workers.fleet.kinds import AUDIT, REBUILD
from workers.fleet.work import read_results
from workers.relay import Relay
from workers.task_queue import TaskQueue

SHARDS = 16
PEOPLE = 40
PLIES = 8
WORKERS = 2
PLAYED_EVERY_S = 0.1
MAX_WAIT_S = 3600.0
DAMAGED = "copy7"

Print = Callable[[str], None]


class FleetReport(NamedTuple):
    """The result of the kills. ``faults`` must be empty."""

    matches: int
    kills: int
    played_meanwhile: int
    seconds: dict[str, float]
    faults: tuple[str, ...]

    def __str__(self) -> str:
        """Return the counts, one per line."""
        lines = [f"matches                   {self.matches}", f"workers killed            {self.kills}"]
        lines.append(f"matches played meanwhile  {self.played_meanwhile}")
        lines += (f"{what:<25} {seconds:.1f} s" for what, seconds in self.seconds.items())
        return "\n".join([*lines, f"faults                    {len(self.faults)}"])


def run_fleet(directory: Path, matches: int, kills: int, seed: int, print_line: Print) -> FleetReport:
    """Do the jobs over ``matches`` matches, half of the ``kills`` in each; return what was found."""
    server = RealServer(directory)
    try:
        settings = Settings(server.url, next_database(server.url), "rk:", STREAM_URL, False, SHARDS)
        return _Campaign(Installation(settings), matches, seed, print_line).run(kills)
    finally:
        server.close()


class _Campaign:
    def __init__(self, parts: Installation, matches: int, seed: int, print_line: Print) -> None:
        self._parts = parts
        self._matches = matches
        self._chance = random.Random(seed)
        self._print = print_line
        self._drafts = [_drafts(number) for number in range(PEOPLE)]
        self._stored = 0
        self._kills = 0
        self._seconds: dict[str, float] = {}

    def run(self, kills: int) -> FleetReport:
        faults = []
        for _ in range(self._matches):
            self._play()
        self._parts.client.xdel(self._damaged_key(), "3-0")
        self._print(f"{self._matches} matches are stored")
        expected = self._do("audit", AUDIT, {RECOMPUTE: False}, 0)
        if sum(len(audited.findings) for audited in expected) != 1:
            faults.append("the audit does not find the one match that is damaged")
        self._do("rebuild", REBUILD, {}, 0)
        if self._do("audit with kills", AUDIT, {RECOMPUTE: False}, kills // 2) != expected:
            faults.append("the audit with kills has other results")
        before = self._stored
        self._skip_feed()
        with running(Relay(self._parts.settings)), CeleryWorker(self._parts.settings, [Queue.DEFAULT], quiet=True):
            with self._people_playing():
                self._do("rebuild with kills", REBUILD, {}, kills - kills // 2)
            played = self._stored - before
            eventually(self._has_caught_up, "the relay catches up", MAX_WAIT_S)
        rebuilt = self._dump()
        self._do("rebuild afterwards", REBUILD, {}, 0)
        again = self._dump()
        different = sorted(name for name in rebuilt.keys() | again.keys() if rebuilt.get(name) != again.get(name))
        faults += [f"{name} is not what another rebuild makes" for name in different[:10]]
        return FleetReport(self._matches, self._kills, played, self._seconds, tuple(faults))

    def _do(self, what: str, kind: str, parameters: Parameters, kills: int) -> list[Any]:
        """Have a job done by workers, of which ``kills`` are killed; return its results."""
        start, jobs = time.monotonic(), self._parts.fleet_jobs
        workers = [CeleryWorker(self._parts.settings, [Queue.FLEET], quiet=True) for _ in range(WORKERS)]
        try:
            job = jobs.start(kind, parameters)
            tasks, killed = TaskQueue(self._parts), 0
            while job.state == JobState.RUNNING and time.monotonic() - start < MAX_WAIT_S:
                tasks.request_slices(job.id)
                # The kills are spread over the job as it makes progress.
                if killed < kills and job.units_done * (kills + 1) >= (killed + 1) * max(1, job.units):
                    victim = self._chance.randrange(WORKERS)
                    workers[victim].kill()
                    workers[victim] = CeleryWorker(self._parts.settings, [Queue.FLEET], quiet=True)
                    killed += 1
                time.sleep(self._chance.random())
                job = jobs.job(job.id) or job
        finally:
            for worker in workers:
                worker.kill()
        self._kills += killed
        self._seconds[what] = time.monotonic() - start
        self._print(f"{what}: {job.state} {job.reason}, {killed} kills, {self._seconds[what]:.1f} s")
        if job.state != JobState.FINISHED:
            raise RuntimeError(f"{what} is {job.state}: {job.reason}")
        return [result for _, result in read_results(jobs, job)]

    @contextmanager
    def _people_playing(self) -> Iterator[None]:
        stop = threading.Event()

        def play() -> None:
            while not stop.wait(PLAYED_EVERY_S):
                self._play()

        player = threading.Thread(target=play)
        player.start()
        try:
            yield
        finally:
            stop.set()
            player.join()

    def _play(self) -> None:
        """Store one more match, which is over."""
        drafts = self._drafts[self._stored % PEOPLE]
        self._parts.store.append(f"copy{self._stored}", EMPTY, drafts, Request("copy", "copy"))
        self._stored += 1

    def _skip_feed(self) -> None:
        """Let relays begin behind the matches that are stored: the rebuild has made their read models."""
        for shard, name in product(range(self._parts.store.shards), Group):
            self._parts.client.xgroup_create(ShardKeys(self._parts.prefix, shard).feed, name, id="$", mkstream=True)

    def _has_caught_up(self) -> bool:
        """Tell whether read models and ratings follow all events; looked at once a second."""
        time.sleep(1)
        parts = self._parts
        for name in (Group.PROJECTIONS, Group.RATINGS):
            group = FeedGroup(parts.client, parts.prefix, parts.store.shards, name, "judge")
            if any(lag.pending + lag.undelivered for lag in group.lag()):
                return False
        rated = parts.ratings.included([f"copy{number}" for number in range(self._stored)])
        absent = [match_id for match_id, result in rated.items() if result is None and match_id != DAMAGED]
        return not absent and not parts.ratings.is_unsettled()

    def _damaged_key(self) -> str:
        shard = self._parts.store.shard_of(DAMAGED)
        return f"{self._parts.prefix}{{s{shard:02d}}}:m:{DAMAGED}:e"

    def _dump(self) -> dict[str, Any]:
        return dump(self._parts.client, self._parts.readmodels.keys)


def _drafts(number: int) -> list[Draft]:
    """Return the events of a rated match that is over."""
    people = f"person{number}", f"person{(number + 1 + number % 7) % PEOPLE}"
    create = creation(Seat.taken(people[0]), Seat.invited(people[1]), match_id="m", creator=people[0], rated=True)
    match, chance = PlayedMatch(create), random.Random(number)
    drafts = [draft_of(event, people[0]) for event in match.events]
    drafts += [draft_of(event, people[1]) for event in match.do(JoinMatch(player=people[1]))]
    for ply in range(PLIES):
        move = SubmitMove(player=people[ply % 2], move=chance.choice(match.legal_moves()))
        drafts += [draft_of(event, people[ply % 2]) for event in match.do(move)]
    loser = people[number % 2]
    return [*drafts, *(draft_of(event, loser) for event in match.do(Resign(player=loser)))]
