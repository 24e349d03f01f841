"""Nim with one heap, for two or three players: the smallest game that fulfils the whole contract.

Players take one or two pieces in turn; the one who takes the last wins. A position string is the heap and the letter of
the side to move: ``a`` or ``b`` with two players, ``x``, ``y`` or ``z`` with three.
"""

from collections.abc import Sequence
from typing import NamedTuple

from domain.errors import GameOver, IllegalMove, MalformedNotation
from domain.facts import repetition_fact
from domain.game import Game, Outcome, Setup
from domain.history import occurrences
from domain.presentation import GameFact, Hint
from domain.scene import Cell, Label, Piece, Scene

SIDES = {2: "ab", 3: "xyz"}
PIECE = Piece(-1, "stone", "o", "piece")


class Heap(NamedTuple):
    """The pieces that are left, the seat to move, and the number of seats."""

    size: int
    seat: int
    seats: int


class TinyNim(Game[Heap, int]):
    """Its facts and its operations: all others have their defaults."""

    id = "tiny"
    title = "Tiny Nim"
    blurb = "A heap of pieces. Players take one or two in turn."
    goal = "Take the last piece."
    ending = "Every move makes the heap smaller."
    setups = {
        "start": Setup("start", "Five pieces", ("First", "Second"), ("white", "black"), "5 a"),
        "three": Setup("three", "Three players", ("Xenia", "Yves", "Zora"), ("red", "blue", "green"), "7 x", (0, 3, 1)),
    }
    reasons = {"empty": "the heap is empty", "repetition": "the position stood for the third time"}
    showcase = "3 b"

    def to_move(self, position: Heap) -> int:
        return position.seat

    def seats_at(self, position: Heap) -> int:
        return position.seats

    def legal_moves(self, position: Heap) -> list[int]:
        return [count for count in (1, 2) if count <= position.size]

    def play(self, position: Heap, move: int) -> Heap:
        return Heap(position.size - move, (position.seat + 1) % position.seats, position.seats)

    def outcome(self, position: Heap, history: Sequence[Heap]) -> Outcome | None:
        if occurrences(position, history, self.key) >= 2:
            return Outcome((1 / position.seats,) * position.seats, "repetition")
        if position.size:
            return None
        winner = (position.seat - 1) % position.seats
        return Outcome(tuple(float(seat == winner) for seat in range(position.seats)), "empty")

    def parse_position(self, text: str) -> Heap:
        size, _, side = text.partition(" ")
        for seats, letters in SIDES.items():
            if len(side) == 1 and side in letters and size in map(str, range(100)):
                return Heap(int(size), letters.index(side), seats)
        raise MalformedNotation(f"{text[:20]!r} is not a number below 100 and a side")

    def format_position(self, position: Heap) -> str:
        return f"{position.size} {SIDES[position.seats][position.seat]}"

    def parse_move(self, position: Heap, text: str) -> int:
        if text not in ("1", "2"):
            raise MalformedNotation(f"{text[:20]!r} is not a number of pieces: 1 or 2")
        if not position.size:
            raise GameOver("the heap is empty")
        if int(text) > position.size:
            raise IllegalMove("the heap has only one piece left")
        return int(text)

    def format_move(self, position: Heap, move: int) -> str:
        return str(move)

    def scene(self, position: Heap) -> Scene:
        column = (PIECE,) * position.size
        cells, labels = (Cell("a1", 0, 0, "light"),), (Label("a", 0.5, 1.2), Label("1", -0.2, 0.5))
        return Scene(1, 1, cells, labels, {"a1": column} if column else {}, {"a1": f"a1: {position.size} pieces"})

    def hints(self, position: Heap) -> dict[str, tuple[Hint, ...]]:
        hints = tuple(Hint(str(move), (), f"take {move}") for move in self.legal_moves(position))
        return {"a1": hints} if hints else {}

    def why_not(self, position: Heap, square: str) -> str | None:
        if square != "a1":
            raise MalformedNotation(f"there is no square {square[:10]}")
        return None if position.size else "the heap is empty"

    def facts(self, position: Heap, history: Sequence[Heap]) -> tuple[GameFact, ...]:
        return (GameFact("Pieces left", None, str(position.size)), *repetition_fact(position, history, self.key))

    def evaluate(self, position: Heap, seat: int) -> int:
        return 0


TINY = TinyNim()
