"""A match between two engines: ``python -m tests.tuning.match GAME --a SPEC --b SPEC --games N --nodes N --sprt``.

SPEC is a checkout, whose search plays (``.`` is this one), and constants of its modules that are to have other values:
``.,domain.search.negamax.FULL_DEPTH_MOVES=6`` or ``/tmp/frozen``. Every engine runs in a process of its own.

All games are played in pairs that begin with the same opening and exchange the seats. Among four seats each engine has
two, and its score is its share of all points. An opening is a line of a book, or some random moves after which a short
search finds no seat much better than another. The result is the same with any number of jobs.
"""

import argparse
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from itertools import combinations, islice
from pathlib import Path
from queue import SimpleQueue
from random import Random
from typing import Any, NamedTuple

from domain.game import AnyGame
from domain.games import GAMES
from domain.search import choose
from tests.tuning.duel import Claims
from tests.tuning.elo import estimate, log_likelihood_ratio, verdict

OPENING_PLIES = {"bashni": 8, "towers": 8, "tower-game": 8, "fourplay": 12, "four-towers": 8}
BALANCE_NODES = 300
MAX_IMBALANCE = 120
"""The value, in hundredths of the smallest piece, up to which a random opening is taken."""
MAX_PLIES = 500
"""Plies after which a game is drawn."""
PAIRS_A_REPORT = 2

Seats = tuple[int, ...]


class Played(NamedTuple):
    """One game: the seats of engine a, the scores of all seats, the plies, and the nodes that each engine visited."""

    seats: Seats
    scores: tuple[float, ...]
    plies: int
    nodes: tuple[int, int]

    @property
    def score(self) -> float:
        """The share of engine a in all points."""
        return sum(self.scores[seat] for seat in self.seats) / sum(self.scores)


class Engine:
    """An engine that runs as a child process."""

    def __init__(self, spec: str, game_id: str) -> None:
        checkout, *settings = spec.split(",")
        program = Path(__file__).with_name("engine.py")
        self.visited = 0
        self._child = subprocess.Popen(
            [sys.executable, "-P", str(program), game_id, *settings],
            env={**os.environ, "PYTHONPATH": str(Path(checkout or ".").resolve())},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
        )

    def __enter__(self) -> "Engine":
        return self

    def __exit__(self, *_: object) -> None:
        self._child.kill()
        self._child.communicate()

    def tell(self, line: str) -> None:
        """Send a line that has no answer."""
        assert self._child.stdin is not None
        self._child.stdin.write(f"{line}\n")

    def choose(self, nodes: int, seed: int) -> tuple[int, str]:
        """Return the value and the string of the move that the engine chooses."""
        self.tell(f"go {nodes} {seed}")
        assert self._child.stdout is not None
        reply = self._child.stdout.readline()
        if not reply:
            raise RuntimeError("an engine has ended; its error is above")
        value, visited, move = reply.rstrip("\n").split(" ", 2)
        self.visited += int(visited)
        return int(value), move


def openings(game: AnyGame, setup: str, seed: int) -> Iterator[str]:
    """Yield random openings that a short search finds balanced, without end."""
    number = 0
    while True:
        chance = Random(f"{seed}/{number}")
        number += 1
        position, history = game.initial(setup), list[Any]()
        for _ in range(OPENING_PLIES.get(game.id, 8)):
            if game.outcome(position, history) is None:
                history.append(position)
                position = game.play(position, chance.choice(list(game.legal_moves(position))))
        if game.outcome(position, history) is None:
            choice = choose(game, position, (), 8, 1, BALANCE_NODES)
            if choice.depth > 0 and abs(choice.value) <= MAX_IMBALANCE:
                yield game.format_position(position)


def book(path: Path, seed: int) -> Iterator[str]:
    """Yield the positions of a book, one a line, in a drawn order."""
    lines = path.read_text(encoding="utf-8").splitlines()
    yield from Random(seed).sample(lines, len(lines))


def play(
    game: AnyGame, engines: tuple[Engine, Engine], seats: Seats, start: str, options: argparse.Namespace
) -> Played:
    """Play one game from ``start``, in which the first engine has ``seats``."""
    position, history = game.parse_position(start), list[Any]()
    total = game.seats_at(position)
    before = [engine.visited for engine in engines]
    for engine in engines:
        engine.tell(f"position {start}")
    claims = Claims(options.adjudicate if total == 2 else 0)
    scores = (1 / total,) * total
    while len(history) < MAX_PLIES:
        outcome = game.outcome(position, history)
        if outcome is not None:
            scores = outcome.scores
            break
        seat = game.to_move(position)
        value, text = engines[seat not in seats].choose(options.nodes, len(history))
        for engine in engines:
            engine.tell(f"move {text}")
        history.append(position)
        position = game.play(position, game.parse_move(position, text))
        winner = claims.winner(seat, value)
        if winner is not None:
            scores = (1.0 - winner, float(winner))
            break
    visited = [engine.visited - start for engine, start in zip(engines, before, strict=True)]
    return Played(seats, scores, len(history), (visited[0], visited[1]))


def pairs(game: AnyGame, setup: str, starts: Iterator[str]) -> Iterator[tuple[str, Seats, Seats]]:
    """Yield opening, seats of engine a in the first game and in the second, without end."""
    seats = range(len(game.setups[setup].seat_names))
    divisions = [half for half in combinations(seats, len(seats) // 2) if 0 in half]
    for number, start in enumerate(starts):
        half = divisions[number % len(divisions)]
        yield start, half, tuple(seat for seat in seats if seat not in half)


def report(played: Sequence[Played], options: argparse.Namespace) -> str:
    """Return the result so far in a line."""
    by_pair = [(first.score + second.score) / 2 for first, second in zip(played[::2], played[1::2], strict=True)]
    elo, low, high = estimate(by_pair)
    shares = Counter(round(4 * score) for score in by_pair)
    visited = [sum(game.nodes[engine] for game in played) for engine in (0, 1)]
    line = (
        f"{len(played)} games: a scores {sum(by_pair) / len(by_pair):.3f}, {elo:+.0f} Elo [{low:+.0f}, {high:+.0f}], "
        f"pairs {'/'.join(str(shares[quarter]) for quarter in range(5))}, "
        f"{sum(game.plies for game in played) / len(played):.0f} plies, nodes of a to b {visited[0] / visited[1]:.2f}"
    )
    if options.sprt:
        elo0, elo1 = options.sprt
        line += f", LLR {log_likelihood_ratio(by_pair, elo0, elo1):+.2f}"
        accepted = verdict(by_pair, elo0, elo1)
        line += "" if accepted is None else f": {elo1 if accepted else elo0:+g} Elo accepted"
    return line


def places(played: Sequence[Played]) -> str:
    """Return the distribution of the scores of single seats, by engine."""
    lines = []
    for name, is_own in (("a", True), ("b", False)):
        scores = [score for game in played for seat, score in enumerate(game.scores) if (seat in game.seats) == is_own]
        counts = sorted(Counter(round(score, 2) for score in scores).items(), reverse=True)
        lines.append(f"{name}: " + ", ".join(f"{score:g}: {count / len(scores):.0%}" for score, count in counts))
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> list[Played]:
    """Play a match, print its result and return its games."""
    parser = argparse.ArgumentParser(description="A match between two engines.")
    parser.add_argument("game", choices=GAMES)
    parser.add_argument("--a", required=True, metavar="SPEC", help="the engine whose score is printed")
    parser.add_argument("--b", required=True, metavar="SPEC")
    parser.add_argument("--games", type=int, default=200, help="at most so many")
    parser.add_argument("--nodes", type=int, default=500, help="of each move")
    parser.add_argument("--setup", help="default: the first of the game")
    parser.add_argument("--book", type=Path, help="positions, one a line; default: random openings")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--adjudicate", type=int, default=0, metavar="VALUE", help="a game of two is won at this value")
    parser.add_argument("--sprt", type=float, nargs="*", metavar="ELO", help="test two hypotheses; default: 0 and 15")
    options = parser.parse_args(arguments)
    if options.sprt is not None:
        options.sprt = options.sprt or [0.0, 15.0]
        if len(options.sprt) != 2:
            parser.error("--sprt takes two numbers or none")
    game = GAMES[options.game]
    setup = options.setup or next(iter(game.setups))
    starts = book(options.book, options.seed) if options.book else openings(game, setup, options.seed)
    played: list[Played] = []
    with ExitStack() as stack:
        tables: SimpleQueue[tuple[Engine, Engine]] = SimpleQueue()
        for _ in range(options.jobs):
            first, second = (stack.enter_context(Engine(spec, game.id)) for spec in (options.a, options.b))
            tables.put((first, second))

        def play_pair(pair: tuple[str, Seats, Seats]) -> list[Played]:
            engines = tables.get()
            try:
                return [play(game, engines, seats, pair[0], options) for seats in pair[1:]]
            finally:
                tables.put(engines)

        executor = stack.enter_context(ThreadPoolExecutor(options.jobs))
        schedule = islice(pairs(game, setup, starts), options.games // 2)
        # A round of as many pairs as there are jobs: the verdict counts them in order, whichever ended first.
        while round_of_pairs := list(islice(schedule, options.jobs)):
            for games in executor.map(play_pair, round_of_pairs):
                played += games
            line = report(played, options)
            if (len(played) // 2) % PAIRS_A_REPORT < options.jobs or "accepted" in line:
                print(line, flush=True)
            if "accepted" in line:
                break
    print(report(played, options), places(played), sep="\n")
    return played


if __name__ == "__main__":
    main()
