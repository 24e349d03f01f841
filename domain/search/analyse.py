"""The analysis of a position for reviews: its best move and the value of any others, from one search."""

from collections.abc import Callable, Sequence
from typing import Final, Generic, NamedTuple, TypeVar

from domain.errors import GameOver
from domain.game import Game, M, P
from domain.search.choose import MAX_DEPTH, root_moves_of
from domain.search.negamax import RootMove, Search

T = TypeVar("T")

MAX_FIRST_NODES: Final = 100_000
"""Nodes that the first ply may take, whatever the budget: without it there is no value."""


class JudgedMove(NamedTuple, Generic[T]):
    """A move, its value for the seat that plays it, as in ``Choice``, and the best play from it on, it included."""

    move: T
    value: int
    line: tuple[T, ...]


class Analysis(NamedTuple, Generic[T]):
    """The best move, the moves asked for in their order, the depth in plies and the nodes visited."""

    best: JudgedMove[T]
    moves: tuple[JudgedMove[T], ...]
    depth: int
    nodes: int


def analyse(
    game: Game[P, M],
    position: P,
    history: Sequence[P],
    nodes: int,
    moves: Sequence[M] = (),
    on_progress: Callable[[int], None] | None = None,
) -> Analysis[M]:
    """Return the best move and the exact values of ``moves``, legal moves, after a search of ``nodes`` nodes.

    All values are of the same depth, so that none exceeds that of the best move. The first ply is completed even when
    the budget is smaller. ``history`` and ``on_progress`` are as in ``choose``; no chance is involved. Raises GameOver
    when there is no move.
    """
    listed, unlisted = root_moves_of(game, position)
    if not listed:
        raise GameOver("the game is over: there is no move to analyse")
    missing = [move for move in moves if move not in listed]
    wanted = set(moves)
    # The moves asked for come first: a best one among equals is then the one that was played.
    ranked = sorted([*listed, *missing], key=lambda move: move not in wanted)
    root_moves = [RootMove(move, 0, move in unlisted, move in wanted) for move in dict.fromkeys(ranked)]
    search = Search(game, game.to_move(position), game.seats_at(position), history, MAX_FIRST_NODES, on_progress)
    analysis: Analysis[M] | None = None
    for iteration in search.iterations(position, root_moves, MAX_DEPTH):
        search.limit_nodes(nodes)
        if not iteration.completed:
            break
        values = {result.root_move.move: result.value for result in iteration.results}
        judged = [
            JudgedMove(move, values[move], search.line(position, move))
            for move in (iteration.results[0].root_move.move, *moves)
        ]
        analysis = Analysis(judged[0], tuple(judged[1:]), iteration.depth, search.nodes)
    if analysis is None:
        raise RuntimeError("the first ply of an analysis takes more nodes than it may")
    return analysis._replace(nodes=search.nodes)
