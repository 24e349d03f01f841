"""Small games whose perfect play is known, to try a search that knows no game."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import NamedTuple

from domain.game import Game, Hint, Outcome, Setup
from domain.scene import Scene

LINES = (0b111, 0b111000, 0b111000000, 0b1001001, 0b10010010, 0b100100100, 0b100010001, 0b1010100)


class _Unwritten(Game[Hashable, Hashable]):
    """A game without notation and pictures, which no search asks for."""

    id = "toy"
    title = "Toy"
    ruleset = 1
    ending = "It ends."

    def is_legal(self, position, move):
        return move in self.legal_moves(position)

    def key(self, position):
        return position

    def parse_position(self, text) -> None:
        raise NotImplementedError

    def format_position(self, position) -> None:
        raise NotImplementedError

    def parse_move(self, position, text) -> None:
        raise NotImplementedError

    def format_move(self, position, move) -> None:
        raise NotImplementedError

    def diagram(self, position) -> None:
        raise NotImplementedError

    def scene(self, position) -> Scene:
        raise NotImplementedError

    def hints(self, position) -> dict[str, tuple[Hint, ...]]:
        raise NotImplementedError

    def order(self, position, moves: Iterable[Hashable]) -> list[Hashable]:
        return list(moves)

    def noisy_moves(self, position) -> tuple[Sequence[Hashable], bool]:
        return (), True


class Noughts(_Unwritten):
    """Noughts and crosses: nine bits a seat and the side to move. Perfect play draws."""

    setups: Mapping[str, Setup] = {"start": Setup("start", "Start", ("Crosses", "Noughts"))}

    def initial(self, setup):
        return (0, 0, 0)

    def to_move(self, position):
        return position[2]

    def legal_moves(self, position):
        if self.outcome(position, ()) is not None:
            return []
        return [cell for cell in range(9) if not (position[0] | position[1]) >> cell & 1]

    def play(self, position, move):
        marks = list(position[:2])
        marks[position[2]] |= 1 << move
        return (*marks, 1 - position[2])

    def outcome(self, position, history):
        for seat in (0, 1):
            if any(position[seat] & line == line for line in LINES):
                return Outcome((1.0 - seat, float(seat)), "line")
        return Outcome((0.5, 0.5), "full") if position[0] | position[1] == 511 else None

    def evaluate(self, position, seat):
        return 0


class Node(NamedTuple):
    """A position of a drawn game graph: whose turn, what follows, how it looks to seat 0, how it ends.

    ``rare`` are moves that the game does not list.
    """

    seat: int = 0
    moves: tuple[str, ...] = ()
    looks: int = 0
    scores: tuple[float, ...] | None = None
    noisy_moves: tuple[str, ...] = ()
    declinable: bool = True
    rare: tuple[str, ...] = ()


class Graph(_Unwritten):
    """A game drawn as a graph: a move is the name of the position that it leads to. The third repetition draws."""

    def __init__(self, nodes: Mapping[str, Node], seats: int = 2) -> None:
        self.nodes = nodes
        names = ("Alpha", "Beta", "Gamma", "Delta")[:seats]
        self.setups = {"start": Setup("start", "Start", names)}

    def initial(self, setup):
        return next(iter(self.nodes))

    def to_move(self, position):
        return self.nodes[position].seat

    def legal_moves(self, position):
        return self.nodes[position].moves

    def candidates(self, position, most):
        return list(self.nodes[position].rare[:most])

    def play(self, position, move):
        return move

    def outcome(self, position, history):
        scores = self.nodes[position].scores
        if scores is not None:
            return Outcome(scores, "ended")
        seats = len(self.seat_names)
        return Outcome((1 / seats,) * seats, "repetition") if list(history).count(position) >= 2 else None

    def evaluate(self, position, seat):
        looks = self.nodes[position].looks
        return looks if seat == 0 else -looks

    def noisy_moves(self, position):
        return self.nodes[position].noisy_moves, self.nodes[position].declinable
