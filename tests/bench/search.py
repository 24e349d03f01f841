"""The search: nodes per second in every game, in plain Python and compiled, on the same positions in turns.

"Native" is the compiled search of a game that gives it positions in machine integers; "compiled" is the same on the
contract's positions. Without a compiled build of these sources (``make compile``) only plain Python is measured. Every
build has a process of its own, which counts its processor time. Values are rates of the fastest turn.
"""

import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from random import Random

from deploy.local.compiled import find_build
from deploy.local.environment import ROOT
from domain.game import AnyGame
from domain.games import GAMES
from domain.search.choose import choose
from tests.bench.measure import Table
from tests.support.twin import positions

TURNS = 3
POSITIONS = 6
NODES = 4_000
LEVEL = 8
TARGETS = {"bashni": 10.0, "towers": 10.0, "tower-game": 3.0, "fourplay": 3.0, "four-towers": 3.0}
"""Nodes per second as multiples of plain Python."""


def tables() -> Iterator[Table]:
    build = find_build()
    paths: dict[str, tuple[Path, ...]] = {"plain": (ROOT,)}
    if build is not None:
        paths |= {"compiled": (build, ROOT), "native": (build, ROOT)}
    table = Table("Search, nodes per second of processor time", "game", *paths, *(["x plain"] if build else []))
    for game_id in GAMES:
        rates = dict.fromkeys(paths, 0.0)
        for _ in range(TURNS):
            for kind, path in paths.items():
                rates[kind] = max(rates[kind], measure(game_id, kind, path))
        multiple = [f"{rates['native'] / rates['plain']:.1f}, target {TARGETS[game_id]:g}"] if build else []
        table.add(game_id, *rates.values(), *multiple)
    yield table


def measure(game_id: str, kind: str, path: tuple[Path, ...]) -> float:
    """Return the nodes per second of a process whose modules are those of ``path``."""
    command = [sys.executable, "-m", "tests.bench.search", game_id, kind]
    environment = {"PYTHONPATH": ":".join(map(str, path)), "PYTHONSAFEPATH": "1"}
    ran = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    return float(ran.stdout)


def nodes_per_second(game: AnyGame) -> float:
    nodes = 0
    searched = list(islice(positions(game, Random(5)), POSITIONS))
    started = time.process_time()
    for number, (position, history) in enumerate(searched):
        nodes += choose(game, position, history, LEVEL, number, NODES).nodes
    return nodes / (time.process_time() - started)


def main() -> None:
    game = GAMES[sys.argv[1]]
    if sys.argv[2] == "compiled":
        type(game).search_position = lambda *_: None  # type: ignore[method-assign]
    print(nodes_per_second(game))


if __name__ == "__main__":
    main()
