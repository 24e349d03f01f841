"""Balanced openings, the same for all matches between engines: ``python -m tests.tuning.book GAME [SETUP] [--print]``.

An opening is the first moves of a game, drawn by lot, after which a short search finds no side much better and the
one to move has several moves. It follows from its number, and the engine version tells which ones are balanced. The
file ``book/GAME-SETUP.txt.gz`` has 2,000 lines: the number of an opening and its moves. The command above continues a
file that is shorter, or prints the positions.
"""

import argparse
import gzip
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import count, islice
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from domain.game import AnyGame
from domain.games import GAMES
from domain.history import History
from domain.search.negamax import RootMove, Search

SIZE = 2_000
PLIES = {"bashni": 6, "towers": 8, "tower-game": 8, "fourplay": 12, "four-towers": 8}
"""The moves of an opening; one more in every second one, and so on, so that each seat is to move in as many."""
NODES = 24
"""The node budget of the search that tells whether an opening is balanced."""
MAX_IMBALANCE = {"towers": 200, "fourplay": 400, "four-towers": 130}
"""The largest value of a balanced opening, in hundredths of the smallest piece; 80 in other games."""
MIN_MOVES = 3
MAX_FORCED_PLIES = 7
"""The plies by which an opening is prolonged until the side to move has several moves."""
DIRECTORY = Path(__file__).with_name("book")


class Opening(NamedTuple):
    """The number of an opening, its moves, and the position that they lead to."""

    number: int
    moves: tuple[str, ...]
    position: Any


def search_value(game: AnyGame, position: Any, root_moves: Sequence[RootMove[Any]], nodes: int) -> tuple[Any, int]:
    """Return the move that a search of ``nodes`` chooses, and its value."""
    choice = Search(game, game.to_move(position), game.seats_at(position), (), nodes).best(position, root_moves, 64)
    return choice.move, choice.value


def draw(game: AnyGame, setup: str, number: int) -> Opening | None:
    """Return the opening with a number, None when the game ends before."""
    # Random guarantees the same sequence in later versions of Python only for the fractions.
    fraction = Random(f"{game.id}/{setup}/{number}").random
    position, history = game.initial(setup), History(game)
    texts = []
    plies = PLIES.get(game.id, 8) + number % game.seats_at(position)
    for ply in range(plies + MAX_FORCED_PLIES):
        moves = list(game.legal_moves(position))
        if not moves or game.outcome(position, history) is not None:
            return None
        if ply >= plies and len(moves) >= MIN_MOVES:
            break
        move = moves[int(fraction() * len(moves))]
        texts.append(game.format_move(position, move))
        history = history.with_position(position)
        position = game.play(position, move)
    return Opening(number, tuple(texts), position)


def is_balanced(game: AnyGame, position: Any) -> bool:
    """Return whether a short search finds neither side much better, and the side to move has several moves."""
    moves = game.order(position, game.legal_moves(position))
    if len(moves) < MIN_MOVES or game.outcome(position, ()) is not None:
        return False
    move, value = search_value(game, position, [RootMove(candidate, 0) for candidate in moves], NODES)
    return bool(list(game.legal_moves(game.play(position, move)))) and abs(value) <= MAX_IMBALANCE.get(game.id, 80)


def path_of(game_id: str, setup: str) -> Path:
    """Return the path of the book of a setup."""
    return DIRECTORY / f"{game_id}-{setup}.txt.gz"


@cache
def book(game: AnyGame, setup: str) -> tuple[Opening, ...]:
    """Return the openings of the book of a setup; none when it has no book."""
    path = path_of(game.id, setup)
    if not path.exists():
        return ()
    read = []
    for line in gzip.decompress(path.read_bytes()).decode().splitlines():
        number, *texts = line.split(" ")
        position = game.initial(setup)
        for text in texts:
            position = game.play(position, game.parse_move(position, text))
        read.append(Opening(int(number), tuple(texts), position))
    return tuple(read)


def openings(game: AnyGame, setup: str) -> Iterator[Opening]:
    """Yield the balanced openings of a setup, without end: those of its book, then others as they are found."""
    openings_of_book = book(game, setup)
    yield from openings_of_book
    seen = {game.key(opening.position) for opening in openings_of_book}
    for number in count(openings_of_book[-1].number + 1 if openings_of_book else 0):
        opening = draw(game, setup, number)
        if opening and game.key(opening.position) not in seen and is_balanced(game, opening.position):
            seen.add(game.key(opening.position))
            yield opening


def main(arguments: list[str]) -> None:
    """Make a book, or print its positions."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("game", choices=list(GAMES))
    parser.add_argument("setup", nargs="?")
    parser.add_argument("--print", action="store_true")
    options = parser.parse_args(arguments)
    game = GAMES[options.game]
    setup = options.setup or next(iter(game.setups))
    if options.print:
        for opening in book(game, setup):
            print(game.format_position(opening.position))
        return
    lines: list[str] = []
    # Written now and then: a book takes minutes, and goes on where it was.
    for opening in islice(openings(game, setup), SIZE):
        lines.append(" ".join([str(opening.number), *opening.moves]) + "\n")
        if len(lines) % 50 == 0 and len(lines) > len(book(game, setup)):
            path_of(game.id, setup).parent.mkdir(exist_ok=True)
            path_of(game.id, setup).write_bytes(gzip.compress("".join(lines).encode(), mtime=0))


if __name__ == "__main__":
    main(sys.argv[1:])
