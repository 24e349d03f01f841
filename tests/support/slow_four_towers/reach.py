"""Where pieces can go and what they attack (rules, sections 3 to 6)."""

from collections.abc import Iterator

from tests.support.slow_four_towers.board import (
    ARENAS,
    COMPONENTS,
    COMPOUND,
    DIAGONAL,
    KNIGHT,
    ORTHOGONAL,
    SQUARES,
    TOWERS,
    Board,
    Square,
    State,
    arena,
    forward,
    line,
    own,
    zone,
)


def movement(state: State, square: Square, kind: str, part: bool) -> set[str]:
    """Return what a piece moves like, the cardinal's switch and the memories of dragons included."""
    if kind == "D":
        return set(state.memories[0] | state.memories[1])
    if kind in "BN" and not part and square in zone(state.board, "Cc"):
        return {"B": {"N"}, "N": {"B"}}[kind]
    return set(COMPONENTS.get(kind, kind))


def reach(board: Board, square: Square, ways: set[str]) -> set[Square]:
    found: set[Square] = set()
    if "R" in ways:
        found |= {there for way in ORTHOGONAL for there in line(board, square, way)}
    if "B" in ways:
        found |= {there for way in DIAGONAL for there in line(board, square, way)}
    if "N" in ways:
        found |= {(square[0] + x, square[1] + y) for x, y in KNIGHT} & SQUARES
    if "K" in ways:
        found |= {there for way in ORTHOGONAL + DIAGONAL for there in line(board, square, way, 1)}
    return found


def lancer_lines(board: Board, square: Square, white: bool) -> Iterator[list[Square]]:
    up = forward(white)
    for way in ((0, up), (1, up), (-1, up), (1, 0), (-1, 0)):
        yield list(line(board, square, way, 2))


def captures(state: State, square: Square, kind: str, white: bool, part: bool = False) -> set[Square]:
    """Return the squares on which a piece could capture, bars apart."""
    board = state.board
    if kind == "P":
        return {(square[0] + x, square[1] + forward(white)) for x in (1, -1)} & SQUARES
    if kind == "L":
        return {there for squares in lancer_lines(board, square, white) for there in squares}
    ways = movement(state, square, kind, part)
    if kind == "K" and square in TOWERS:
        ways = {"R", "B"}
    return reach(board, square, ways)


def in_check(state: State, white: bool) -> bool:
    king = next(square for square, letter in state.board.items() if letter == ("K" if white else "k"))
    if king in zone(state.board, "Q" if white else "q"):
        return False
    marshalled = zone(state.board, "Mm")
    for square, letter in state.board.items():
        kind = letter.upper()
        if own(letter, white) or (kind in "RNM" and (square in marshalled or king in marshalled)):
            continue
        if king in captures(state, square, kind, not white):
            return True
    return False


def barred(state: State, kind: str, victim: str, start: Square, end: Square) -> bool:
    marshalled = zone(state.board, "Mm")
    if kind in "RNM":
        return victim not in "RNM" and (start in marshalled or end in marshalled)
    return victim in "RNM" and end in marshalled


def fused(state: State, kind: str, other: str, start: Square, end: Square) -> str | None:
    """Return what two pieces make together, or None."""
    if kind == other == "P":
        return "L"
    if kind not in COMPONENTS or other not in COMPONENTS or set(COMPONENTS[kind]) & set(COMPONENTS[other]):
        return None
    marshalled = zone(state.board, "Mm")
    if {kind, other} != {"R", "N"} and (start in marshalled or end in marshalled):
        return None
    return COMPOUND[frozenset(COMPONENTS[kind] + COMPONENTS[other])]


def direct_ends(board: Board, square: Square) -> set[Square]:
    ends = set()

    def hop(here: Square, used: set[Square], visited: set[Square]) -> None:
        home = arena(here)
        for tower, arenas in TOWERS.items():
            holder = board.get(tower, " ").upper()
            if tower in used or holder not in "RB" or home not in arenas:
                continue
            for other in arenas:
                differing = (home % 3 != other % 3) + (home // 3 != other // 3)
                if differing != {"R": 1, "B": 2}[holder]:
                    continue
                there = ARENAS[other][ARENAS[home].index(here)]
                if there in visited:
                    continue
                ends.add(there)
                if there not in board:
                    hop(there, used | {tower}, visited | {there})

    if arena(square) is not None:
        hop(square, set(), {square})
    return ends
