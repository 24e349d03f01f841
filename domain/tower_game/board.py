"""The geometry of The Tower Game: 200 cubes, their lines and leaps, as tables.

A cube (x, y, z) has the number (5x + y) * 8 + z, so that numbers sort as names do. A set of cubes is an integer
with bit ``number`` set. Source: rules, "Equipment and coordinates" and "Pieces and moves".
"""

from itertools import product
from typing import Final

CUBES: Final = 200
RANKS: Final = 8
SIDE: Final = 5

NAMES: Final = tuple(f"{column}{row}{rank}" for column in "abcde" for row in "abcde" for rank in "12345678")
NUMBERS: Final[dict[str, int]] = {name: number for number, name in enumerate(NAMES)}


def _number(x: int, y: int, z: int) -> int:
    return (x * SIDE + y) * RANKS + z


def _cube(number: int) -> tuple[int, int, int]:
    file, z = divmod(number, RANKS)
    return file // SIDE, file % SIDE, z


def _inside(x: int, y: int, z: int) -> bool:
    return 0 <= x < SIDE and 0 <= y < SIDE and 0 <= z < RANKS


_UNITS: Final = [vector for vector in product((-1, 0, 1), repeat=3) if vector != (0, 0, 0)]
ORTHOGONAL: Final = [vector for vector in _UNITS if sum(map(abs, vector)) == 1]
DIAGONAL: Final = [vector for vector in _UNITS if sum(map(abs, vector)) == 2]
TRIAGONAL: Final = [vector for vector in _UNITS if sum(map(abs, vector)) == 3]


def _rays(vectors: list[tuple[int, ...]]) -> tuple[tuple[tuple[int, ...], ...], ...]:
    table = []
    for number in range(CUBES):
        x, y, z = _cube(number)
        rays = []
        for dx, dy, dz in vectors:
            ray = []
            steps = 1
            while _inside(x + dx * steps, y + dy * steps, z + dz * steps):
                ray.append(_number(x + dx * steps, y + dy * steps, z + dz * steps))
                steps += 1
            if ray:
                rays.append(tuple(ray))
        table.append(tuple(rays))
    return tuple(table)


def _leaps(vectors: list[tuple[int, ...]]) -> tuple[tuple[int, ...], ...]:
    table = []
    for number in range(CUBES):
        x, y, z = _cube(number)
        table.append(
            tuple(sorted(_number(x + dx, y + dy, z + dz) for dx, dy, dz in vectors if _inside(x + dx, y + dy, z + dz)))
        )
    return tuple(table)


def _arrangements(lengths: tuple[int, int, int]) -> list[tuple[int, ...]]:
    return [vector for vector in product((-2, -1, 0, 1, 2), repeat=3) if sorted(map(abs, vector)) == sorted(lengths)]


def set_of(cubes: tuple[int, ...]) -> int:
    """Return the set of the numbered cubes."""
    members = 0
    for number in cubes:
        members |= 1 << number
    return members


ROOK_RAYS: Final = _rays(ORTHOGONAL)
BISHOP_RAYS: Final = _rays(DIAGONAL)
MERCHANT_RAYS: Final = _rays(TRIAGONAL)
KNIGHT_LEAPS: Final = _leaps(_arrangements((2, 1, 0)))
"""[TG-04]"""
CAPTAIN_LEAPS: Final = _leaps(_arrangements((2, 1, 1)))
"""[TG-05]"""
JESTER_LEAPS: Final = _leaps(_arrangements((2, 2, 1)))
"""[TG-06]"""
KING_STEPS: Final = _leaps(_UNITS)
PAWN_CAPTURES: Final = tuple(
    _leaps([vector for vector in _UNITS if vector[2] == forward and vector[:2] != (0, 0)]) for forward in (1, -1)
)
"""By side and cube: the eight captures of a Pawn [TG-09]."""
PAWN_CAPTURE_SETS: Final = tuple(tuple(map(set_of, table)) for table in PAWN_CAPTURES)

ROOK_LINES: Final = tuple(set_of(tuple(cube for ray in rays for cube in ray)) for rays in ROOK_RAYS)
BISHOP_LINES: Final = tuple(set_of(tuple(cube for ray in rays for cube in ray)) for rays in BISHOP_RAYS)
MERCHANT_LINES: Final = tuple(set_of(tuple(cube for ray in rays for cube in ray)) for rays in MERCHANT_RAYS)
KNIGHT_SETS: Final = tuple(map(set_of, KNIGHT_LEAPS))
CAPTAIN_SETS: Final = tuple(map(set_of, CAPTAIN_LEAPS))
JESTER_SETS: Final = tuple(map(set_of, JESTER_LEAPS))
KING_SETS: Final = tuple(map(set_of, KING_STEPS))


def _between() -> tuple[tuple[int, ...], ...]:
    table = []
    for number in range(CUBES):
        row = [0] * CUBES
        for rays in (ROOK_RAYS, BISHOP_RAYS, MERCHANT_RAYS):
            for ray in rays[number]:
                passed = 0
                for cube in ray:
                    row[cube] = passed
                    passed |= 1 << cube
        table.append(tuple(row))
    return tuple(table)


BETWEEN: Final = _between()
"""The set of cubes strictly between two cubes of one line; empty for neighbours and for cubes that share no line."""

KING_HOMES: Final[tuple[int, ...]] = (NUMBERS["cc1"], NUMBERS["cc8"])
CORNERS: Final = tuple(NUMBERS[name] for name in ("aa1", "ae1", "ea1", "ee1", "aa8", "ae8", "ea8", "ee8"))
"""The corners in the order of the castling field; bit n of the castling rights is the n-th of them."""
CASTLING_PATHS: Final = {
    NUMBERS[corner]: NUMBERS[passed]
    for corner, passed in (
        ("aa1", "bb1"),
        ("ae1", "bd1"),
        ("ea1", "db1"),
        ("ee1", "dd1"),
        ("aa8", "bb8"),
        ("ae8", "bd8"),
        ("ea8", "db8"),
        ("ee8", "dd8"),
    )
}
"""The cube that a King passes on its way to a corner, where the Rook goes [TG-15]."""
