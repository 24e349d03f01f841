"""The pushes of Towers in machine integers, for the search (section 3.2)."""

from typing import Final

from domain.machine_integers import i64
from domain.towers.board import CASTLES, HEIGHT, MAX_HEIGHT, RAYS, SIDE, SQUARES
from domain.towers.evaluate import WORTH
from domain.towers.features import FIRST_PUSH

OWNED_WORTH: Final[list[list[int]]] = [[worth >> 80 for worth in WORTH[square]] for square in range(len(SQUARES))]
"""The worth of a tower to the seat that controls it, by square and tower."""

_STEPS: Final[list[int]] = [-SIDE, -1, 1, SIDE]
_REACH: Final[list[int]] = [len(ray) for ray in RAYS]
"""The squares from a square to the edge, by push."""
_HEIGHT: Final[list[int]] = list(HEIGHT)
_CASTLES: Final[i64] = sum(1 << castle for castle in CASTLES)


class Changes:
    """The changes by a push: squares and towers in order, and those of the castles and of the worth of towers."""

    def __init__(self, board: list[int], counts: i64, side: i64) -> None:
        self.board = board
        self.counts_before = counts
        self.side = side
        self.count: i64 = 0
        self.squares: list[int] = [0] * MAX_HEIGHT
        self.towers: list[int] = [0] * MAX_HEIGHT
        self.counts: i64 = 0
        self.own_worth: i64 = 0
        self.all_worth: i64 = 0
        self.on_castle = False

    def topple(self, move: i64) -> None:
        """Note the changes of the push ``move`` (section 3.2)."""
        board = self.board
        push = move - FIRST_PUSH
        here = push >> 2
        step: i64 = _STEPS[push & 3]
        falling: i64 = board[here]
        pieces: i64 = _HEIGHT[falling]
        below: i64 = 1
        ground: i64 = 0
        self.count = 0
        for _ in range(_REACH[push]):
            there = here + step
            tower: i64 = board[there]
            height: i64 = _HEIGHT[tower]
            blocked = height - ground if height > ground else 1
            if blocked >= pieces:
                break
            stays = falling & (1 << 2 * blocked) - 1 | 1 << 2 * blocked
            self._note(here, below + (stays - 1 << 2 * ground))
            falling >>= 2 * blocked
            pieces -= blocked
            here = there
            below = tower
            ground = height
        self._note(here, below + (falling - 1 << 2 * ground))

    def _note(self, square: i64, tower: i64) -> None:
        self.squares[self.count] = square
        self.towers[self.count] = tower
        self.count += 1

    def judge(self) -> None:
        """Sum up the castle counts, and the worth of towers to the side to move and to all seats."""
        self.counts = self.counts_before
        self.own_worth = 0
        self.all_worth = 0
        self.on_castle = False
        for number in range(self.count):
            square: i64 = self.squares[number]
            self._add(square, self.board[square], -1)
            self._add(square, self.towers[number], 1)

    def _add(self, square: i64, tower: i64, times: i64) -> None:
        height: i64 = _HEIGHT[tower]
        castle: i64 = _CASTLES >> square & 1
        if castle:
            self.on_castle = True
        if height <= castle:
            return
        seat = tower >> 2 * height - 2 & 3
        worth: i64 = times * OWNED_WORTH[square][tower]
        self.all_worth += worth
        if seat == self.side:
            self.own_worth += worth
        if castle:
            self.counts += times << 4 * seat
            if height == MAX_HEIGHT:
                self.counts += times << 16 + 4 * seat
