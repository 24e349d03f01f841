"""Positions by chance, a maker for each thing that may go wrong; some are to be refused, which is a case as well."""

import random
from collections.abc import Callable

from tests.support.slow_tower_game.board import CUBES, ORDER_OF_RIGHTS, Board, Cube, State, cube_of, forward
from tests.support.slow_tower_game.moves import CORNERS
from tests.support.slow_tower_game.writing import write

Maker = Callable[[random.Random], str]

PIECES = "RBMNCJF"
CLOCKS = (0, 0, 0, 1, 7, 50, 98, 99, 100)
DIRECTIONS = [(x, y, z) for x in (-1, 0, 1) for y in (-1, 0, 1) for z in (-1, 0, 1) if (x, y, z) != (0, 0, 0)]


def cased(letter: str, white: bool) -> str:
    return letter.upper() if white else letter.lower()


def strew(rng: random.Random, board: Board, letters: str, number: int) -> None:
    """Put ``number`` men by chance on empty cubes, Pawns on ranks 2 to 7 only, and the Kings if they are missing."""
    free = [cube for cube in CUBES if cube not in board]
    rng.shuffle(free)
    for royal in "Kk":
        if royal not in board.values():
            board[free.pop()] = royal
    for cube in free[:number]:
        kind = rng.choice(letters)
        if kind != "P" or 1 < cube[2] < 8:
            board[cube] = cased(kind, rng.random() < 0.5)


def finished(rng: random.Random, board: Board, white: bool | None = None, passed: Cube | None = None) -> str:
    """Return the string of a position, with some of the castling rights that it may have."""
    rights = tuple(
        right
        for right in ORDER_OF_RIGHTS
        if board.get(cube_of(right)) == cased("R", right[2] == "1")
        and board.get(cube_of("cc" + right[2])) == cased("K", right[2] == "1")
        and rng.random() < 0.8
    )
    white = rng.random() < 0.5 if white is None else white
    return write(State(board, white, rights, passed, 0 if passed else rng.choice(CLOCKS)))


def crowded(rng: random.Random) -> str:
    board: Board = {}
    strew(rng, board, PIECES + "PPPPP", rng.randrange(40, 120))
    return finished(rng, board)


def sparse(rng: random.Random) -> str:
    board: Board = {}
    strew(rng, board, PIECES + "PP", rng.randrange(12))
    return finished(rng, board)


def bare(rng: random.Random) -> str:
    """Kings with nothing or next to nothing: what is too little to go on, and what is just enough."""
    board: Board = {}
    strew(rng, board, PIECES + "P", rng.choice((0, 1, 1, 2)))
    return finished(rng, board)


def castling(rng: random.Random) -> str:
    board: Board = {}
    for rank, white in (("1", True), ("8", False)):
        board[cube_of("cc" + rank)] = cased("K", white)
        for corner, passed in CORNERS.items():
            if rng.random() < 0.9:
                board[cube_of(corner + rank)] = cased("R", white if rng.random() < 0.95 else not white)
            if rng.random() < 0.1:
                board[cube_of(passed + rank)] = cased(rng.choice(PIECES), rng.random() < 0.5)
    strew(rng, board, PIECES + "PP", rng.randrange(14))
    return finished(rng, board)


def en_passant(rng: random.Random) -> str:
    """A Pawn that has just made a double step beside others, with their King and enemy riders near."""
    white = rng.random() < 0.5
    x, y = rng.randrange(5), rng.randrange(5)
    landed, ahead = (5 if white else 4), forward(white)
    behind, passed = (x, y, landed + 2 * ahead), (x, y, landed + ahead)
    board: Board = {(x, y, landed): cased("P", not white)}
    for column in range(x - 1, x + 2):
        for row in range(y - 1, y + 2):
            if (column, row, landed) in CUBES and rng.random() < 0.4:
                board.setdefault((column, row, landed), cased("P", white if rng.random() < 0.9 else not white))
    held = rng.choice([cube for cube in CUBES if cube[2] == landed or cube[:2] == (x, y)])
    if held not in board and held not in (passed, behind):
        board[held] = cased("K", white)
    kept = [cube for cube in (passed, behind) if rng.random() < 0.97]
    board.update(dict.fromkeys(kept, "."))
    strew(rng, board, rng.choice(("RRBBMMP", PIECES + "P")), rng.randrange(12))
    for cube in kept:
        del board[cube]
    return finished(rng, board, white, passed if rng.random() < 0.9 else None)


def promoting(rng: random.Random) -> str:
    """Pawns one step from their last rank and from their first, some of them with something to capture there."""
    board: Board = {}
    for z in (2, 7):
        for x in range(5):
            for y in range(5):
                if rng.random() < 0.3:
                    board[x, y, z] = cased("P", rng.random() < 0.5)
    strew(rng, board, PIECES, rng.randrange(25))
    return finished(rng, board)


def cornered(rng: random.Random) -> str:
    """A King at the edge with the other near it: checkmates and stalemates are among these."""
    white = rng.random() < 0.5
    edge = [cube for cube in CUBES if sum((cube[0] % 4 == 0, cube[1] % 4 == 0, cube[2] in (1, 8))) >= 2]
    x, y, z = rng.choice(edge)
    near = [cube for cube in CUBES if max(abs(cube[0] - x), abs(cube[1] - y), abs(cube[2] - z)) == 2]
    board = {(x, y, z): cased("K", white), rng.choice(near): cased("K", not white)}
    for cube in rng.sample(CUBES, rng.randrange(3, 12)):
        kind = rng.choice(PIECES + "FFP")
        if cube not in board and (kind != "P" or 1 < cube[2] < 8):
            board[cube] = cased(kind, not white if rng.random() < 0.85 else white)
    return finished(rng, board, white)


def lines_to_the_king(rng: random.Random) -> str:
    """A King on lines of enemy riders in several directions: checks, double checks, and men pinned between."""
    white = rng.random() < 0.5
    x, y, z = rng.choice(CUBES)
    board = {(x, y, z): cased("K", white)}
    for dx, dy, dz in rng.sample(DIRECTIONS, rng.randrange(1, 6)):
        line = [(x + dx * n, y + dy * n, z + dz * n) for n in range(1, 8)]
        line = [cube for cube in line if cube in CUBES and cube not in board]
        if len(line) < 2:
            continue
        first, last = sorted(rng.sample(range(len(line)), 2))
        rider = "RBM"[abs(dx) + abs(dy) + abs(dz) - 1]
        board[line[last]] = cased(rider if rng.random() < 0.9 else "F", not white)
        if rng.random() < 0.7:
            kind = rng.choice("RBMNCJFPPP" if 1 < line[first][2] < 8 else PIECES)
            board[line[first]] = cased(kind, white if rng.random() < 0.8 else not white)
    strew(rng, board, PIECES + "P", rng.randrange(8))
    return finished(rng, board, white)


def alike(rng: random.Random) -> str:
    """Many men of one kind, for the prefixes of short algebraic notation."""
    board: Board = {}
    strew(rng, board, rng.choice(PIECES), rng.randrange(6, 26))
    strew(rng, board, PIECES + "P", rng.randrange(4))
    return finished(rng, board)


MAKERS: list[Maker] = [
    crowded,
    sparse,
    bare,
    castling,
    en_passant,
    promoting,
    cornered,
    lines_to_the_king,
    alike,
]


def spoilt(rng: random.Random, text: str, alphabet: str) -> str:
    """Return ``text`` with a sign or a field or two changed, left out, doubled or exchanged."""
    for _ in range(rng.choice((1, 1, 2))):
        at, other = rng.randrange(len(text) + 1), rng.randrange(len(text) + 1)
        match rng.randrange(5):
            case 0:
                text = text[:at] + rng.choice(alphabet) + text[at:]
            case 1:
                text = text[:at] + text[at + 1 :]
            case 2:
                text = text[:at] + rng.choice(alphabet) + text[at + 1 :]
            case 3:
                text = text[: min(at, other)] + text[max(at, other) :]
            case _:
                text = text[:at] + text[min(at, other) : max(at, other)] + text[at:]
    return text
