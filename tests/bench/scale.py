"""What costs more where more matches are stored: the same requests on stores that differ in nothing else.

Play is the same every day; only how long it has gone on differs. All stores run side by side and are measured in turns.
Figures are processor time, of the client's process and of the store's server together: other work does not affect it.
What takes more than 15 % longer on the larger store than on the next smaller one, but not more than the logarithm of
their sizes, is logarithmic. Nothing is archived: a checkpoint looks at all matches that are not, once a day.

``make bench ONLY=scale`` takes small stores; ``python -m tests.bench.scale 1000 100000 1000000`` any others. What
scales with more processes has tables of its own: ``make bench ONLY=`` viewers, wait, relays, cluster and fleet.
"""

import math
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from statistics import median
from typing import Any

from events.installation import Installation
from events.matches.readmodels.paging import Place, format_cursor
from events.people.person import Person
from events.runtime.settings import STREAM_URL, Settings
from tests.bench.measure import Rates, Table
from tests.bench.stored import DAY_MS, FIRST_DAY_MS, MATCHES_PER_DAY, Loader, player_id
from tests.support.callers import API, Caller, app_on
from tests.support.server import RealServer
from workers.composition import make_sweeper, make_task_queue

SMALL = (2_000, 20_000)
"""A sweep looks at up to 2,000 read models: a smaller store has fewer."""

TURNS = 9
FLAT = 1.15
GROWTHS = ("flat", "logarithmic", "grows")
POOL = "bashni-2"
MOVES_PER_TURN = 20
REQUESTS_PER_TURN = 10
VERIFIED = 50


class Stored:
    """A store with ``matches`` matches, and what is measured on it: each returns how often it was done."""

    def __init__(self, directory: Path, matches: int, closing: ExitStack) -> None:
        self.matches = matches
        self.server = RealServer(directory)
        closing.callback(self.server.close)
        settings = Settings(self.server.url, "memory://", "rk:", STREAM_URL, False, None)
        self._days = count(1)
        self.parts = Installation(settings, lambda: self._now)
        self._now = FIRST_DAY_MS
        self.loaded = self._load()
        self._sweeper = make_sweeper(self.parts, make_task_queue(self.parts))
        self._app = app_on(self.server.url)
        self._people = [Caller(self._app).sign_up(name) for name in ("anna", "boris")]
        self._checked = 0
        self.parts.people.enrol(Person(player_id(1), "carol", "person", FIRST_DAY_MS), "")
        self.parts.checkpoints.sign(self._now)

    @property
    def bytes_per_match(self) -> float:
        """Memory of the server for a match, all that belongs to it included."""
        return self._bytes / self.matches

    def submit(self) -> int:
        """Create a match and play its first moves over HTTP."""
        anna, boris = self._people
        match_id = anna.create({"kind": "me"}, {"kind": "player", "name": "boris"})
        assert boris.post(f"/matches/{match_id}/joins").status_code == 201
        for ply in range(MOVES_PER_TURN):
            person = (anna, boris)[ply % 2]
            answer = person.post(f"/matches/{match_id}/moves", {"move": person.legal_move(match_id)})
            assert answer.status_code == 201, answer.text
        return MOVES_PER_TURN + 2

    def list_first(self) -> int:
        return self._get(f"{API}/matches?view=recent")

    def list_deep(self) -> int:
        """Read a page in the middle of all matches."""
        middle = FIRST_DAY_MS + self.matches // 2 * (DAY_MS // MATCHES_PER_DAY)
        return self._get(f"{API}/matches?view=recent&cursor={format_cursor(Place(middle, 'm'))}")

    def list_of_player(self) -> int:
        """Read the first of the finished matches of a player, who has more on every store."""
        return self._get(f"{API}/players/{player_id(1)}/matches?view=finished&limit=10")

    def leaderboard(self) -> int:
        return self._get(f"{API}/leaderboards/{POOL}")

    def match_page(self) -> int:
        """Read pages of matches that have not been read before."""
        first = self._checked
        self._checked += REQUESTS_PER_TURN
        for number in range(first, self._checked):
            self._page(f"/matches/{self._ids[number * 7919 % len(self._ids)]}")
        return REQUESTS_PER_TURN

    def checkpoint(self) -> int:
        self.parts.checkpoints.sign(self._now + next(self._days) * DAY_MS)
        return 1

    def sweep(self) -> int:
        self._sweeper.sweep()
        return 1

    def seconds(self) -> float:
        used: Any = self.parts.client.info("cpu")
        return time.process_time() + float(used["used_cpu_user"]) + float(used["used_cpu_sys"])

    def _get(self, path: str) -> int:
        for _ in range(REQUESTS_PER_TURN):
            self._page(path)
        return REQUESTS_PER_TURN

    def _page(self, path: str) -> None:
        answer = self._people[0].client.get(path)
        assert answer.status_code == 200, answer.text

    def _load(self) -> dict[str, float]:
        """Load the matches; return the events a second of processor time, without and with their read models."""
        before = self._used_memory()
        loader = Loader(self.parts, self.matches)
        appending = projecting = 0.0
        batches = loader.batches()
        while True:
            start = self.seconds()
            if next(batches, None) is None:
                break
            middle = self.seconds()
            loader.project()
            appending, projecting = appending + middle - start, projecting + self.seconds() - middle
        loader.rate()
        loader.verify(min(VERIFIED, self.matches))
        self._ids, self._now = loader.ids, loader.now
        self._bytes = self._used_memory() - before
        return {"append": loader.events / appending, "all": loader.events / (appending + projecting)}

    def _used_memory(self) -> int:
        used: Any = self.parts.client.info("memory")
        return int(used["used_memory_dataset"])


MEASURED: dict[str, Callable[[Stored], int]] = {
    "move, with the legal ones": Stored.submit, "list, first page": Stored.list_first,
    "list, page in the middle": Stored.list_deep, "list of a player": Stored.list_of_player,
    "leaderboard": Stored.leaderboard, "match page": Stored.match_page, "checkpoint": Stored.checkpoint,
    "sweep": Stored.sweep,
}  # fmt: skip


def tables(sizes: Sequence[int] = SMALL) -> Iterator[Table]:
    """Load stores with these numbers of matches; measure and yield the tables."""
    with tempfile.TemporaryDirectory() as directory, ExitStack() as closing:
        stores = [Stored(Path(directory) / str(size), size, closing) for size in sizes]
        loading = Table("Loading matches", "matches", "events/s", "with read models", "bytes a match in memory")
        for store in stores:
            loading.add(f"{store.matches:,}", store.loaded["append"], store.loaded["all"], store.bytes_per_match)
        yield loading
        measured: dict[tuple[str, int], list[float]] = {}
        for turn in range(-1, TURNS):  # the first one warms up and is not counted
            for name, act in MEASURED.items():
                for store in stores:
                    start = store.seconds()
                    done = act(store)
                    if turn >= 0:
                        measured.setdefault((name, store.matches), []).append((store.seconds() - start) / done)
    yield _table(sizes, measured)


def _table(sizes: Sequence[int], measured: dict[tuple[str, int], list[float]]) -> Table:
    first, *others = (f"ms at {size:,}" for size in sizes)
    columns = [first, *(cell for other in others for cell in (other, "x"))]
    table = Table("Processor time where more matches are stored", "", *columns, "")
    for name in MEASURED:
        times = [Rates(tuple(measured[name, size])) for size in sizes]
        cells: list[str | float] = [1000 * times[0].typical]
        growth = []
        for before, after, small, large in zip(times, times[1:], sizes, sizes[1:], strict=False):
            ratio = median(two / one for one, two in zip(before.turns, after.turns, strict=True))
            cells += [1000 * after.typical, ratio]
            growth.append(_growth(ratio, small, large))
        table.add(name, *cells, max(growth, key=GROWTHS.index, default=""))
    return table


def _growth(ratio: float, small: int, large: int) -> str:
    """Return how a figure grows with the number of matches, from its ratio between two sizes."""
    if ratio <= FLAT:
        return GROWTHS[0]
    return GROWTHS[1 if ratio <= math.log(large) / math.log(small) else 2]


if __name__ == "__main__":
    for table in tables([int(size) for size in sys.argv[1:]] or SMALL):
        print(table, flush=True)
