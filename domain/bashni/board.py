"""The board of Bashni: squares, the lines between them, and lookup tables of moves along these lines.

A square is a number from 0 to 35 and a bit of the same number in a set of squares. Numbers run file by file (a1 a3 a5
a7, b2 b4 b6 b8, c1 ...), so that their order is the ASCII order of the names. Every second file is followed by a number
that is no square; thanks to these gaps a diagonal step is the same difference everywhere, and a step over the edge of
the board ends on a gap or outside the numbers: +5 up and right, +4 down and right, -4 up and left, -5 down and left.
"""

from itertools import product
from typing import Final

SEAT_NAMES: Final[tuple[str, ...]] = ("White", "Black")
LETTERS: Final[tuple[tuple[str, ...], ...]] = (("w", "W"), ("b", "B"))
"""The letters of a man and of a king, by seat."""

PIECES_EACH: Final = 12
MAX_HALFMOVE_CLOCK: Final = 30
"""Plies of kings without capture in a row that end the game in a draw (section 6)."""

Move = tuple[int, ...]
"""The squares of a move in order: the one it begins on, then every one it lands on (section 9)."""

_STEPS: Final = (-5, -4, 4, 5)

NUMBERS: Final = 36
SQUARE_NUMBERS: Final[dict[str, int]] = {
    "abcdefgh"[file] + "12345678"[rank]: 9 * (file // 2) + 5 * (file % 2) + rank // 2
    for file, rank in product(range(8), repeat=2)
    if (file + rank) % 2 == 0
}
"""The numbers of the dark squares by name (section 1), both ascending."""

SQUARES: Final[tuple[int, ...]] = tuple(SQUARE_NUMBERS.values())
NAMES: Final[tuple[str, ...]] = tuple(
    {number: name for name, number in SQUARE_NUMBERS.items()}.get(n, "") for n in range(NUMBERS)
)
"""The names of the squares; the gaps have none."""

RANKS: Final[tuple[int, ...]] = tuple(
    sum(1 << square for square in SQUARES if NAMES[square][1] == rank) for rank in "12345678"
)
"""The squares of every rank, as sets; rank 1 is the first."""

BOARD: Final = sum(RANKS)
LAST_ROWS: Final[tuple[int, ...]] = (RANKS[7], RANKS[0])
"""Where the men of a seat are crowned (section 1)."""


def _ray(square: int, step: int) -> tuple[int, ...]:
    """Return the squares from ``square`` to the edge, the nearest first."""
    ray = []
    while (square := square + step) >= 0 and BOARD >> square & 1:
        ray.append(square)
    return tuple(ray)


def _set(squares: tuple[int, ...]) -> int:
    return sum(1 << square for square in squares)


def _between(start: int, end: int) -> int:
    for step in _STEPS:
        ray = _ray(start, step)
        if end in ray:
            return _set(ray[: ray.index(end)])
    return 0


BETWEEN: Final[tuple[tuple[int, ...], ...]] = tuple(
    tuple(_between(start, end) for end in range(NUMBERS)) for start in range(NUMBERS)
)
"""The squares strictly between two squares of a diagonal, as a set; 0 for neighbours and off the diagonals."""

ManJump = tuple[int, int, int, int]
"""A jump of a man: the victim's bit, the landing square's bit, the victim's square, the landing square."""

MAN_JUMPS: Final[tuple[tuple[ManJump, ...], ...]] = tuple(
    tuple((1 << ray[0], 1 << ray[1], ray[0], ray[1]) for step in _STEPS if len(ray := _ray(square, step)) > 1)
    for square in range(NUMBERS)
)
"""The jumps that the board allows a man, by square and in the order of the landing squares."""


def _man_steps(step: int) -> dict[int, Move]:
    return {1 << square: (square, square + step) for square in SQUARES if square + step in SQUARES}


LEFT_STEPS: Final[tuple[dict[int, Move], ...]] = (_man_steps(-4), _man_steps(-5))
RIGHT_STEPS: Final[tuple[dict[int, Move], ...]] = (_man_steps(5), _man_steps(4))
"""The plain moves of men towards file a and towards file h, by seat and by the bit of the man."""

Victim = tuple[int, int, tuple[int, ...]]
"""A column that a king may be able to jump: its bit, its square, all landing squares behind it, the nearest first."""

DiagonalView = tuple[int, int, tuple[Victim, ...]]
"""The moves of a king along a diagonal: the squares it reaches; the columns it could jump, as a set and in full."""


def _ray_view(ray: tuple[int, ...], occupied: int) -> DiagonalView:
    blocked = [place for place, beyond in enumerate(ray) if occupied >> beyond & 1] + [len(ray)] * 2
    reach, landings = _set(ray[: blocked[0]]), ray[blocked[0] + 1 : blocked[1]]
    if not landings:
        return reach, 0, ()
    victim = ray[blocked[0]]
    return reach, 1 << victim, ((1 << victim, victim, landings),)


def _subsets(squares: int) -> list[int]:
    subsets, last = [0], 0
    while last != squares:
        last = (last - squares) & squares
        subsets.append(last)
    return subsets


def _diagonal_views(square: int, step: int) -> tuple[int, dict[int, DiagonalView]]:
    down, up = (
        {occupied: _ray_view(ray, occupied) for occupied in _subsets(_set(ray))}
        for ray in (_ray(square, -step), _ray(square, step))
    )
    views = {
        below | above: (reach | other_reach, bits | other_bits, victims + other_victims)
        for above, (other_reach, other_bits, other_victims) in up.items()
        for below, (reach, bits, victims) in down.items()
    }
    return max(views), views


KING_VIEWS: Final[tuple[tuple[int, dict[int, DiagonalView], int, dict[int, DiagonalView]], ...]] = tuple(
    _diagonal_views(square, 5) + _diagonal_views(square, 4) for square in range(NUMBERS)
)
"""By square: its rising diagonal without itself, the view of a king along it by the occupied squares there; the same of
its falling diagonal."""


def _king_moves(square: int) -> dict[int, tuple[Move, ...]]:
    _, rising_views, _, falling_views = KING_VIEWS[square]
    rising, falling = (
        {reach: tuple((square, landing) for landing in SQUARES if reach >> landing & 1) for reach in reaches}
        for reaches in (
            {reach for reach, _, _ in rising_views.values()},
            {reach for reach, _, _ in falling_views.values()},
        )
    )
    return {
        one | other: tuple(sorted({*moves, *other_moves}))
        for one, moves in rising.items()
        for other, other_moves in falling.items()
    }


KING_MOVES: Final[tuple[dict[int, tuple[Move, ...]], ...]] = tuple(_king_moves(square) for square in range(NUMBERS))
"""The plain moves of a king on a square by the empty squares it reaches, in order."""
