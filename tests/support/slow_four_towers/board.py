"""The board and the position string (rules, sections 1 and 8), and single steps on it (section 3.1)."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import product

Square = tuple[int, int]
Board = dict[Square, str]

WIDTHS = {11: "ce", 10: "ch", 9: "ck", 8: "bk", 7: "bk", 6: "bj", 5: "aj", 4: "aj", 3: "ai", 2: "di", 1: "gi"}
SQUARES = {(ord(f) - 96, y) for y, ends in WIDTHS.items() for f in "abcdefghijk" if ends[0] <= f <= ends[1]}
ARENAS = [
    [(1 + 3 * X + Y + c, 3 - X + 3 * Y + r) for c in range(3) for r in range(3)] for Y in range(3) for X in range(3)
]
TOWERS = {(4, 5): (0, 1, 3, 4), (7, 4): (1, 2, 4, 5), (5, 8): (3, 4, 6, 7), (8, 7): (4, 5, 7, 8)}
ORTHOGONAL = [(0, 1), (0, -1), (1, 0), (-1, 0)]
DIAGONAL = [(1, 1), (1, -1), (-1, 1), (-1, -1)]
KNIGHT = [(x, y) for x, y in product((-2, -1, 1, 2), repeat=2) if abs(x) != abs(y)]
COMPONENTS = {"R": "R", "B": "B", "N": "N", "Q": "RB", "M": "RN", "C": "BN", "W": "RBN"}
COMPOUND = {frozenset(parts): letter for letter, parts in COMPONENTS.items()}
_DOUBLE_ROWS = {"a": "34", "b": "34", "c": "34", "d": "234", "e": "23", "f": "23", "g": "123", "h": "123", "i": "123"}
DOUBLES = [column + row for column, rows in _DOUBLE_ROWS.items() for row in rows]
PROMOTING = ["c11", "d11", "e11", "f10", "g10", "h10", "i9", "j9", "k9"]


def name(square: Square) -> str:
    return f"{chr(96 + square[0])}{square[1]}"


def square_of(text: str) -> Square:
    return ord(text[0]) - 96, int(text[1:])


def for_side(names: list[str], white: bool) -> set[Square]:
    squares = {square_of(text) for text in names}
    return squares if white else {(12 - x, 12 - y) for x, y in squares}


@cache
def arena(square: Square) -> int | None:
    return next((number for number, squares in enumerate(ARENAS) if square in squares), None)


@dataclass(frozen=True)
class State:
    board: Board
    white: bool
    passed: tuple[tuple[Square, Square], ...]
    memories: tuple[frozenset[str], frozenset[str]]
    returning: tuple[str, Square] | None
    clock: int
    number: int


def read(text: str) -> State:
    rows, side, passed, memories, returning, clock, number = text.split()
    board = {}
    for rank, row in zip(range(11, 0, -1), rows.split("/"), strict=True):
        x = ord(WIDTHS[rank][0]) - 96
        for token in re.findall(r"\d+|[A-Za-z]", row):
            if token.isdigit():
                x += int(token)
            else:
                board[x, rank] = token
                x += 1
    pairs = re.findall(r"([a-k]\d+)([a-k]\d+)", passed)
    white, black = (frozenset(half) - {"-"} for half in memories.split("/"))
    return State(
        board,
        side == "w",
        tuple((square_of(a), square_of(b)) for a, b in pairs),
        (white, black),
        None if returning == "-" else (returning[0], square_of(returning[2:])),
        int(clock),
        int(number),
    )


def write(state: State) -> str:
    rows = []
    for rank in range(11, 0, -1):
        row = "".join(state.board.get((x, rank), " ") for x in range(1, 12) if (x, rank) in SQUARES)
        rows.append(re.sub(" +", lambda run: str(len(run[0])), row))
    pairs = sorted(name(a) + name(b) for a, b in state.passed)
    memories = ["".join(letter for letter in "RBNK" if letter in memory) or "-" for memory in state.memories]
    returning = f"{state.returning[0]}@{name(state.returning[1])}" if state.returning else "-"
    return (
        f"{'/'.join(rows)} {'w' if state.white else 'b'} {','.join(pairs) or '-'} {'/'.join(memories)} {returning}"
        f" {state.clock} {state.number}"
    )


def zone(board: Board, letters: str) -> set[Square]:
    """Return the squares in the zones of all towers that hold one of ``letters``."""
    return {
        square
        for tower, arenas in TOWERS.items()
        if board.get(tower, " ") in letters
        for number in arenas
        for square in ARENAS[number]
    }


def step(board: Board, square: Square, way: Square) -> Square | None:
    """Return the square one orthogonal step away (section 3.1)."""
    here = arena(square)
    plain = (square[0] + way[0], square[1] + way[1])
    if here is not None:
        place = ARENAS[here].index(square)
        c, r = place // 3 + way[0], place % 3 + way[1]
        column, row = here % 3 + way[0], here // 3 + way[1]
        leaves = not (0 <= c < 3 and 0 <= r < 3)
        if leaves and 0 <= column < 3 and 0 <= row < 3:
            there = row * 3 + column
            for tower, arenas in TOWERS.items():
                if board.get(tower, " ") in "Nn" and here in arenas and there in arenas:
                    return ARENAS[there][c % 3 * 3 + r % 3]
    return plain if plain in SQUARES else None


def diagonal(board: Board, square: Square, way: Square) -> Square | None:
    there = (square[0] + way[0], square[1] + way[1])
    return there if there in SQUARES else None


def line(board: Board, square: Square, way: Square, most: int = 99) -> Iterator[Square]:
    """Yield the squares of a line up to ``most`` steps, the first one held by a piece included."""
    move = step if 0 in way else diagonal
    there = move(board, square, way)
    while there is not None and most > 0:
        yield there
        if there in board:
            return
        there = move(board, there, way)
        most -= 1


def own(letter: str, white: bool) -> bool:
    return letter.isupper() == white


def forward(white: bool) -> int:
    return 1 if white else -1
