"""What ``rookery up`` takes of a small machine: processes and memory before and after play, time to start, idle cost.

Played is an hour of a club, compressed: four people, 20 matches, ten of them against opponents of level 5, with a live
stream for each person. ROOKERY_PYTHON names the interpreter of an environment without development packages
(``make .venv/product`` in a second clone); else it is the one that measures.
"""

import contextlib
import os
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple
from urllib.error import HTTPError

from deploy.local.child import bound_to_parent
from deploy.local.environment import ENVIRONMENT_FILE, ROOT, parse_exports
from deploy.local.ports import Ports
from events.runtime.connections import StoreClient, connect
from tests.bench.measure import Table, format_number, verdict
from tests.support.api_client import ApiClient
from tests.support.processes import processes_below

NAMES = ("anna", "boris", "clara", "david")
LEVEL = 5
MATCHES_EACH = 5
"""Of each person: the first two, and of every second person one more, are against an opponent."""

PLIES = 24
PAUSE_S = 2.0
"""Between two looks at all matches: what one person may ask for is limited."""

SETTLING_S = 15.0
"""What is done once a day is done after a start, too."""

IDLE_S = 30.0
TICKS = os.sysconf("SC_CLK_TCK")


class Taken(NamedTuple):
    """What the processes of an installation have taken: processor seconds, proportional memory (MB) by name."""

    seconds: float
    memory: Counter[str]
    processes: int


def tables() -> Iterator[Table]:
    with ExitStack() as closing:
        var, ports = Path(closing.enter_context(tempfile.TemporaryDirectory())) / "var", Ports.free()
        up, ready_s = _start(var, ports)
        closing.callback(up.wait)
        closing.callback(up.terminate)
        ready = _taken(up.pid)
        client = connect(parse_exports((var / ENVIRONMENT_FILE).read_text())["REDIS_URL"])
        closing.callback(client.close)
        time.sleep(SETTLING_S)
        idle, commands = _idle(up.pid, client)
        before = _taken(up.pid)
        _play(f"http://127.0.0.1:{ports.api}", f"http://127.0.0.1:{ports.stream}")
        time.sleep(SETTLING_S)
        after = _taken(up.pid)
        idle_after, commands_after = _idle(up.pid, client)
    table = Table("An installation on one machine", "", "before play", "after play", "target")
    for name, values, target in (
        ("processes", (before.processes, after.processes), 9),
        ("MB of memory (PSS)", (before.memory.total(), after.memory.total()), 260),
        ("% of a processor when idle", (100 * idle, 100 * idle_after), 1),
        ("commands of the store a second when idle", (commands, commands_after), 60),
    ):
        table.add(name, *map(format_number, values), verdict(values[0], target, at_least=False))
    table.add("MB after an hour of play", "", after.memory.total(), verdict(after.memory.total(), 350, at_least=False))
    table.add("processor seconds until it is ready", ready.seconds, "", verdict(ready.seconds, 5, at_least=False))
    table.add("seconds until it is ready", ready_s, "", "")
    yield table
    table = Table("Memory by process (PSS, MB)", "", "before play", "after play")
    for name in sorted({*before.memory, *after.memory}, key=lambda name: -after.memory[name]):
        table.add(name, format_number(before.memory[name]), format_number(after.memory[name]))
    yield table


def _start(var: Path, ports: Ports) -> tuple["subprocess.Popen[str]", float]:
    """Start an installation; return its process, and after how many seconds it has said that it is ready."""
    options = ["--port", ports.api, "--stream-port", ports.stream, "--server-port", ports.server, "--var", var]
    python = os.environ.get("ROOKERY_PYTHON", sys.executable)
    command = bound_to_parent([python, "-m", "deploy.cli", "up", *map(str, options)])
    start = time.monotonic()
    up = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    said = ""
    while "is ready" not in said:
        line = up.stdout.readline() if up.stdout is not None else ""
        if not line:
            raise RuntimeError(said)
        said += line
    seconds = time.monotonic() - start
    threading.Thread(target=up.stdout.read if up.stdout is not None else None, daemon=True).start()
    return up, seconds


def _play(url: str, stream_url: str) -> None:
    """Play until each match is over or has PLIES."""
    with ExitStack() as closing:
        people = [closing.enter_context(ApiClient(url, timeout=60.0)) for _ in NAMES]
        for person, name in zip(people, NAMES, strict=True):
            person.sign_up(name, f"the secret of {name}")
            _watch(stream_url, person, closing)
        matches: dict[str, Sequence[ApiClient]] = {}
        for number, person in enumerate(people):
            for match in range(MATCHES_EACH):
                rival = (number + 1) % len(people)
                against_opponent = match < 2 + number % 2
                other = {"kind": "opponent", "level": LEVEL}
                if not against_opponent:
                    other = {"kind": "player", "name": NAMES[rival]}
                wanted = {"game": "bashni", "setup": "start", "seats": [{"kind": "me"}, other], "rated": True}
                match_id = str(person.post("/matches", {**wanted, "private": False})["id"])
                if not against_opponent:
                    people[rival].post(f"/matches/{match_id}/joins", {})
                matches[match_id] = (person,) if against_opponent else (person, people[rival])
        playing = set(matches)
        while playing:
            time.sleep(PAUSE_S)
            for match_id in sorted(playing):
                if not _move(url, match_id, matches[match_id]):
                    playing.remove(match_id)


def _move(url: str, match_id: str, players: Sequence[ApiClient]) -> bool:
    """Make the move of the person to move, if it is one; return whether the match goes on."""
    state = players[0].get(f"/matches/{match_id}")
    if state["status"] != "playing" or state["ply"] >= PLIES:
        return False
    if state["to_move"] < len(players):
        player = players[state["to_move"]]
        with contextlib.suppress(HTTPError):  # more pages than an address may read in a minute
            urllib.request.urlopen(f"{url}/matches/{match_id}", timeout=60).read()  # noqa: S310 - our own address
        moves = player.get(f"/matches/{match_id}/legal-moves")["legal_moves"]
        player.post(f"/matches/{match_id}/moves", {"move": moves[state["ply"] % len(moves)]})
    return True


def _watch(stream_url: str, person: ApiClient, closing: ExitStack) -> None:
    headers = {"Authorization": f"Bearer {person.token}"}
    request = urllib.request.Request(f"{stream_url}/api/v1/me/stream", headers=headers)  # noqa: S310
    closing.enter_context(urllib.request.urlopen(request, timeout=60))  # noqa: S310


def _idle(up: int, client: StoreClient) -> tuple[float, float]:
    """Return the share of a processor, and the commands of the store a second, while nothing happens."""
    seconds, commands, start = _taken(up).seconds, _commands(client), time.monotonic()
    time.sleep(IDLE_S)
    took = time.monotonic() - start
    return (_taken(up).seconds - seconds) / took, (_commands(client) - commands) / took


def _commands(client: StoreClient) -> int:
    return int(client.info("stats")["total_commands_processed"])


def _taken(up: int) -> Taken:
    seconds, memory, processes = 0.0, Counter[str](), 0
    for pid in (up, *processes_below(up)):
        with contextlib.suppress(OSError):
            name, _, rest = Path(f"/proc/{pid}/stat").read_text().partition("(")[2].rpartition(")")
            seconds += sum(map(int, rest.split()[11:15])) / TICKS  # with those of processes that have ended
            rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
            memory[name] += int(rollup.partition("\nPss:")[2].split()[0]) // 1024
            processes += 1
    return Taken(seconds, memory, processes)
