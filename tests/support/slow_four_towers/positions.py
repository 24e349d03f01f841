"""Positions by chance: crowded ones, and sparse ones with a dragon and a wizard on towers."""

import random

from tests.support.slow_four_towers.board import SQUARES, TOWERS, Board, State, own, write
from tests.support.slow_four_towers.reach import in_check


def crowded_position(rng: random.Random) -> str:
    """Return a position with random pieces, most towers held, random memories, pairs and rights to return."""
    while True:
        board: Board = {}
        free = sorted(SQUARES)
        rng.shuffle(free)
        board[free.pop()] = "K"
        board[free.pop()] = "k"
        for tower in TOWERS:
            if tower not in board and rng.random() < 0.7:
                board[tower] = rng.choice("RBNQMCWDPLrbnqmcwdplNnCcMm")
        for square in free[: rng.randrange(4, 30)]:
            board.setdefault(square, rng.choice("RBNQMCWDPPLLrbnqmcwdppll"))
        white = rng.random() < 0.5
        vacant = sorted(SQUARES - set(board))
        runners = sorted(square for square, letter in board.items() if letter in ("pl" if white else "PL"))
        passed = set()
        for square in rng.sample(runners, min(len(runners), rng.randrange(3))):
            near = [there for there in vacant if max(abs(there[0] - square[0]), abs(there[1] - square[1])) == 1]
            if near:
                passed.add((rng.choice(near), square))
        held = [
            tower for tower in TOWERS if tower in board and own(board[tower], not white) and board[tower] not in "Kk"
        ]
        returning = None
        if held and rng.random() < 0.3:
            letter = rng.choice("RBNQMCWDPL")
            returning = (letter if white else letter.lower(), rng.choice(held))
        memories = tuple(frozenset(rng.sample("RBNK", rng.choice((0, 1, 1, 2)))) for _ in range(2))
        state = State(board, white, tuple(passed), (memories[0], memories[1]), returning, rng.randrange(150), 7)
        if not in_check(state, not white):
            return write(state)


def sparse_position(rng: random.Random) -> str:
    """Return a position with few pieces, a dragon and a wizard of the side to move on towers among them."""
    while True:
        white = rng.random() < 0.5
        towers = rng.sample(list(TOWERS), 4)
        letters = ["D", "W", rng.choice("DNncCmMqQ"), ""]
        board = {tower: letter for tower, letter in zip(towers, letters, strict=True) if letter}
        free = sorted(SQUARES - set(TOWERS))
        rng.shuffle(free)
        for letter in "K" + "".join(rng.choice("RBNQPPLL") for _ in range(2)):
            board[free.pop()] = letter
        for letter in "k" + "".join(rng.choice("rbnqmcwpld") for _ in range(rng.randrange(3))):
            board[free.pop()] = letter
        if not white:
            board = {square: letter.swapcase() for square, letter in board.items()}
        memories = (frozenset(rng.sample("RBNK", 1)), frozenset(rng.sample("RBNK", 1)))
        state = State(board, white, (), memories, None, rng.randrange(150), 7)
        if not in_check(state, not white):
            return write(state)
