"""The board, the pieces and the position string (rules, sections 1, 2 and 9)."""

import re
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

Square = tuple[int, int]

SQUARES = [(column, row) for column in range(1, 16) for row in range(1, 16)]
NEUTRON = (8, 8)
CORNERS = {"r": (1, 1), "b": (1, 15), "y": (15, 15), "g": (15, 1)}
VALUES = {"K": 0, "A": 10, "Dg": 7, "Q": 15, "Mu": 7, "G": 1, "R": 5, "B": 3, ",": 1, "VM": 2, "HM": 2}
LIMITS = {"K": 1, "A": 2, "Dg": 2, "Q": 1, "Mu": 7, "G": 6, "R": 2, "B": 2, ",": 4, "VM": 4, "HM": 4}


class Piece(NamedTuple):
    owner: str
    code: str
    square: Square


@dataclass(frozen=True)
class State:
    """Pieces by identity; the identity of the host by that of its dog; the eliminated in order."""

    pieces: dict[int, Piece]
    side: str
    phase: str
    out: str
    hosts: dict[int, int]
    clock: int

    @cached_property
    def squares(self) -> dict[Square, int]:
        return {piece.square: number for number, piece in self.pieces.items()}

    def at(self, square: Square) -> int | None:
        return self.squares.get(square)

    def of(self, owner: str, code: str | None = None) -> list[Piece]:
        return [piece for piece in self.pieces.values() if piece.owner == owner and code in (None, piece.code)]

    def survivors(self) -> str:
        return "".join(letter for letter in "rbyg" if letter not in self.out)


def name(square: Square) -> str:
    return f"{chr(96 + square[0])}{square[1]}"


def square_of(text: str) -> Square:
    if not re.fullmatch(r"[a-o]([1-9]|1[0-5])", text):
        raise ValueError(f"{text} is no square")
    return ord(text[0]) - 96, int(text[1:])


def in_quadrant(owner: str, square: Square) -> bool:
    """Return whether each coordinate is one of the seven nearest to the corner of ``owner``."""
    return all(abs(here - there) <= 6 for here, there in zip(square, CORNERS[owner], strict=True))


def spent(state: State, owner: str) -> int:
    return sum(VALUES[piece.code] for piece in state.of(owner))


def write(state: State) -> str:
    signs = {NEUTRON: "*"} | {piece.square: piece.owner + piece.code for piece in state.pieces.values()}
    rows = ["".join(signs.get((column, row), " ") for column in range(1, 16)) for row in range(15, 0, -1)]
    pairs = sorted((state.pieces[dog].square, state.pieces[host].square) for dog, host in state.hosts.items())
    dogs = ";".join(f"{name(dog)}>{name(host)}" for dog, host in pairs)
    board = re.sub(" +", lambda run: str(len(run[0])), "/".join(rows))
    return f"{board} {state.side} {state.phase} {state.out or '-'} {dogs or '-'} {state.clock}"


def read(text: str) -> State:
    """Return the state that ``text`` writes; raise ``ValueError`` for each thing that section 9 has a parser refuse."""
    board, side, phase, out, dogs, clock = text.split(" ")
    rows = board.split("/")
    pieces: dict[int, Piece] = {}
    neutrons = []
    require(len(rows) == 15, "fifteen rows")
    for row, squares in zip(range(15, 0, -1), rows, strict=True):
        column = 1
        tokens = re.findall(r"[0-9]+|[rbyg](?:K|A|Dg|Q|Mu|G|R|B|,|VM|HM)|\*|.", squares, re.DOTALL)
        for token in tokens:
            if re.fullmatch("[1-9]|1[0-5]", token):
                column += int(token)
                continue
            require(token == "*" or token[1:] in LIMITS, "only pieces and numbers from 1 to 15")
            if token == "*":
                neutrons.append((column, row))
            else:
                pieces[len(pieces)] = Piece(token[0], token[1:], (column, row))
            column += 1
        require(column == 16, "fifteen squares")
    require(neutrons == [NEUTRON], "the Neutron on h8")
    require(side in ("r", "b", "y", "g") and phase in ("setup", "play"), "a side and a phase")
    require(re.fullmatch("-|[rbyg]{1,3}", out) is not None and len(set(out)) == len(out), "who is out")
    require(re.fullmatch("0|[1-9][0-9]?|100", clock) is not None, "a clock")
    state = State(pieces, side, phase, out.strip("-"), {}, int(clock))
    require(side not in state.out, "a side that is not out")
    attach(state, dogs)
    for owner in "rbyg":
        for code, limit in LIMITS.items():
            require(len(state.of(owner, code)) <= limit, "no more pieces than the limits")
        require(all(in_quadrant(owner, archer.square) for archer in state.of(owner, "A")), "Archers at home")
        if phase == "play":
            require(len(state.of(owner, "K")) == (owner in state.survivors()), "one King to each survivor")
    if phase == "setup":
        require((out, dogs, clock) == ("-", "-", "0"), "nothing but pieces")
        for owner in "rbyg":
            check_sitting(state, owner)
    return state


def attach(state: State, dogs: str) -> None:
    last = (0, 0)
    for entry in dogs.split(";") if dogs != "-" else []:
        dog_square, host_square = map(square_of, entry.split(">"))
        dog, host = state.at(dog_square), state.at(host_square)
        if dog is None or host is None or dog == host or state.pieces[dog].code != "Dg" or dog_square <= last:
            raise ValueError(entry)
        state.hosts[dog] = host
        last = dog_square


def check_sitting(state: State, owner: str) -> None:
    pieces = state.of(owner)
    require(spent(state, owner) <= 60, "sixty at most")
    require(all(in_quadrant(owner, piece.square) for piece in pieces), "pieces at home")
    require(not any(piece.code == "," and piece.square in CORNERS.values() for piece in pieces), "no Ant on a corner")
    turn = "rbyg".index(owner) - "rbyg".index(state.side)
    if turn < 0:
        require(spent(state, owner) >= 51, "fifty-one at least")
    if turn > 0:
        require(not pieces, "one sitting after the other")
    elif turn < 0 or pieces:
        require(bool(state.of(owner, "K")), "the King first")


def require(holds: bool, what: str) -> None:
    if not holds:
        raise ValueError(f"not a position: {what}")


def between(start: Square, target: Square) -> list[Square] | None:
    """Return the squares strictly between two on a line, None when they are not on one."""
    across, up = target[0] - start[0], target[1] - start[1]
    if start == target or (across and up and abs(across) != abs(up)):
        return None
    far = max(abs(across), abs(up))
    return [(start[0] + across // far * n, start[1] + up // far * n) for n in range(1, far)]


def bends(start: Square, target: Square) -> list[list[Square]]:
    """Return the squares passed over on each straight or once bent way along rows and columns."""
    ways = []
    for corner in {(start[0], target[1]), (target[0], start[1])}:
        legs = [leg for leg in pairwise((start, corner, target)) if leg[0] != leg[1]]
        passed = [square for leg in legs for square in between(*leg) or []]
        ways.append(passed + ([] if corner in (start, target) else [corner]))
    return ways
