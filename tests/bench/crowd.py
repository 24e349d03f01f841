"""How long an opponent of level 1 takes to answer, alone and while searches of minutes run beside it.

Each turn measures both. The searches are those of the strongest opponent of The Tower Game, level 12 with a compiled
build (``make compile``), in the process that an installation starts for them. Seconds are wall-clock, from the request
that moves to the first look at the match that shows the answer.
"""

import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from statistics import median

from deploy.local.compiled import find_build
from deploy.local.installation import LocalInstallation
from events.installation import Installation
from events.matches.thoughts import read_thought
from tests.bench.measure import Table, percentile
from tests.support.api_client import ApiClient
from tests.support.eventually import eventually

ANSWERS = 25
PAUSE_S = 0.02
PATIENCE_S = 60


def tables() -> Iterator[Table]:
    with ExitStack() as closing:
        var = Path(closing.enter_context(tempfile.TemporaryDirectory())) / "var"
        running = LocalInstallation(var)
        running.compiled = find_build()
        closing.enter_context(running)
        person = closing.enter_context(ApiClient(running.url, timeout=60.0))
        person.sign_up("anna", "the secret of anna")
        _answers(person)  # the first answers wait for imports and connections
        alone = _answers(person)
        level = person.get("/games/tower-game")["levels"][-1]
        seats = [{"kind": "opponent", "level": level}, {"kind": "me"}]
        match_id = person.post("/matches", {"game": "tower-game", "setup": "original", "seats": seats})["id"]
        turns = Installation(running.settings).turns
        eventually(lambda: (thought := read_thought(turns, match_id)) and thought.until, "the search", PATIENCE_S)
        beside = _answers(person)
        still_thinks = read_thought(turns, match_id) is not None
    table = Table("Seconds until level 1 has answered in Bashni", "", "median", "95 %", "longest")
    for name, seconds in (("alone", alone), (f"beside a search of level {level}", beside)):
        table.add(name, median(seconds), percentile(seconds, 0.95), max(seconds))
    table.add("ratio", median(beside) / median(alone), "", "" if still_thinks else "the search has ended")
    yield table


def _answers(person: ApiClient) -> list[float]:
    """Return how long each of ANSWERS answers has taken."""
    seconds: list[float] = []
    while len(seconds) < ANSWERS:
        seats = [{"kind": "me"}, {"kind": "opponent", "level": 1}]
        match_id = person.post("/matches", {"game": "bashni", "setup": "start", "seats": seats})["id"]
        while len(seconds) < ANSWERS:
            moves = person.get(f"/matches/{match_id}/legal-moves")["legal_moves"]
            begun = time.monotonic()
            person.post(f"/matches/{match_id}/moves", {"move": moves[0]})
            while (match := person.get(f"/matches/{match_id}"))["status"] == "playing" and match["to_move"] != 0:
                time.sleep(PAUSE_S)
            if match["status"] != "playing":
                break
            seconds.append(time.monotonic() - begun)
        if match["status"] == "playing":
            person.post(f"/matches/{match_id}/resignation", {})
    return seconds
