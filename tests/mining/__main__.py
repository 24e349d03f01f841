"""Mine puzzles: ``python -m tests.mining --seconds 600 [--only bashni]``, for all games in turn.

Level 5, with fewer nodes, plays against itself, and beside each of its moves two others, drawn by lot, are tried. Where
a short search then finds far more than what stands on the board, and few moves bring it, the nodes of level 8 look
again, and then ten times as many. Each game has its own seed and is one line of ``var/mining/GAME.tsv``: what it
yielded, then its puzzles. A run that has been stopped goes on where it was.

``--write`` writes the puzzles of all games played so far to ``api/pages/learning/puzzles/GAME.tsv``, each with the
number of trials in which the opponents of each level solve them, and prints the table of yields. ``--confirm FACTOR``
searches the positions written again with that many times the nodes, until ``--most`` of a game are confirmed, and drops
those that fail: ``--confirm 100 --most 10`` is the check of ten puzzles a game.
"""

import argparse
import gzip
import sys
import time
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from api.operations.puzzles import FOLDER
from deploy.local.environment import ROOT
from domain.game import AnyGame
from domain.games import GAMES
from domain.history import History
from domain.puzzles.lines import (
    MIN_VALUE,
    Solution,
    best_of,
    choices_at,
    confirm,
    count_solved,
    divisor_at,
    may_be_puzzle,
    obvious_move,
    solve,
)
from domain.search import choose
from tests.tuning.book import path_of
from tests.tuning.strength import in_compiled_code

SETUPS = {"towers": "two-player"}
"""The setups that are mined, where it is not the first of a game."""
QUICK = ("bashni", "towers")
"""The games in which the nodes of level 8 take a fraction of a second. In the others an obvious move is not solved."""
FIRST_FACTOR = 10
"""Puzzles are kept if searches with this many times the nodes of level 8 confirm them."""
PLAYING_LEVEL = 5
CARELESS_MOVES = 2
"""Moves drawn by lot that are tried beside each move of a game: most of them are mistakes."""
PLAYING_NODES = 500
FIRST_NODES = 400
SECOND_NODES = 3_000
"""The nodes of the first two looks at a position."""
MIN_SWING = 200
MAX_PLIES = 120

MINED = ROOT / "var" / "mining"


def setup_of(game: AnyGame) -> str:
    """Return the setup that is mined."""
    return SETUPS.get(game.id, next(iter(game.setups)))


@cache
def openings(game: AnyGame) -> list[str]:
    """Return the lines of the book of a game: a number, and moves."""
    return gzip.decompress(path_of(game.id, setup_of(game)).read_bytes()).decode().splitlines()


def opening(game: AnyGame, number: int) -> Any:
    """Return the position after an opening of the book."""
    position = game.initial(setup_of(game))
    for text in openings(game)[number % len(openings(game))].split(" ")[1:]:
        position = game.play(position, game.parse_move(position, text))
    return position


def candidates(game: AnyGame, number: int, yielded: Counter[str]) -> Iterator[str]:
    """Yield the positions beside one game in which an answer to a careless move stands out."""
    chance = Random(f"{game.id}/mine/{number}")
    position, history = opening(game, number), History(game)
    for _ in range(MAX_PLIES):
        if game.outcome(position, history) is not None:
            return
        moves = list(game.legal_moves(position))
        for move in chance.sample(moves, min(CARELESS_MOVES, len(moves))):
            after = game.play(position, move)
            yielded["positions"] += 1
            if game.outcome(after, ()) is None and is_candidate(game, after, yielded):
                yield game.format_position(after)
        move = choose(game, position, history, PLAYING_LEVEL, chance.getrandbits(40), PLAYING_NODES).move
        history = history.with_position(position)
        position = game.play(position, move)


def is_candidate(game: AnyGame, position: Any, yielded: Counter[str]) -> bool:
    """Return whether a short search finds far more than stands on the board, and few moves that bring it."""
    if not may_be_puzzle(game, position):
        return False
    standing, best = game.evaluate(position, game.to_move(position)), best_of(game, position, (), FIRST_NODES)
    divisor = divisor_at(game, position)
    if best[1] < max(MIN_VALUE // divisor, standing + MIN_SWING // divisor):
        return False
    yielded["mistakes"] += 1
    if choices_at(game, position, (), FIRST_NODES, best) is None:
        return False
    second = choices_at(game, position, (), SECOND_NODES)
    return second is not None and (game.id in QUICK or obvious_move(game, position) not in second.moves)


def play(game: AnyGame, number: int) -> tuple[Counter[str], list[Solution]]:
    """Return the yields of one game, and its puzzles."""
    yielded: Counter[str] = Counter()
    puzzles, lines = [], set[tuple[str, ...]]()
    for text in candidates(game, number, yielded):
        yielded["candidates"] += 1
        puzzle = solve(game, text, 1)
        if puzzle is None or puzzle.line in lines:
            continue  # nothing stands out, or the same does as two plies before
        lines.add(puzzle.line)
        yielded["solved"] += 1
        confirmed = confirm(game, puzzle, FIRST_FACTOR)
        if confirmed:
            puzzles.append(confirmed)
    return yielded, puzzles


COUNTED = ("positions", "mistakes", "candidates", "solved")


def line_of(puzzle: Solution) -> str:
    """Return a puzzle as a field of a table."""
    return "\t".join(
        (puzzle.position, " ".join(puzzle.line), " ".join(puzzle.alternatives), f"{puzzle.choices} {puzzle.factor}")
    )


def puzzle_of(fields: list[str]) -> Solution:
    """Return the puzzle of the fields of a line."""
    position, line, alternatives, numbers = fields
    choices, factor = map(int, numbers.split())
    return Solution(position, tuple(line.split()), tuple(alternatives.split()), choices, factor)


def mine(games: list[AnyGame], seconds: float, most: int) -> None:
    """Play and mine for ``seconds``, always the game with the least time so far, and append each game to its file.

    A game with ``most`` puzzles is done.
    """
    MINED.mkdir(parents=True, exist_ok=True)
    end, spent = time.monotonic() + seconds, dict.fromkeys(games, 0.0)
    while time.monotonic() < end:
        missing = [game for game in games if len(mined(game)[1]) < most]
        if not missing:
            return
        game = min(missing, key=spent.__getitem__)
        path = MINED / f"{game.id}.tsv"
        number = len(path.read_text().splitlines()) if path.exists() else 0
        begun = time.process_time()
        yielded, puzzles = play(game, number)
        spent[game] += time.process_time() - begun
        numbers = " ".join(str(yielded[name]) for name in COUNTED)
        with path.open("a") as file:
            file.write("\t".join([numbers, *map(line_of, puzzles)]) + "\n")


def mined(game: AnyGame) -> tuple[Counter[str], dict[str, Solution]]:
    """Return the sums of the yields of a game, and its puzzles by position."""
    total: Counter[str] = Counter()
    puzzles: dict[str, Solution] = {}
    path = MINED / f"{game.id}.tsv"
    for line in path.read_text().splitlines() if path.exists() else ():
        numbers, *fields = line.split("\t")
        total["games"] += 1
        total.update(dict(zip(COUNTED, map(int, numbers.split()), strict=True)))
        for place in range(0, len(fields), 4):
            puzzle = puzzle_of(fields[place : place + 4])
            puzzles.setdefault(str(game.key_of_text(puzzle.position)), puzzle)
    return total, puzzles


def written(game: AnyGame) -> dict[str, tuple[Solution, str]]:
    """Return the puzzles in the product, by position, each with the trials solved by level."""
    path = FOLDER / f"{game.id}.tsv"
    rows = [line.split("\t") for line in path.read_text().splitlines()] if path.exists() else []
    return {fields[0]: (puzzle_of(fields), solved) for *fields, solved in rows}


def trials_of(game: AnyGame, puzzle: Solution) -> str:
    """Return the number of trials in which each level solves a puzzle, as a field of a table."""
    return " ".join(map(str, count_solved(game, puzzle)))


def failed(game: AnyGame) -> Path:
    """Return the file of the positions that were written once, and not confirmed since."""
    return MINED / f"{game.id}.failed"


def write(game: AnyGame) -> None:
    """Write the puzzles of all games to the product, those there first, and print the yield."""
    total, puzzles = mined(game)
    rows = written(game)
    refuted = failed(game).read_text().splitlines() if failed(game).exists() else []
    for puzzle in puzzles.values():
        if puzzle.position not in rows and puzzle.position not in refuted:
            rows[puzzle.position] = (puzzle, trials_of(game, puzzle))
    save(game, rows)
    counts = " | ".join(str(total[name]) for name in ("games", *COUNTED))
    print(f"| {game.title} | {setup_of(game)} | {counts} | {len(puzzles)} |")


def save(game: AnyGame, rows: dict[str, tuple[Solution, str]]) -> None:
    """Write the puzzles of a game to the product."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    text = "".join(f"{line_of(puzzle)}\t{solved}\n" for puzzle, solved in rows.values())
    (FOLDER / f"{game.id}.tsv").write_text(text)


def confirm_written(game: AnyGame, factor: int, most: int, seconds: float) -> None:
    """Search the positions of a game again, and drop those that fail; stop with ``most`` or after ``seconds``."""
    end, rows = time.monotonic() + seconds, written(game)
    confirmed = sum(puzzle.factor >= factor for puzzle, _ in rows.values())
    dropped = 0
    for position, (puzzle, solved) in list(rows.items()):
        if confirmed >= most or time.monotonic() > end:
            break
        if puzzle.factor >= factor:
            continue
        deep = confirm(game, puzzle, factor)
        if deep is None:
            del rows[position]
            dropped += 1
            with failed(game).open("a") as file:
                file.write(f"{position}\n")
        else:
            rows[position] = (deep, solved if deep.line == puzzle.line else trials_of(game, deep))
            confirmed += 1
        save(game, rows)
    print(f"| {game.title} | {factor} | {confirmed} | {dropped} |")


def main(arguments: list[str]) -> None:
    """Mine puzzles, write those mined, or confirm those written."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=list(GAMES), action="append")
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--most", type=int, default=100, help="puzzles of a game")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--confirm", type=int, metavar="FACTOR")
    options = parser.parse_args(arguments)
    games: list[AnyGame] = [GAMES[game_id] for game_id in options.only or GAMES]
    if options.write:
        print("| game | setup | games | positions | mistakes | candidates | solved | confirmed |")
        print("|---|---|---|---|---|---|---|---|")
        for game in games:
            write(game)
    elif options.confirm:
        print("| game | factor | confirmed | dropped |\n|---|---|---|---|")
        for game in games:
            confirm_written(game, options.confirm, options.most, options.seconds)
    else:
        mine(games, options.seconds, options.most)


if __name__ == "__main__":
    in_compiled_code(sys.argv[1:], "tests.mining")
    main(sys.argv[1:])
