"""The geometry of Four Towers: 85 squares, nine arenas, four towers (rules, sections 1 and 3.1).

Squares are numbered by file, then by rank. Every ray, refracted or not, runs through growing or through falling
numbers, so that the piece nearest to its origin is the lowest or the highest bit. A set of squares is an integer with
bit ``number`` set.
"""

from functools import cache
from typing import Final, NamedTuple

_RANKS: Final[tuple[str, ...]] = ("ghi", "defghi", "abcdefghi", "abcdefghij", "abcdefghij", "bcdefghij")
"""The files of the ranks 1 to 6; the other ranks are their images under the half-turn."""
_FILES: Final = "abcdefghijk"
_HALF_TURN: Final = str.maketrans(_FILES, _FILES[::-1])
FILES_OF_RANKS: Final = (*_RANKS, *(files[::-1].translate(_HALF_TURN) for files in reversed(_RANKS[:5])))
"""The files that exist, by rank - 1."""

COORDINATES: Final[tuple[tuple[int, int], ...]] = tuple(
    (x, y) for x in range(1, 12) for y in range(1, 12) if _FILES[x - 1] in FILES_OF_RANKS[y - 1]
)
NUMBERS_AT: Final[dict[tuple[int, int], int]] = {place: number for number, place in enumerate(COORDINATES)}
NAMES: Final[tuple[str, ...]] = tuple(f"{_FILES[x - 1]}{y}" for x, y in COORDINATES)
NUMBERS: Final[dict[str, int]] = {name: number for number, name in enumerate(NAMES)}
SQUARES: Final = len(NAMES)

NUMERALS: Final[tuple[str, ...]] = ("I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX")
ARENAS: Final[tuple[tuple[int, ...], ...]] = tuple(
    tuple(NUMBERS_AT[1 + 3 * column + row + c, 3 - column + 3 * row + r] for c in range(3) for r in range(3))
    for row in range(3)
    for column in range(3)
)
"""The squares of each arena; analogous squares have the same place."""
PLACES: Final[dict[int, tuple[int, int]]] = {
    square: (arena, place) for arena, squares in enumerate(ARENAS) for place, square in enumerate(squares)
}
"""The arena of a square and its place there; towers have none."""
ARENA_OF: Final[tuple[int, ...]] = tuple(PLACES[square][0] if square in PLACES else -1 for square in range(SQUARES))
TOWERS: Final[tuple[int, ...]] = tuple(NUMBERS[name] for name in ("d5", "g4", "e8", "h7"))
TOUCHED: Final[tuple[tuple[int, ...], ...]] = ((0, 1, 3, 4), (1, 2, 4, 5), (3, 4, 6, 7), (4, 5, 7, 8))
"""The four arenas of each tower's zone: lower left, lower right, upper left, upper right."""


def set_of(squares: tuple[int, ...] | list[int]) -> int:
    """Return the set of the numbered squares."""
    members = 0
    for square in squares:
        members |= 1 << square
    return members


def members_of(squares: int) -> list[int]:
    """Return the numbers of the squares of a set, in ascending order."""
    members = []
    while squares:
        lowest = squares & -squares
        members.append(lowest.bit_length() - 1)
        squares ^= lowest
    return members


ARENA_SETS: Final[tuple[int, ...]] = tuple(map(set_of, ARENAS))
TOWER_SET: Final = set_of(TOWERS)
ZONE_OF: Final[dict[int, int]] = {
    tower: set_of([square for arena in arenas for square in ARENAS[arena]])
    for tower, arenas in zip(TOWERS, TOUCHED, strict=True)
}


def _zones() -> dict[int, int]:
    zones = {}
    for chosen in range(16):
        towers = [tower for index, tower in enumerate(TOWERS) if chosen >> index & 1]
        zone = 0
        for tower in towers:
            zone |= ZONE_OF[tower]
        zones[set_of(towers)] = zone
    return zones


ZONES: Final = _zones()
"""The union of the zones of every set of towers."""

UP: Final = 0
DOWN: Final = 1
LEFT: Final = 2
RIGHT: Final = 3
_DIRECTIONS: Final = ((0, 1), (0, -1), (-1, 0), (1, 0))
_DIAGONALS: Final = ((1, 1), (1, -1), (-1, 1), (-1, -1))
_LEAPS: Final = tuple((x, y) for x in (-2, -1, 1, 2) for y in (-2, -1, 1, 2) if abs(x) != abs(y))

_ASCII: Final = {name: rank for rank, name in enumerate(sorted(NAMES))}
TARGET_SHIFT: Final = 11
TARGETS: Final[tuple[int, ...]] = tuple(_ASCII[name] << TARGET_SHIFT for name in NAMES)
"""How a move writes the square where it ends: by its place in the ASCII order of names."""
SQUARE_AT: Final[tuple[int, ...]] = tuple(NUMBERS[name] for name in sorted(NAMES))
"""The square of a place in the ASCII order of names."""


class Ray(NamedTuple):
    """The squares of a ray as a set and as targets; by square, the targets before it."""

    squares: int
    targets: tuple[int, ...]
    before: dict[int, tuple[int, ...]]


Rays = tuple[tuple[Ray, ...], tuple[Ray, ...]]
"""The rays of a square through growing numbers, and those through falling ones."""


def _sorted_rays(rays: list[list[int]]) -> Rays:
    rising: list[Ray] = []
    falling: list[Ray] = []
    for squares in rays:
        if squares:
            targets = tuple(TARGETS[square] for square in squares)
            before = {square: targets[:place] for place, square in enumerate(squares)}
            kind = rising if len(squares) == 1 or squares[0] < squares[-1] else falling
            kind.append(Ray(set_of(squares), targets, before))
    return tuple(rising), tuple(falling)


def _towards(square: int, dx: int, dy: int) -> int:
    x, y = COORDINATES[square]
    return NUMBERS_AT.get((x + dx, y + dy), -1)


def _run(steps: tuple[int, ...], square: int) -> list[int]:
    squares = []
    while (square := steps[square]) >= 0:
        squares.append(square)
    return squares


def _sources(runs: list[list[list[int]]]) -> tuple[tuple[int, ...], tuple[dict[int, int], ...]]:
    """Return by square the squares from which a ray comes, and by square and source the squares between."""
    sources = [0] * SQUARES
    between: list[dict[int, int]] = [{} for _ in range(SQUARES)]
    for origin, rays in enumerate(runs):
        for squares in rays:
            passed = 0
            for square in squares:
                sources[square] |= 1 << origin
                between[square][origin] = passed
                passed |= 1 << square
    return tuple(sources), tuple(between)


DIAGONAL_STEPS: Final[tuple[tuple[int, ...], ...]] = tuple(
    tuple(_towards(square, dx, dy) for square in range(SQUARES)) for dx, dy in _DIAGONALS
)
"""By direction (up right, down right, up left, down left) and square: the next square, or -1."""
_DIAGONAL_RUNS: Final = [[_run(steps, square) for steps in DIAGONAL_STEPS] for square in range(SQUARES)]
DIAGONAL_RAYS: Final[tuple[Rays, ...]] = tuple(map(_sorted_rays, _DIAGONAL_RUNS))
_DIAGONAL_LINES: Final = _sources(_DIAGONAL_RUNS)
DIAGONAL_SOURCES: Final = _DIAGONAL_LINES[0]
DIAGONAL_BETWEEN: Final = _DIAGONAL_LINES[1]
LEAPS: Final[tuple[tuple[int, ...], ...]] = tuple(
    tuple(target for dx, dy in _LEAPS if (target := _towards(square, dx, dy)) >= 0) for square in range(SQUARES)
)
LEAP_SETS: Final[tuple[int, ...]] = tuple(map(set_of, LEAPS))
LEAP_TARGETS: Final[tuple[tuple[int, ...], ...]] = tuple(tuple(TARGETS[target] for target in leaps) for leaps in LEAPS)
FORWARD: Final[tuple[int, ...]] = (UP, DOWN)
"""The direction of each side's pawns."""
_FORWARD_DIAGONALS: Final = ((0, 2), (1, 3))
PAWN_CAPTURES: Final[tuple[tuple[tuple[int, ...], ...], ...]] = tuple(
    tuple(tuple(target for way in ways if (target := DIAGONAL_STEPS[way][square]) >= 0) for square in range(SQUARES))
    for ways in _FORWARD_DIAGONALS
)
"""By side and square: where a pawn captures."""
PAWN_CAPTURE_SETS: Final[tuple[tuple[int, ...], ...]] = tuple(tuple(map(set_of, table)) for table in PAWN_CAPTURES)


class Surface(NamedTuple):
    """Everything that depends on refraction, for one set of towers that hold simple knights (section 3.1).

    ``steps`` is by direction and square, ``king_steps`` and the rays by square. ``rook_sources`` and ``king_sources``
    are the squares from which a square can be reached. A lancer's ``runs`` are by side and square: the one or two
    squares of each of its capturing lines; ``lancer_sources`` and ``lancer_between`` are their reverse.
    ``double_steps`` and ``lancer_doubles`` give by side, square and arrival the square crossed.
    """

    steps: tuple[tuple[int, ...], ...]
    rays: tuple[Rays, ...]
    rook_sources: tuple[int, ...]
    rook_between: tuple[dict[int, int], ...]
    king_steps: tuple[tuple[int, ...], ...]
    king_sources: tuple[int, ...]
    runs: tuple[tuple[tuple[tuple[int, ...], ...], ...], ...]
    lancer_sources: tuple[tuple[int, ...], ...]
    lancer_between: tuple[tuple[dict[int, int], ...], ...]
    double_steps: tuple[tuple[dict[int, int], ...], ...]
    lancer_doubles: tuple[tuple[dict[int, int], ...], ...]


def _step(square: int, direction: int, knight_towers: int) -> int:
    """Return the square one orthogonal step away, or -1 (section 3.1, rules 1 to 4) [FT-31, FT-32, FT-36]."""
    dx, dy = _DIRECTIONS[direction]
    if square in PLACES:
        arena, place = PLACES[square]
        column, row = arena % 3 + dx, arena // 3 + dy
        c, r = place // 3 + dx, place % 3 + dy
        if not (0 <= c < 3 and 0 <= r < 3) and 0 <= column < 3 and 0 <= row < 3:
            beyond = row * 3 + column
            for tower, zone in zip(TOWERS, TOUCHED, strict=True):
                if knight_towers >> tower & 1 and arena in zone and beyond in zone:
                    return ARENAS[beyond][c % 3 * 3 + r % 3]
    return _towards(square, dx, dy)


@cache
def surface(knight_towers: int) -> Surface:
    """Return the tables for the set ``knight_towers`` of towers that hold simple knights."""
    squares = range(SQUARES)
    steps = tuple(tuple(_step(square, direction, knight_towers) for square in squares) for direction in range(4))
    runs = [[_run(way, square) for way in steps] for square in squares]
    rook_sources, rook_between = _sources(runs)
    king_steps = tuple(
        tuple(sorted({target for way in (*steps, *DIAGONAL_STEPS) if (target := way[square]) >= 0}))
        for square in squares
    )
    king_sources = [0] * SQUARES
    for square in squares:
        for target in king_steps[square]:
            king_sources[target] |= 1 << square
    lancer_runs, lancer_sources, lancer_between, double_steps, lancer_doubles = [], [], [], [], []
    for side in (0, 1):
        ahead = steps[FORWARD[side]]
        ways = (ahead, steps[LEFT], steps[RIGHT], *(DIAGONAL_STEPS[way] for way in _FORWARD_DIAGONALS[side]))
        pairs = [[_run(way, square)[:2] for way in ways] for square in squares]
        lancer_runs.append(tuple(tuple(tuple(run) for run in row if run) for row in pairs))
        sources, between = _sources(pairs)
        lancer_sources.append(sources)
        lancer_between.append(between)
        double_steps.append(tuple({row[0][1]: row[0][0]} if len(row[0]) == 2 else {} for row in pairs))
        lancer_doubles.append(tuple({run[1]: run[0] for run in row if len(run) == 2} for row in pairs))
    return Surface(
        steps,
        tuple(map(_sorted_rays, runs)),
        rook_sources,
        rook_between,
        king_steps,
        tuple(king_sources),
        tuple(lancer_runs),
        tuple(lancer_sources),
        tuple(lancer_between),
        tuple(double_steps),
        tuple(lancer_doubles),
    )


PAWN_SOURCES: Final[tuple[tuple[int, ...], ...]] = tuple(
    tuple(set_of([square for square in range(SQUARES) if target in captures[square]]) for target in range(SQUARES))
    for captures in PAWN_CAPTURES
)
"""By side and square: the squares from which a pawn of that side captures there."""

Hops = tuple[tuple[tuple[int, int], ...], ...]


@cache
def hops(rooks: int, bishops: int) -> Hops:
    """Return by square the hops of direct moves, each with its tower; the sets are of towers (section 6.6)."""
    table: list[list[tuple[int, int]]] = [[] for _ in range(SQUARES)]
    for index, (tower, (low, right, left, high)) in enumerate(zip(TOWERS, TOUCHED, strict=True)):
        linked: list[tuple[int, int]] = []
        if rooks >> tower & 1:
            linked += ((low, right), (left, high), (low, left), (right, high))
        if bishops >> tower & 1:
            linked += ((low, high), (left, right))
        for one, other in linked:
            for here, there in zip(ARENAS[one], ARENAS[other], strict=True):
                table[here].append((1 << index, there))
                table[there].append((1 << index, here))
    return tuple(map(tuple, table))


_TURNED: Final = tuple(NUMBERS_AT[12 - x, 12 - y] for x, y in COORDINATES)


def _named(*names: str) -> int:
    return set_of([NUMBERS[name] for name in names])


_WHITE_DOUBLES: Final = _named(
    *("a3", "a4", "b3", "b4", "c3", "c4", "d2", "d3", "d4", "e2", "e3"),
    *("f2", "f3", "g1", "g2", "g3", "h1", "h2", "h3", "i1", "i2", "i3"),
)
_WHITE_PROMOTIONS: Final = _named("c11", "d11", "e11", "f10", "g10", "h10", "i9", "j9", "k9")


def turned(squares: int) -> int:
    """Return the image of a set of squares under the half-turn of the board."""
    return set_of([_TURNED[square] for square in members_of(squares)])


DOUBLE_STEP_SQUARES: Final[tuple[int, ...]] = (_WHITE_DOUBLES, turned(_WHITE_DOUBLES))
"""By side: the squares from which a pawn may always go two steps [FT-05]."""
PROMOTION_SQUARES: Final[tuple[int, ...]] = (_WHITE_PROMOTIONS, turned(_WHITE_PROMOTIONS))


def _near(squares: int) -> int:
    """Return the squares at most two files and two ranks from one of ``squares``: no move of a pawn goes further."""
    return set_of(
        [
            number
            for number, (x, y) in enumerate(COORDINATES)
            if any(
                max(abs(x - COORDINATES[near][0]), abs(y - COORDINATES[near][1])) <= 2 for near in members_of(squares)
            )
        ]
    )


NEAR_PROMOTION: Final[tuple[int, ...]] = tuple(map(_near, PROMOTION_SQUARES))
"""By side: all squares from which a pawn may reach one where it promotes, except by hops."""
