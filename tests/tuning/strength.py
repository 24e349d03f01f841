"""The strength of the levels: ``make strength`` plays every level against the one below and prints a table.

Games come in pairs that begin with the same opening of the book and exchange the seats. Every result is appended to a
file at once, and a run goes on where the last one has stopped, as long as engine version and levels are the same. It
plays in compiled code when there is a build (``make compile``).
"""

import argparse
import gc
import os
import sys
from collections import defaultdict
from itertools import islice, pairwise
from pathlib import Path
from typing import NamedTuple

from deploy.local.compiled import find_build
from deploy.local.environment import ROOT
from domain.build import COMPILED
from domain.games import GAMES
from domain.search import ENGINE_VERSION, LEVELS, strength_of
from tests.tuning.book import Opening, openings
from tests.tuning.duel import in_processes, level_player, play_game
from tests.tuning.elo import estimate

RESULTS = ROOT / "tests" / "tuning" / "strength.tsv"
"""The scores of all pairs played so far, so that runs on any machine add to the same table."""


class Task(NamedTuple):
    """A pair of games: game, setup, levels, opening, the divisor of the node budgets, and the lead that ends a game."""

    game: str
    setup: str
    higher: int
    lower: int
    opening: Opening
    divisor: int
    lead: int

    @property
    def rules(self) -> str:
        """The setup, the lead at which a game of it ends early, and the share of the node budgets that is searched."""
        lead = f", lead {self.lead}" if self.lead else ""
        share = f", budgets / {self.divisor}" if self.divisor > 1 else ""
        return self.setup + lead + share

    def key(self) -> str:
        """Return all that the result depends on, as the beginning of a line of the file of results."""
        levels = " ".join(map(self._described, (self.higher, self.lower)))
        return f"{ENGINE_VERSION}\t{self.game}\t{self.rules}\t{levels}\t{self.opening.number}"

    def _described(self, level: int) -> str:
        strength = strength_of(self.game, level)
        return f"{level}:{'/'.join(map(str, strength._replace(nodes=strength.nodes // self.divisor)))}"


def result_of(game: tuple[Task, bool]) -> float:
    """Return the score of the higher level in one of the two games of a task."""
    # A search leaves no reference cycles: looking for them takes an eighth of its time.
    gc.disable()
    task, exchanged = game
    players = level_player(task.higher, task.divisor), level_player(task.lower, task.divisor)
    return play_game(GAMES[task.game], task.opening, *players, task.lead, exchanged)


def results(path: Path) -> dict[str, float]:
    """Return the scores of a file of results by the keys of their tasks."""
    lines = path.read_text().splitlines() if path.exists() else []
    return {key: float(score) for key, _, score in (line.rpartition("\t") for line in lines)}


def tasks(games: list[str], levels: list[int], pairs: int, divisor: int, lead: int) -> list[Task]:
    """Return the tasks of a run: so many pairs of games for neighbours of ``levels`` in each game."""
    planned = []
    for name in games:
        game_id, _, setup = name.partition("/")
        setup = setup or next(iter(GAMES[game_id].setups))
        for opening in islice(openings(GAMES[game_id], setup), pairs):
            planned += [
                Task(game_id, setup, higher, lower, opening, divisor, lead) for lower, higher in pairwise(levels)
            ]
    return planned


def table(planned: list[Task], scores: dict[str, float]) -> str:
    """Return the results of ``planned`` as a table in Markdown."""
    rows: dict[tuple[str, str, int, int], list[float]] = defaultdict(list)
    for task in planned:
        if task.key() in scores:
            rows[task.game, task.rules, task.higher, task.lower].append(scores[task.key()])
    lines = ["| Game | Setup | Levels | Games | Score | Elo | 95 % |", "|---|---|---|---|---|---|---|"]
    for (game, rules, higher, lower), pairs in sorted(rows.items()):
        elo, low, high = estimate(pairs)
        share = sum(pairs) / len(pairs)
        lines.append(
            f"| {GAMES[game].title} | {rules} | {higher} to {lower} | {2 * len(pairs)} "
            f"| {100 * share:.0f} % | {elo:+.0f} | {low:+.0f} to {high:+.0f} |"
        )
    return "\n".join(lines)


def in_compiled_code(arguments: list[str], program: str = "tests.tuning.strength") -> None:
    """Start a program again with the compiled build of the present sources, if there is one (``make compile``)."""
    if COMPILED:
        return
    build = find_build()
    if build is None:
        print("Playing in plain Python: these sources are not compiled (make compile).", file=sys.stderr)
    else:
        path = f"{build}{os.pathsep}{ROOT}"
        environment = {**os.environ, "PYTHONPATH": path, "PYTHONSAFEPATH": "1"}
        os.execve(sys.executable, [sys.executable, "-m", program, *arguments], environment)  # noqa: S606


def main(arguments: list[str]) -> None:
    """Play what is missing and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", nargs="+", default=list(GAMES), help="ids, each alone or as GAME/SETUP")
    parser.add_argument("--levels", nargs="+", type=int, default=list(LEVELS), help="each against the one before")
    parser.add_argument("--pairs", type=int, default=30, help="of games, for every two levels")
    parser.add_argument(
        "--divisor", type=int, default=1, help="of all node budgets, to try the levels that think for long"
    )
    parser.add_argument(
        "--adjudicate", type=int, default=0, metavar="LEAD", help="end a game of two when both agree on this lead"
    )
    parser.add_argument("--jobs", type=int, default=1, help="games played at a time")
    parser.add_argument("--results", type=Path, default=RESULTS)
    options = parser.parse_args(arguments)
    options.results.parent.mkdir(parents=True, exist_ok=True)
    planned = tasks(options.games, options.levels, options.pairs, options.divisor, options.adjudicate)
    scores = results(options.results)
    missing = [task for task in planned if task.key() not in scores]
    played = in_processes(
        result_of, [(task, exchanged) for task in missing for exchanged in (False, True)], options.jobs
    )
    with options.results.open("a") as file:
        for task in missing:
            score = (next(played) + next(played)) / 2
            file.write(f"{task.key()}\t{score!r}\n")
            file.flush()
            scores[task.key()] = score
    print(table(planned, scores))


if __name__ == "__main__":
    in_compiled_code(sys.argv[1:])
    main(sys.argv[1:])
