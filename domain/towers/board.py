"""The board of Towers: squares, castles, rays; and towers as small integers.

A square is numbered file by file: a1 is 0, a2 is 1, b1 is 7, g7 is 48, so that the order of numbers is the ASCII order
of names. A tower is an integer of two bits a piece, the seat of its colour, the bottom piece in the lowest bits, closed
by a single 1 above the top piece: nothing is 1, a lone piece of seat 2 is 0b110. The green piece of a castle is
written as seat 0; the square distinguishes it, since green is the bottom piece of the five castles and of no other.
"""

from functools import cache
from typing import Final

SIDE: Final = 7
SQUARES: Final[tuple[str, ...]] = tuple(file + rank for file in "abcdefg" for rank in "1234567")
SQUARE_NUMBERS: Final[dict[str, int]] = {name: number for number, name in enumerate(SQUARES)}

CASTLES: Final[tuple[int, ...]] = tuple(SQUARE_NUMBERS[name] for name in ("b4", "d2", "d4", "d6", "f4"))
"""The castle squares (section 1), in the order of their numbers."""

MAX_HEIGHT: Final = 5
"""Pieces; no tower is higher (section 3.2)."""

MAX_PUSHES: Final = 50
"""The push in a row that ends the game in a draw (section 7, rule 4)."""

DIRECTIONS: Final[tuple[str, ...]] = ("to the left", "downwards", "upwards", "to the right")
"""The four directions, numbered in the ASCII order of the squares that lie there."""

SEAT_NAMES: Final[dict[int, tuple[str, ...]]] = {2: ("White", "Black"), 4: ("White", "Blue", "Red", "Black")}


LETTERS: Final[dict[int, str]] = {2: "wb", 4: "wurb"}
"""The letters of the seats in turn order, by the number of players."""

PIECES_EACH: Final[dict[int, int]] = {2: 75, 4: 50}
"""The pieces of every colour, on the board and in the supply, by the number of players."""


def _ray(square: int, direction: int) -> tuple[int, ...]:
    rank = square % SIDE
    if direction == 0:
        return tuple(range(square - SIDE, -1, -SIDE))
    if direction == 1:
        return tuple(range(square - 1, square - rank - 1, -1))
    if direction == 2:
        return tuple(range(square + 1, square - rank + SIDE))
    return tuple(range(square + SIDE, SIDE * SIDE, SIDE))


RAYS: Final = tuple(_ray(square, direction) for square in range(49) for direction in range(4))
"""The squares from a square to the edge, nearest first; of ``square`` in ``direction``: [4 * square + direction]."""

EMPTY: Final = 1
"""The tower on an empty square."""

TOWER_CODES: Final = 2 << 2 * MAX_HEIGHT
"""All towers are smaller than this; 0 is none of them."""

HEIGHT: Final[tuple[int, ...]] = tuple(max(0, (tower.bit_length() - 1) // 2) for tower in range(TOWER_CODES))
"""The height of every tower, green included."""


@cache
def pieces_of(tower: int) -> tuple[int, ...]:
    """Return the seats of the pieces of ``tower``, bottom first; the green piece of a castle counts as seat 0."""
    return tuple(tower >> 2 * level & 3 for level in range(HEIGHT[tower]))


def tower_of(seats: list[int]) -> int:
    """Return the tower of these pieces, bottom first."""
    tower = EMPTY
    for seat in seats:
        tower = with_top(tower, seat)
    return tower


def with_top(tower: int, seat: int) -> int:
    """Return ``tower``, at most four high, with a piece of ``seat`` on top."""
    return tower + (seat + 3 << 2 * HEIGHT[tower])


def controller(square: int, tower: int) -> int:
    """Return the seat that controls ``tower`` on ``square``, or -1 when it is empty or a neutral castle."""
    height = HEIGHT[tower]
    if height == 0 or (height == 1 and square in CASTLES):
        return -1
    return tower >> 2 * height - 2 & 3
