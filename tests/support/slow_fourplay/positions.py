"""Positions by chance: whole boards and dense corners, frozen armies, attachments, trades, promotions, set-ups."""

import random

from tests.support.slow_fourplay.board import (
    CORNERS,
    LIMITS,
    NEUTRON,
    SQUARES,
    VALUES,
    Piece,
    Square,
    State,
    in_quadrant,
    write,
)

CLOCKS = (0, 0, 1, 9, 10, 11, 42, 57, 98, 99, 99, 99, 100)


def random_position(rng: random.Random) -> str:
    """Return a position of the play phase, its pieces strewn over the board or over a small part of it."""
    out = "".join(rng.sample("rbyg", rng.choice((0, 0, 0, 0, 1, 1, 1, 2, 2, 2, 2, 3))))
    state = State({}, rng.choice([letter for letter in "rbyg" if letter not in out]), "play", out, {}, 0)
    centre, far = rng.choice([*CORNERS.values(), NEUTRON, *rng.sample(SQUARES, 3)]), rng.choice((2, 3, 5, 14))
    near = [square for square in SQUARES if max(abs(a - b) for a, b in zip(square, centre, strict=True)) <= far]
    rng.shuffle(near)
    for owner in state.survivors():
        put(state, owner, "K", near.pop() if rng.random() < 0.3 else rng.choice(SQUARES), rng)
    near += rng.sample(SQUARES, rng.choice((0, 5, 40)))
    kinds = rng.choice((list(LIMITS), list(LIMITS), ["Mu", "Dg", "Q", ","], ["Mu", *rng.sample(list(LIMITS), 2)]))
    for square in near[: rng.choice((0, 0, 3, 10, 25, 60, 120))]:
        put(state, rng.choice("rbyg" + state.side * 2), rng.choice(kinds), square, rng)
    for lay in rng.choice(((), (lay_trade,), (lay_promotion,), (lay_trade, lay_promotion))):
        lay(state, rng)
    return finished(state, rng)


def put(state: State, owner: str, code: str, square: Square, rng: random.Random) -> None:
    """Add a piece where the limits, the quadrant of an Archer and the square allow it; a King finds another square."""
    while code == "K" and (square == NEUTRON or state.at(square) is not None):
        square = rng.choice(SQUARES)
    free = square in SQUARES and square != NEUTRON and state.at(square) is None
    fits = free and len(state.of(owner, code)) < LIMITS[code]
    if fits and (code != "A" or in_quadrant(owner, square)) and (code != "K" or owner in state.survivors()):
        state.pieces[len(state.pieces)] = Piece(owner, code, square)
        state.squares[square] = len(state.pieces) - 1


def lay_trade(state: State, rng: random.Random) -> None:
    """Put a Queen, or a Mutator beside one, on a line with the King of the side to move, a piece or so between."""
    column, row = state.of(state.side, "K")[0].square
    across, up = rng.choice([(a, b) for a in (-1, 0, 1) for b in (-1, 0, 1) if a or b])
    line = [(column + across * n, row + up * n) for n in range(1, rng.randrange(3, 9))]
    line = [square for square in line if square in SQUARES]
    if len(line) > 1:
        start = line.pop()
        put(state, state.side, rng.choice(("Q", "Mu")), start, rng)
        put(state, rng.choice("rbyg"), "Q", (start[0] + up, start[1] - across), rng)
        for square in rng.sample(line, min(len(line), rng.choice((0, 1, 1, 1, 2)))):
            put(state, rng.choice("rbyg"), rng.choice(("G", ",", "B", "VM")), square, rng)


def lay_promotion(state: State, rng: random.Random) -> None:
    """Put Ants and Mutators of the side to move beside a corner, and raise some of its types to their limits."""
    corner = CORNERS[rng.choice("rbyg")]
    beside = [square for square in SQUARES if max(abs(a - b) for a, b in zip(square, corner, strict=True)) == 1]
    for square in beside:
        put(state, rng.choice(state.side * 2 + "rbyg"), rng.choice((",", "Mu")), square, rng)
    put(state, rng.choice("rbyg"), rng.choice(("G", "Dg", "VM")), corner, rng)
    for code in rng.sample([code for code in LIMITS if code not in "KA"], 3):
        for _ in range(LIMITS[code]):
            put(state, state.side, code, rng.choice(SQUARES), rng)


def finished(state: State, rng: random.Random) -> str:
    """Return the string of the position with attachments and a clock by chance."""
    for number, piece in state.pieces.items():
        others = [other for other in state.pieces if other != number]
        if piece.code == "Dg" and rng.random() < 0.6 and others:
            state.hosts[number] = rng.choice(others)
    return write(state)[:-1] + str(rng.choice(CLOCKS))


def random_set_up(rng: random.Random) -> str:
    """Return a position of the set-up phase: finished armies, one begun, near the end of the money or the limits."""
    side = rng.choice("rbyg")
    state = State({}, side, "setup", "", {}, 0)
    for owner in "rbyg"[: "rbyg".index(side) + 1]:
        home = [square for square in SQUARES if in_quadrant(owner, square)]
        rng.shuffle(home)
        least = 51 if owner != side else rng.choice((-1, 0, 20, 50, 51, 53, 58, 59, 60))
        cost = 0
        codes = ["K"] if least >= 0 else []
        while codes:
            code = codes.pop()
            square = home.pop()
            if code == "," and square in CORNERS.values():
                square = home.pop()
            put(state, owner, code, square, rng)
            cost += VALUES[code]
            if cost < least:
                open_ = [c for c in VALUES if cost + VALUES[c] <= 60 and len(state.of(owner, c)) < LIMITS[c]]
                codes = [rng.choice(open_)] if open_ else []
    return write(state)
