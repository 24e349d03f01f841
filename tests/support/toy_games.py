"""Small games whose perfect play is known, to try a search that knows no game."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from domain.game import NOISY_GAIN, Game, M, Outcome, P, Setup

LINES = (0b111, 0b111000, 0b111000000, 0b1001001, 0b10010010, 0b100100100, 0b100010001, 0b1010100)


class Toy(Game[P, M]):
    """A game without notation and pictures, which no search asks for."""

    id, title, blurb, goal, ending = "toy", "Toy", "", "", "It ends."
    reasons = {}

    def key(self, position: P) -> P:
        return position

    def gains(self, position: P, moves: Sequence[M]) -> list[int]:
        """Any move may change everything, so that the search prunes none for looking quiet."""
        return [NOISY_GAIN + 10_000] * len(moves)


class Noughts(Toy[tuple[int, int, int], int]):
    """Noughts and crosses: nine bits a seat and the side to move. Perfect play draws."""

    setups = {"start": Setup("start", "Start", ("Crosses", "Noughts"), ("white", "black"), "")}

    def initial(self, setup: str) -> tuple[int, int, int]:
        return (0, 0, 0)

    def to_move(self, position: tuple[int, int, int]) -> int:
        return position[2]

    def outcome(self, position: tuple[int, int, int], history: Sequence[object]) -> Outcome | None:
        for seat in (0, 1):
            if any(position[seat] & line == line for line in LINES):
                return Outcome((1.0 - seat, float(seat)), "line")
        return Outcome((0.5, 0.5), "full") if position[0] | position[1] == 511 else None

    def legal_moves(self, position: tuple[int, int, int]) -> list[int]:
        if self.outcome(position, ()) is not None:
            return []
        return [cell for cell in range(9) if not (position[0] | position[1]) >> cell & 1]

    def play(self, position: tuple[int, int, int], move: int) -> tuple[int, int, int]:
        crosses, noughts, seat = position
        return (crosses, noughts | 1 << move, 0) if seat else (crosses | 1 << move, noughts, 1)

    def evaluate(self, position: tuple[int, int, int], seat: int) -> int:
        return 0


NOUGHTS = Noughts()


class Node(NamedTuple):
    """A position of a drawn game graph: whose turn, what follows, how it looks to seat 0, how it ends.

    ``unlisted`` are moves that the game does not list.
    """

    seat: int = 0
    moves: tuple[str, ...] = ()
    looks: int = 0
    scores: tuple[float, ...] | None = None
    noisy: tuple[str, ...] = ()
    declinable: bool = True
    unlisted: tuple[str, ...] = ()


class Graph(Toy[str, str]):
    """A game drawn as a graph: a move is the name of the position that it leads to. The third repetition draws."""

    def __init__(self, nodes: Mapping[str, Node], seats: int) -> None:
        super().__init__()
        self.nodes = nodes
        names = ("Alpha", "Beta", "Gamma", "Delta")[:seats]
        self.setups = {"start": Setup("start", "Start", names, ("white", "black", "red", "blue")[:seats], "")}

    def initial(self, setup: str) -> str:
        return next(iter(self.nodes))

    def to_move(self, position: str) -> int:
        return self.nodes[position].seat

    def legal_moves(self, position: str) -> tuple[str, ...]:
        return self.nodes[position].moves

    def play(self, position: str, move: str) -> str:
        return move

    def outcome(self, position: str, history: Sequence[str]) -> Outcome | None:
        scores = self.nodes[position].scores
        if scores is not None:
            return Outcome(scores, "ended")
        repeated = list(history).count(position) >= 2
        return Outcome((1 / self.seats,) * self.seats, "repetition") if repeated else None

    def evaluate(self, position: str, seat: int) -> int:
        looks = self.nodes[position].looks
        return looks if seat == 0 else -looks

    def noisy_moves(self, position: str) -> tuple[str, ...]:
        return self.nodes[position].noisy

    def is_forced(self, position: str) -> bool:
        return not self.nodes[position].declinable

    def any_unlisted_move(self, position: str) -> str | None:
        return next(iter(self.nodes[position].unlisted), None)

    def unlisted_candidates(self, position: str, limit: int) -> list[str]:
        return list(self.nodes[position].unlisted[:limit])


def graph(nodes: Mapping[str, Node], seats: int = 2) -> Graph:
    """Return the game of ``nodes``; the first of them is the start position."""
    return Graph(nodes, seats)
