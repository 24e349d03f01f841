"""A real installation under play while its processes are killed at random; afterwards every guarantee is checked.

Some people play each other and opponents over HTTP, as any client would: an unanswered request is repeated with its
idempotency key until it is answered. A seeded killer sends SIGKILL to the API, the live stream, the relay, the workers
and the server, one after the other. The checks use what the clients have recorded and the store, never what a process
reports about itself.

``tests.chaos.campaign`` does the same to installations of several processes, on stores of several servers.
"""

import random
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from deploy.local.installation import LocalInstallation
from deploy.local.supervisor import Supervisor
from events.installation import Installation
from tests.chaos.history import History
from tests.chaos.people import MAX_RECOVERY_S, POLL_INTERVAL_S, Person
from tests.chaos.play import Played, count_acknowledged, find_down, people_playing
from tests.chaos.report import Report

PEOPLE = 4
ON_DEMAND = ("opponents", "opponents-long", "fleet")


class Killer:
    """Kills the parts of an installation in random order, each once before any is killed again."""

    def __init__(self, supervisor: Supervisor, seed: int) -> None:
        self.kills: Counter[str] = Counter()
        self._supervisor = supervisor
        self._chance = random.Random(seed)

    def kill(self, total: int, seconds: float, progress: Callable[[], int], print_line: Callable[[str], None]) -> None:
        """Kill ``total`` times within about ``seconds``; a move must be acknowledged between two kills."""
        names = list(self._supervisor.names())
        pace = seconds / total
        acknowledged = progress()
        for number in range(total):
            if number % len(names) == 0:
                self._chance.shuffle(names)
            due = time.monotonic() + self._chance.uniform(0.5, 1.5) * pace
            give_up_at = time.monotonic() + MAX_RECOVERY_S
            while time.monotonic() < due or (progress() == acknowledged and time.monotonic() < give_up_at):
                time.sleep(POLL_INTERVAL_S)
            acknowledged = progress()
            victim = names[number % len(names)]
            while not (killed := self._supervisor.kill(victim)) and time.monotonic() < give_up_at:
                time.sleep(POLL_INTERVAL_S)
            self.kills[victim] += killed
            if number % 10 == 9:
                print_line(f"{number + 1} of {total} kills, {acknowledged} moves acknowledged")


def run(var: Path, kills: int, seconds: float, seed: int, print_line: Callable[[str], None] = lambda _: None) -> Report:
    """Play and kill for about ``seconds``, then check. Raises only when the harness itself fails."""
    with LocalInstallation(var, opponents=2, embedded=True) as installation:
        supervisor = installation.supervisor
        for name in ON_DEMAND:
            supervisor.demand(name)
        killer = Killer(supervisor, seed)
        history = History(var / "history.jsonl")
        people = [Person([installation.url], number, seed, history) for number in range(PEOPLE)]
        played = Played(Installation(installation.settings), people, history, print_line)
        with people_playing(people) as playing:
            killer.kill(kills, seconds, lambda: count_acknowledged(people, playing), print_line)
            print_line("All kills are done; every part must restart and every match continue")
            down = find_down(supervisor, killer.kills, [installation.url, installation.stream_url])
            played.wait_until_all_continue(playing)
        return played.report(killer.kills, supervisor, down)
