"""What a move costs all parts of an installation together: processor time of each, until its read models follow.

Two people play matches over HTTP; before each move they read which moves are legal. What the parts use while nothing
happens, in as much time, is taken off and shown beside it.
"""

import contextlib
import os
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

from deploy.local.installation import LocalInstallation
from events.installation import Installation
from tests.bench.measure import Table
from tests.support.api_client import ApiClient
from tests.support.eventually import eventually

MATCHES = 8
PLIES = 30
IDLE_S = 20.0


def tables() -> Iterator[Table]:
    with ExitStack() as closing:
        var = closing.enter_context(tempfile.TemporaryDirectory())
        installation = closing.enter_context(LocalInstallation(Path(var), opponents=1, embedded=True))
        anna, boris = (closing.enter_context(ApiClient(installation.url)) for _ in range(2))
        for person, name in ((anna, "anna"), (boris, "boris")):
            person.sign_up(name, f"the secret of {name}")
        _play((anna, boris), 1)  # everything has been done once
        before, start = _used(installation), time.monotonic()
        last = _play((anna, boris), MATCHES)
        readmodels = Installation(installation.settings).readmodels
        eventually(lambda: (found := readmodels.summary(last)) and found.ply == PLIES, "the last read model")
        playing_s = time.monotonic() - start
        between, start = _used(installation), time.monotonic()
        time.sleep(IDLE_S)
        idle_s, after = time.monotonic() - start, _used(installation)
    idle = {name: (after[name] - between[name]) / idle_s for name in after}
    moves = MATCHES * PLIES
    table = Table(f"Processor time of an installation, {moves} moves", "", "ms a move", "% of a processor when idle")
    spent = {name: (between[name] - before[name] - idle[name] * playing_s) / moves for name in after}
    for name in sorted(spent, key=lambda name: -spent[name]):
        table.add(name, max(0.0, 1000 * spent[name]), 100 * idle[name])
    table.add("all", 1000 * sum(spent.values()), 100 * sum(idle.values()))
    yield table


def _play(people: tuple[ApiClient, ApiClient], matches: int) -> str:
    anna, boris = people
    for _ in range(matches):
        seats = [{"kind": "me"}, {"kind": "player", "name": "boris"}]
        wanted = {"game": "bashni", "setup": "start", "seats": seats, "rated": True, "private": False}
        match_id = str(anna.post("/matches", wanted)["id"])
        boris.post(f"/matches/{match_id}/joins", {})
        for ply in range(PLIES):
            person = people[ply % 2]
            move = person.get(f"/matches/{match_id}/legal-moves")["legal_moves"][0]
            person.post(f"/matches/{match_id}/moves", {"move": move})
    return match_id


def _used(installation: LocalInstallation) -> Counter[str]:
    """Return the processor seconds that each part has used, with all of its processes."""
    groups = {installation.supervisor.pid(name): name for name in installation.supervisor.names()}
    used: Counter[str] = Counter()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = stat.read_text().rpartition(")")[2].split()
            if name := groups.get(int(fields[2])):
                used[name] += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")  # type: ignore[assignment]
    return used
