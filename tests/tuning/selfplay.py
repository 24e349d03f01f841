"""Games of the opponents against themselves: the positions that weights and expectations are fitted to.

A game begins with random moves. Every game has its own seed and is one line of a file, so that a run that has been
stopped goes on where it was: the scores of the seats, then the quiet positions of the game, each with its value.
"""

from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import NamedTuple

from domain.game import AnyGame
from domain.games import GAMES
from domain.history import History
from domain.search.negamax import RootMove, Search
from tests.tuning.duel import in_processes

OPENING_PLIES = range(4, 13)
NOISE = 40
"""The largest noise on the value of a move, in hundredths of the smallest piece: games must differ."""
MAX_PLIES = 1_000
MAX_POSITIONS = 24
"""Quiet positions of one game that are kept, evenly spread over it."""


class Quiet(NamedTuple):
    """A position whose best move is no capture or the like, and its value for the seat to move by the search."""

    value: int
    position: str


class Sample(NamedTuple):
    """The scores of the seats at the end of a game, and quiet positions that it went through."""

    scores: tuple[float, ...]
    positions: tuple[Quiet, ...]


class Task(NamedTuple):
    """A game between equals that visit ``nodes`` for every move."""

    game: str
    setup: str
    nodes: int
    number: int


def play(task: Task) -> Sample:
    """Play a game and return its sample, without positions when it has no end after ``MAX_PLIES``: it tells nothing."""
    game, setup, nodes = GAMES[task.game], task.setup, task.nodes
    chance = Random("/".join(map(str, task)))
    position, history = game.initial(setup), History(game)
    opening = chance.choice(OPENING_PLIES)
    quiet: list[Quiet] = []
    for ply in range(MAX_PLIES):
        outcome = game.outcome(position, history)
        if outcome is not None:
            step = max(1, -(-len(quiet) // MAX_POSITIONS))
            return Sample(outcome.scores, tuple(quiet[chance.randrange(step) :: step]))
        moves = game.order(position, game.legal_moves(position))
        if ply < opening:
            move = chance.choice(moves)
        else:
            search = Search(game, game.to_move(position), game.seats_at(position), history, nodes)
            root_moves = [RootMove(candidate, chance.randrange(NOISE + 1)) for candidate in moves]
            choice = search.best(position, root_moves, 64)
            move = choice.move
            if not game.is_forced(position) and move not in list(game.noisy_moves(position)):
                quiet.append(Quiet(choice.value, game.format_position(position)))
        history = history.with_position(position)
        position = game.play(position, move)
    return Sample((1 / game.seats_at(position),) * game.seats_at(position), ())


def read(path: Path) -> Iterator[Sample]:
    """Yield the games of a file."""
    if path.exists():
        for line in path.read_text().splitlines():
            scores, *positions = line.split("\t")
            quiet = (position.split(" ", 1) for position in positions)
            yield Sample(tuple(map(float, scores.split())), tuple(Quiet(int(value), text) for value, text in quiet))


def add(path: Path, sample: Sample) -> None:
    """Append a game to a file."""
    with path.open("a") as file:
        quiet = (f"{value} {position}" for value, position in sample.positions)
        file.write("\t".join([" ".join(map(repr, sample.scores)), *quiet]) + "\n")


def games(game: AnyGame, setup: str, path: Path, number: int, nodes: int, jobs: int) -> list[Sample]:
    """Return the first ``number`` games of a file, those that it lacks played now, ``jobs`` at a time."""
    path.parent.mkdir(parents=True, exist_ok=True)
    played = list(read(path))
    missing = [Task(game.id, setup, nodes, index) for index in range(len(played), number)]
    for sample in in_processes(play, missing, jobs):
        played.append(sample)
        add(path, sample)
    return played[:number]
