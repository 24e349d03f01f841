"""The geometry of Fourplay: 15 x 15 squares, four quadrants, a neutral cross; lines and leaps as tables.

A square has the number 15 * column + row, both from 0, so that numbers sort by column and then row. Source: rules,
sections 1 and 3.
"""

from itertools import product
from typing import Final

SIDE: Final = 15
SQUARES: Final = SIDE * SIDE
NAMES: Final[tuple[str, ...]] = tuple(f"{column}{row}" for column in "abcdefghijklmno" for row in range(1, SIDE + 1))
NUMBERS: Final[dict[str, int]] = {name: number for number, name in enumerate(NAMES)}
NEUTRON_SQUARE: Final = NUMBERS["h8"]

_ORTHOGONAL: Final = ((1, 0), (-1, 0), (0, 1), (0, -1))
_DIAGONAL: Final = ((1, 1), (1, -1), (-1, 1), (-1, -1))
Rays = tuple[tuple[tuple[int, ...], ...], ...]


def number_at(column: int, row: int) -> int | None:
    """Return the number of a square, None beside the board."""
    return column * SIDE + row if 0 <= column < SIDE and 0 <= row < SIDE else None


def quadrant_of(number: int) -> int | None:
    """Return the player whose quadrant holds the square, None for the neutral cross (section 1)."""
    column, row = divmod(number, SIDE)
    if column == 7 or row == 7:
        return None
    return (0 if row < 7 else 1) if column < 7 else (3 if row < 7 else 2)


QUADRANTS: Final = tuple(quadrant_of(number) for number in range(SQUARES))
QUADRANT_SQUARES: Final = tuple(tuple(n for n in range(SQUARES) if QUADRANTS[n] == player) for player in range(4))
CORNERS: Final = tuple(NUMBERS[name] for name in ("a1", "a15", "o15", "o1"))
"""By player: the corner of the own quadrant."""


def _rays(vectors: tuple[tuple[int, int], ...], reach: int = SIDE) -> Rays:
    table = []
    for number in range(SQUARES):
        column, row = divmod(number, SIDE)
        rays = []
        for dx, dy in vectors:
            ray = []
            for step in range(1, reach + 1):
                there = number_at(column + dx * step, row + dy * step)
                if there is None:
                    break
                ray.append(there)
            if ray:
                rays.append(tuple(ray))
        table.append(tuple(rays))
    return tuple(table)


def _leaps(vectors: tuple[tuple[int, int], ...]) -> tuple[tuple[int, ...], ...]:
    table = []
    for number in range(SQUARES):
        column, row = divmod(number, SIDE)
        targets = (number_at(column + dx, row + dy) for dx, dy in vectors)
        table.append(tuple(sorted(target for target in targets if target is not None)))
    return tuple(table)


ROOK_RAYS: Final = _rays(_ORTHOGONAL)
BISHOP_RAYS: Final = _rays(_DIAGONAL)
QUEEN_RAYS: Final = _rays(_ORTHOGONAL + _DIAGONAL)
VERTICAL_RAYS: Final = _rays(((0, 1), (0, -1)))
HORIZONTAL_RAYS: Final = _rays(((1, 0), (-1, 0)))
SHOT_RAYS: Final = tuple(
    straight + diagonal for straight, diagonal in zip(_rays(_ORTHOGONAL, 4), _rays(_DIAGONAL, 3), strict=True)
)
ADJACENT: Final = _leaps(_ORTHOGONAL + _DIAGONAL)
DIAGONAL_STEPS: Final = _leaps(_DIAGONAL)
GIRAFFE_LEAPS: Final = _leaps(tuple((dx, dy) for dx, dy in product((-4, -1, 1, 4), repeat=2) if abs(dx) != abs(dy)))
DOG_LEAPS: Final = _leaps(tuple((dx * step, dy * step) for dx, dy in _ORTHOGONAL + _DIAGONAL for step in (1, 2)))
"""By square of the host: one or two squares away along the eight directions (FP-19)."""


ArcherPaths = tuple[tuple[int, tuple[tuple[int, ...], ...]], ...]


def _bent_paths(dx: int, dy: int) -> tuple[tuple[int, ...], ...]:
    """Return the one or two bent paths to the square ``dx`` columns and ``dy`` rows away, as differences (FP-16)."""
    across = [SIDE * step for step in _steps(dx)]
    up = list(_steps(dy))
    first_across = [*across, *(SIDE * dx + step for step in up)]
    first_up = [*up, *(step + dy for step in across)]
    return tuple(sorted({tuple(first_across[:-1]), tuple(first_up[:-1])}))


def _steps(distance: int) -> range:
    return range(1, distance + 1) if distance > 0 else range(-1, distance - 1, -1)


_BENT: Final = tuple((dx, dy, _bent_paths(dx, dy)) for dx in range(-4, 5) for dy in sorted({abs(dx) - 4, 4 - abs(dx)}))


def _archer_moves(number: int, player: int) -> ArcherPaths:
    """Return the squares four steps away in the player's quadrant, each with the squares passed on its paths."""
    column, row = divmod(number, SIDE)
    return tuple(
        (target, tuple(tuple(number + passed for passed in path) for path in paths))
        for dx, dy, paths in _BENT
        if (target := number_at(column + dx, row + dy)) is not None and QUADRANTS[target] == player
    )


ARCHER_MOVES: Final = tuple(tuple(_archer_moves(number, player) for number in range(SQUARES)) for player in range(4))
"""By player and square: the targets of an Archer's move, each with the squares passed on its possible paths."""


def _between() -> dict[tuple[int, int], tuple[int, ...]]:
    return {
        (number, ray[index]): ray[:index]
        for number in range(SQUARES)
        for ray in QUEEN_RAYS[number]
        for index in range(len(ray))
    }


BETWEEN: Final = _between()
"""The squares strictly between two squares of one line."""
