"""Positions by chance, a maker for each thing that may go wrong; some are to be refused, which is a case as well."""

import random
from collections.abc import Callable

from tests.support.slow_tower_game.board import CUBES, ORDER_OF_RIGHTS, Board, Cube, State, captures, cube_of, forward
from tests.support.slow_tower_game.moves import CORNERS
from tests.support.slow_tower_game.writing import write

Maker = Callable[[random.Random], str]

PIECES = "RBMNCJF"
CLOCKS = (0, 0, 0, 0, 0, 1, 1, 7, 50, 98, 98, 99, 99, 100, 100, 101)
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


def finished(rng: random.Random, board: Board, white: bool | None = None, en_passant: Cube | None = None) -> str:
    """Return the string of a position, with some of the castling rights that it may have."""
    castling_rights = tuple(
        right
        for right in ORDER_OF_RIGHTS
        if board.get(cube_of(right)) == cased("R", right[2] == "1")
        and board.get(cube_of("cc" + right[2])) == cased("K", right[2] == "1")
        and rng.random() < 0.8
    )
    white = rng.random() < 0.5 if white is None else white
    return write(State(board, white, castling_rights, en_passant, 0 if en_passant else rng.choice(CLOCKS)))


def rider_along(direction: Cube) -> str:
    return "RBM"[sum(map(abs, direction)) - 1]


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
    """Kings at home and Rooks in the corners, passed cubes held or attacked, and Pawns that may promote in a corner."""
    board: Board = {}
    for rank, white in (("1", True), ("8", False)):
        board[cube_of("cc" + rank)] = cased("K", white)
        if rng.random() < 0.1:
            board[cube_of("ed" + ("2" if white else "7"))] = cased("C", not white)  # check, and no corner attacked
        for corner, crossed in CORNERS.items():
            if rng.random() < 0.9:
                board[cube_of(corner + rank)] = cased("R", white if rng.random() < 0.95 else not white)
            if rng.random() < 0.9:
                board[cube_of(corner + ("2" if white else "7"))] = cased("P", white)
            if rng.random() < 0.2:
                board[cube_of(crossed + rank)] = cased(rng.choice(PIECES), rng.random() < 0.5)
            if rng.random() < 0.1:
                board[cube_of(corner[0] + crossed[1] + ("2" if white else "7"))] = cased("P", not white)
            if rng.random() < 0.1:
                board[cube_of(crossed + rng.choice("3456"))] = cased("R", not white)
    strew(rng, board, PIECES + "PP", rng.randrange(8))
    return finished(rng, board)


def en_passant(rng: random.Random) -> str:
    """A Pawn that has just made a double step beside others, of which some are between their King and a rider."""
    white = rng.random() < 0.5
    x, y = rng.randrange(5), rng.randrange(5)
    landed, ahead = (5 if white else 4), forward(white)
    behind, en_passant = (x, y, landed + 2 * ahead), (x, y, landed + ahead)
    board: Board = {(x, y, landed): cased("P", not white)}
    for column in range(x - 1, x + 2):
        for row in range(y - 1, y + 2):
            if (column, row, landed) in CUBES and rng.random() < 0.4:
                board.setdefault((column, row, landed), cased("P", white if rng.random() < 0.9 else not white))
    kept = [cube for cube in (en_passant, behind) if rng.random() < 0.95]
    way, nearer, farther = rng.choice(DIRECTIONS), rng.randrange(1, 4), rng.randrange(1, 4)
    center = rng.choice([*board, en_passant])
    held = (center[0] + way[0] * nearer, center[1] + way[1] * nearer, center[2] + way[2] * nearer)
    beyond = (center[0] - way[0] * farther, center[1] - way[1] * farther, center[2] - way[2] * farther)
    for cube, letter in ((held, cased("K", white)), (beyond, cased(rider_along(way), not white))):
        if cube in CUBES and cube not in (en_passant, behind):
            board.setdefault(cube, letter)
    board.update(dict.fromkeys(kept, "."))
    strew(rng, board, rng.choice(("RRBBMMP", PIECES + "P")), rng.randrange(8))
    for cube in kept:
        del board[cube]
    return finished(rng, board, white, en_passant if rng.random() < 0.9 else None)


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
    """A King at the edge with the other near it and more or fewer enemies: now and then a mate."""
    white = rng.random() < 0.5
    edge = [cube for cube in CUBES if sum((cube[0] % 4 == 0, cube[1] % 4 == 0, cube[2] in (1, 8))) >= 2]
    x, y, z = rng.choice(edge)
    near = [cube for cube in CUBES if max(abs(cube[0] - x), abs(cube[1] - y), abs(cube[2] - z)) == 2]
    board = {(x, y, z): cased("K", white), rng.choice(near): cased("K", not white)}
    for cube in rng.sample(CUBES, rng.randrange(3, 24)):
        kind = rng.choice(PIECES + "FFP")
        if cube not in board and (kind != "P" or 1 < cube[2] < 8):
            board[cube] = cased(kind, not white if rng.random() < 0.95 else white)
    return finished(rng, board, white)


def hemmed_in(rng: random.Random) -> str:
    """A King in a corner to which enemies leave no cube: mostly a stalemate, unless another man can move."""
    white = rng.random() < 0.5
    x, y, z = rng.choice((0, 4)), rng.choice((0, 4)), rng.choice((1, 8))
    ways = [(x + dx, y + dy, z + dz) for dx, dy, dz in DIRECTIONS if (x + dx, y + dy, z + dz) in CUBES]
    board = {(x, y, z): cased("K", white)}
    free = [cube for cube in CUBES if cube not in ways and cube not in board]
    rng.shuffle(free)
    board[free.pop()] = cased("K", not white)
    while free and ways:
        cube = free.pop()
        board[cube] = cased(rng.choice(PIECES), not white)
        barred = [way for way in ways if captures(board, cube, way)]
        if not barred or captures(board, cube, (x, y, z)):
            del board[cube]
        else:
            ways = [way for way in ways if way not in barred]
    if free and rng.random() < 0.3:
        board[free.pop()] = cased(rng.choice(PIECES), white)
    return finished(rng, board, white if rng.random() < 0.9 else not white)


def lines_to_the_king(rng: random.Random) -> str:
    """A King on lines of enemy riders in several directions: checks, double checks, and men pinned between."""
    white = rng.random() < 0.5
    x, y, z = rng.choice(CUBES)
    board = {(x, y, z): cased("K", white)}
    for dx, dy, dz in rng.sample(DIRECTIONS, rng.randrange(1, 5)):
        line = [(x + dx * n, y + dy * n, z + dz * n) for n in range(1, 8)]
        line = [cube for cube in line if cube in CUBES and cube not in board]
        if len(line) < 2:
            continue
        first, last = sorted(rng.sample(range(len(line)), 2))
        board[line[last]] = cased(rider_along((dx, dy, dz)) if rng.random() < 0.9 else "F", not white)
        if rng.random() < 0.8:
            kind = rng.choice("RBMNCJFFPPP" if 1 < line[first][2] < 8 else PIECES + "F")
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
    hemmed_in,
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
