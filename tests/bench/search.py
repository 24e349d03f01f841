"""The search: nodes per second in every game, in plain Python and compiled, on the same positions in turns.

"Native" is the compiled search of a game that gives it positions in machine integers; "compiled" is the same on the
contract's positions. Without a compiled build of these sources (``make compile``) only plain Python is measured. With
``OLD=directory`` in the environment the plain Python of an older checkout is measured beside it. Every build has a
process of its own, which counts its processor time. Values are rates of the fastest turn.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from random import Random

from deploy.local.compiled import find_build
from deploy.local.environment import ROOT
from domain.games import GAMES
from tests.bench.measure import Table
from tests.support.twin import positions

TURNS = 3
POSITIONS = 6
TARGETS = {"bashni": 10.0, "towers": 10.0, "tower-game": 3.0, "fourplay": 3.0, "four-towers": 3.0}
"""Nodes per second of the fastest build as multiples of the oldest plain Python."""


def tables() -> Iterator[Table]:
    build = find_build()
    paths: dict[str, tuple[Path, ...]] = {"plain": (ROOT,)}
    if "OLD" in os.environ:
        paths = {"old": (Path(os.environ["OLD"]).resolve(),), **paths}
    if build is not None:
        paths |= {"compiled": (build, ROOT), "native": (build, ROOT)}
    reference = next(iter(paths))
    table = Table("Search, nodes per second of processor time", "game", *paths, *([f"x {reference}"] if build else []))
    for game_id, game in GAMES.items():
        searched = [game.format_position(position) for position, _ in islice(positions(game, Random(5)), POSITIONS)]
        rates = dict.fromkeys(paths, 0.0)
        for _ in range(TURNS):
            for kind, path in paths.items():
                rates[kind] = max(rates[kind], measure(game_id, kind, path, searched))
        multiple = [f"{rates['native'] / rates[reference]:.1f}, target {TARGETS[game_id]:g}"] if build else []
        table.add(game_id, *rates.values(), *multiple)
    yield table


def measure(game_id: str, kind: str, path: tuple[Path, ...], searched: list[str]) -> float:
    """Return the nodes per second of a process whose modules are those of ``path``, in the positions ``searched``."""
    command = [sys.executable, str(Path(__file__).with_name("search_rate.py")), game_id, kind]
    environment = {"PYTHONPATH": ":".join(map(str, path)), "PYTHONSAFEPATH": "1"}
    ran = subprocess.run(
        command, cwd=ROOT, env=environment, input="\n".join(searched), capture_output=True, text=True, check=True
    )
    return float(ran.stdout)
