"""The worst time that opponents take for a move, in seconds of processor time.

The lower level moves in the positions of the vector files and of random games, the higher one only where that took
longest.
"""

import json
import random
import time
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from domain.game import AnyGame
from domain.games import GAMES
from domain.search import choose
from tests.bench.measure import Table, verdict

LOW, HIGH = 3, 8
TARGETS = {LOW: 5.0, HIGH: 60.0}
"""Seconds by level."""
MAX_PLACES = {LOW: 120, HIGH: 2}
"""Positions per game in which a level is asked for a move."""

PLIES = 160
SAMPLE_INTERVAL_PLIES = 20
"""Positions of random games are taken at this interval, up to ``PLIES``."""

VECTORS = Path(__file__).parents[1] / "vectors"


class TimedMove(NamedTuple):
    """The seconds that a move took, and the position."""

    seconds: float
    position: Any


def tables() -> Iterator[Table]:
    """Measure and yield the table."""
    table = Table(
        "Opponents: the slowest answers, in seconds of processor time",
        *("game", f"level {LOW} answers", "worst s", "target", f"level {HIGH} answers", "worst s", "target"),
    )
    for game in GAMES.values():
        cells: list[str | float] = []
        places = list(chain(_random_positions(game), _worked_examples(game)))
        for level in (LOW, HIGH):
            answers = [_answer(game, place, level) for place in places[: MAX_PLACES[level]]]
            answers.sort(key=lambda answer: -answer.seconds)
            worst = answers[0].seconds
            cells += [f"{len(answers):,}", worst, verdict(worst, TARGETS[level], at_least=False)]
            places = [answer.position for answer in answers]
        table.add(game.id, *cells)
    yield table


def _answer(game: AnyGame, position: Any, level: int) -> TimedMove:
    start = time.process_time()
    choose(game, position, (), level, seed=1)
    return TimedMove(time.process_time() - start, position)


def _random_positions(game: AnyGame) -> Iterator[Any]:
    """Yield positions of a random game of each setup."""
    for setup in game.setups:
        chance, position = random.Random(setup), game.initial(setup)
        for ply in range(PLIES):
            moves = list(game.legal_moves(position))
            if not moves:
                break
            if ply % SAMPLE_INTERVAL_PLIES == 0:
                yield position
            position = game.play(position, chance.choice(moves))


def _worked_examples(game: AnyGame) -> Iterator[Any]:
    """Yield the positions of the vector files that are not over."""
    for case in json.loads((VECTORS / f"{game.id}.public.json").read_text("utf-8")):
        if "position" in case and "malformed" not in case:
            position = game.parse_position(case["position"])
            if game.outcome(position, ()) is None:
                yield position
