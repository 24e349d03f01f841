"""Tune the evaluation of a game: ``python -m tests.tuning GAME --games 400 --nodes 80 --pairs 400``.

It plays games between equals, fits the weights to their results, and lets the fitted weights play those of the product
at equal nodes until a sequential test accepts one of two hypotheses: they are equal, or the new ones are ``--elo``
better. ``--write`` writes the weights to the product when the test does not reject them. ``--curve`` only fits the
curve of expected points, ``--noise`` only measures how uncertain they are. The games are kept in ``var/tuning``, and
used again. It plays in compiled code when there is a build (``make compile``).
"""

import argparse
import ast
import sys
from functools import cache
from importlib import import_module
from itertools import islice
from pathlib import Path
from statistics import quantiles

from domain.game import AnyGame
from domain.games import GAMES
from domain.review.findings import analyse_position
from domain.search.expectation import CURVES, POINT
from tests.tuning.book import Opening, openings
from tests.tuning.duel import budget_player, in_processes, play_pair
from tests.tuning.elo import estimate, log_likelihood_ratio, verdict
from tests.tuning.fit import counts, fit, fit_curve
from tests.tuning.selfplay import Sample, games
from tests.tuning.strength import in_compiled_code
from tests.tuning.variants import Weights, game_with, package_of, weights_of

ANCHORS = {"bashni": "MAN", "towers": "TOWER.1", "tower-game": "PAWN", "four-towers": "PAWN"}
"""The weight that defines the unit of a game: it keeps its value. A game without one is not linear in its weights."""
FIXED = ("FADING_PLIES", "FADING_PUSHES")
"""Weights that are no factors of a sum."""
NODES = (6_000, 24_000)
"""Of the two searches whose values are compared."""


def rounded(values: dict[str, float], errors: dict[str, float], prior: Weights) -> Weights:
    """Return the weights as integers, printing each with its error beside the former one."""
    weights = {name: round(value) for name, value in values.items()}
    for name, value in weights.items():
        print(f"{name:22} {prior[name]:6} -> {value:6} ± {2 * errors[name]:.0f}")
    return weights


def trial(task: tuple[str, Weights, int, Opening]) -> float:
    """Return the score of changed weights against those of the product in a pair of games."""
    game_id, weights, nodes, opening = task
    players = budget_player(_game(game_id, *weights.items()), nodes), budget_player(_game(game_id), nodes)
    return play_pair(GAMES[game_id], opening, *players)


@cache
def _game(game_id: str, *weights: tuple[str, int]) -> AnyGame:
    return game_with(game_id, dict(weights))


def written(source: str, weights: Weights) -> str:
    """Return the source of a module of weights with other numbers."""
    lines = source.splitlines()
    for statement in ast.parse(source).body:
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            name, value = statement.target.id, ast.literal_eval(statement.value)
            if isinstance(value, tuple):
                value = tuple(weights.get(f"{name}.{index}", entry) for index, entry in enumerate(value))
            lines[statement.lineno - 1] = f"{name}: Final = {weights.get(name, value)}"
    return "\n".join(lines) + "\n"


def main(arguments: list[str]) -> None:
    """Play, fit, test, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("game", choices=list(GAMES))
    parser.add_argument("--setup", help="default: the first of the game")
    parser.add_argument("--games", type=int, default=400)
    parser.add_argument("--nodes", type=int, default=80, help="of each move")
    parser.add_argument("--pairs", type=int, default=400, help="of games in the sequential test, at most")
    parser.add_argument("--elo", type=float, default=25.0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--curve", action="store_true")
    parser.add_argument("--noise", action="store_true")
    options = parser.parse_args(arguments)
    game = GAMES[options.game]
    setup = options.setup or next(iter(game.setups))
    samples = games(game, setup, Path(f"var/tuning/{game.id}-{setup}.tsv"), options.games, options.nodes, options.jobs)
    if options.curve:
        print(fit_curve(game, samples, CURVES[game.id, len(samples[0].scores)].by_places))
    if options.noise:
        print(noise(game, samples, options.jobs))
    if options.curve or options.noise:
        return
    if game.id not in ANCHORS:
        parser.error(f"the evaluation of {game.title} is no sum of features: its weights cannot be fitted")
    prior = weights_of(game.id)
    names, rows = counts(game, samples, FIXED)
    regression = fit(names, rows, prior, ANCHORS[game.id])
    weights = rounded(regression.weights, regression.errors, prior)
    if prove(game, setup, weights, options) and options.write:
        path = Path(import_module(f"{package_of(game.id)}.weights").__file__)
        path.write_text(written(path.read_text(), weights))


def noise(game: AnyGame, samples: list[Sample], jobs: int) -> int:
    """Return the standard deviation of expected points, in ten-thousandths, by the ``NODES`` that are searched.

    It is the change that 68 % of the positions do not exceed, for a few change far more than all others.
    """
    tasks = [(game.id, sample.positions[len(sample.positions) // 3].position) for sample in samples if sample.positions]
    changes = [change for change in in_processes(change_of, tasks, jobs) if change is not None]
    return round(quantiles(changes, n=100)[67])


def change_of(task: tuple[str, str]) -> int | None:
    """Return how much the expected points of the seat to move change when a position is searched with more nodes.

    None when it is decided: then nothing changes, however uncertain the evaluation is.
    """
    game_id, text = task
    game = GAMES[game_id]
    position = game.parse_position(text)
    few, many = (analyse_position(game, position, (), nodes)[0][game.to_move(position)] for nodes in NODES)
    return abs(many - few) if POINT // 10 <= few <= POINT - POINT // 10 else None


def prove(game: AnyGame, setup: str, weights: Weights, options: argparse.Namespace) -> bool:
    """Return whether the sequential test does not reject ``weights``, printing how it goes."""
    starts = islice(openings(game, setup), options.pairs)
    tasks = ((game.id, weights, options.nodes, opening) for opening in starts)
    scores: list[float] = []
    for score in in_processes(trial, tasks, options.jobs):
        scores.append(score)
        accepted = verdict(scores, 0.0, options.elo)
        if accepted is not None or len(scores) % 10 == 0 or len(scores) == options.pairs:
            elo, low, high = estimate(scores)
            ratio = log_likelihood_ratio(scores, 0.0, options.elo)
            print(f"{2 * len(scores)} games: {elo:+.0f} Elo [{low:+.0f}, {high:+.0f}], LLR {ratio:+.2f}", flush=True)
        if accepted is not None:
            return accepted
    return sum(scores) > len(scores) / 2


if __name__ == "__main__":
    in_compiled_code(sys.argv[1:], "tests.tuning")
    main(sys.argv[1:])
