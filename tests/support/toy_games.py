"""Small games whose perfect play is known, to try a search that knows no game."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, NoReturn

from domain.game import NO_UNLISTED_MOVES, Game, Outcome, Setup, UnlistedMoves

LINES = (0b111, 0b111000, 0b111000000, 0b1001001, 0b10010010, 0b100100100, 0b100010001, 0b1010100)


def _unwritten(*_: object) -> NoReturn:
    """Stand for notation and pictures, which no search asks for."""
    raise NotImplementedError


_FACTS: dict[str, Any] = {
    "id": "toy", "title": "Toy", "ruleset": 1, "blurb": "", "goal": "", "ending": "It ends.", "reasons": {},
    "key": lambda position: position, "parse_position": _unwritten, "format_position": _unwritten, "counters": 0,
    "parse_move": _unwritten, "format_move": _unwritten, "read_move": _unwritten, "diagram": _unwritten,
    "scene": _unwritten, "hints": _unwritten, "why_not": _unwritten, "facts": _unwritten,
    "order": lambda position, moves: list(moves),
}  # fmt: skip


def _noughts_outcome(position: tuple[int, int, int], history: Sequence[object]) -> Outcome | None:
    for seat in (0, 1):
        if any(position[seat] & line == line for line in LINES):
            return Outcome((1.0 - seat, float(seat)), "line")
    return Outcome((0.5, 0.5), "full") if position[0] | position[1] == 511 else None


def _noughts_moves(position: tuple[int, int, int]) -> list[int]:
    if _noughts_outcome(position, ()) is not None:
        return []
    return [cell for cell in range(9) if not (position[0] | position[1]) >> cell & 1]


def _noughts_play(position: tuple[int, int, int], move: int) -> tuple[int, int, int]:
    crosses, noughts, seat = position
    return (crosses, noughts | 1 << move, 0) if seat else (crosses | 1 << move, noughts, 1)


NOUGHTS: Game[tuple[int, int, int], int] = Game(
    **_FACTS, setups={"start": Setup("start", "Start", ("Crosses", "Noughts"), ("white", "black"), "")},
    initial=lambda setup: (0, 0, 0), to_move=lambda position: position[2], legal_moves=_noughts_moves,
    is_legal=lambda position, move: move in _noughts_moves(position), play=_noughts_play, outcome=_noughts_outcome,
    evaluate=lambda position, seat: 0, noisy_moves=lambda position: ((), True),
)  # fmt: skip
"""Noughts and crosses: nine bits a seat and the side to move. Perfect play draws."""


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


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Graph(Game[str, str]):
    """A game drawn as a graph: a move is the name of the position that it leads to. The third repetition draws."""

    nodes: Mapping[str, Node]


def graph(nodes: Mapping[str, Node], seats: int = 2) -> Graph:
    """Return the game of ``nodes``; the first of them is the start position."""
    names = ("Alpha", "Beta", "Gamma", "Delta")[:seats]

    def outcome(position: str, history: Sequence[str]) -> Outcome | None:
        scores = nodes[position].scores
        if scores is not None:
            return Outcome(scores, "ended")
        return Outcome((1 / seats,) * seats, "repetition") if list(history).count(position) >= 2 else None

    def evaluate(position: str, seat: int) -> int:
        looks = nodes[position].looks
        return looks if seat == 0 else -looks

    return Graph(
        **_FACTS,
        nodes=nodes,
        setups={"start": Setup("start", "Start", names, ("white", "black", "red", "blue")[:seats], "")},
        initial=lambda setup: next(iter(nodes)),
        to_move=lambda position: nodes[position].seat,
        legal_moves=lambda position: nodes[position].moves,
        unlisted=UnlistedMoves(
            any_move=NO_UNLISTED_MOVES.any_move,
            candidates=lambda position, limit: list(nodes[position].unlisted[:limit]),
            compositions=NO_UNLISTED_MOVES.compositions,
            compose=NO_UNLISTED_MOVES.compose,
        ),
        is_legal=lambda position, move: move in nodes[position].moves,
        play=lambda position, move: move,
        outcome=outcome,
        evaluate=evaluate,
        noisy_moves=lambda position: (nodes[position].noisy, nodes[position].declinable),
    )
