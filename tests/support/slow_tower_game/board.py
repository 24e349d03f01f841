"""Cubes, men and how they go (rules, "Equipment and coordinates", "Pieces and moves")."""

from dataclasses import dataclass
from itertools import product

Cube = tuple[int, int, int]
Board = dict[Cube, str]

COLUMNS = "abcde"
CUBES = [(x, y, z) for z in range(1, 9) for x, y in product(range(5), repeat=2)]
ORDER_OF_RIGHTS = ["aa1", "ae1", "ea1", "ee1", "aa8", "ae8", "ea8", "ee8"]
# How far a man goes on each axis, the least first, if that does not depend on the direction.
LEAPS = {"N": [0, 1, 2], "C": [1, 1, 2], "J": [1, 2, 2]}
AXES_OF_RIDERS = {"R": 1, "B": 2, "M": 3}


@dataclass(frozen=True)
class State:
    """A position: men by cube, whether White is to move, corners with a right, the passed cube, quiet plies."""

    board: Board
    white: bool
    castling_rights: tuple[str, ...]
    en_passant: Cube | None
    halfmove_clock: int


def name(cube: Cube) -> str:
    return COLUMNS[cube[0]] + COLUMNS[cube[1]] + str(cube[2])


def cube_of(text: str) -> Cube:
    return COLUMNS.index(text[0]), COLUMNS.index(text[1]), int(text[2])


def own(letter: str, white: bool) -> bool:
    return letter.isupper() == white


def forward(white: bool) -> int:
    return 1 if white else -1


def captures(board: Board, start: Cube, end: Cube) -> bool:
    """Return whether the man on ``start`` could capture an enemy on ``end``, whatever stands there."""
    letter = board[start]
    kind = letter.upper()
    x, y, z = end[0] - start[0], end[1] - start[1], end[2] - start[2]
    far = sorted((abs(x), abs(y), abs(z)))
    most = far[2]
    if kind == "P":
        return z == forward(letter.isupper()) and max(abs(x), abs(y)) == 1
    if kind in "KF":
        return most == 1
    if kind in LEAPS:
        return far == LEAPS[kind]
    axes = AXES_OF_RIDERS[kind]
    if most == 0 or far != [0] * (3 - axes) + [most] * axes:
        return False
    unit = (x // most, y // most, z // most)
    between = [(start[0] + unit[0] * n, start[1] + unit[1] * n, start[2] + unit[2] * n) for n in range(1, most)]
    return not any(cube in board for cube in between)


def attacked(board: Board, cube: Cube, by_white: bool) -> bool:
    return any(own(letter, by_white) and captures(board, start, cube) for start, letter in board.items())


def king(board: Board, white: bool) -> Cube:
    return next(cube for cube, letter in board.items() if letter == ("K" if white else "k"))


def in_check(board: Board, white: bool) -> bool:
    return attacked(board, king(board, white), not white)
