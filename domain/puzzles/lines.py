"""Positions in which few moves are far better than all others, and the lines in which it stays so."""

from collections.abc import Collection, Sequence
from typing import Any, Final, NamedTuple

from domain.game import AnyGame
from domain.puzzles.puzzle import TRIALS
from domain.search.analyse import analyse
from domain.search.choose import MAX_DEPTH, choose, node_budget, root_moves_of
from domain.search.negamax import RootMove, Search

MIN_MOVES: Final = 4
"""Legal moves of a position with something to choose."""

MAX_VALUE_BEFORE: Final = 300
"""A seat that stands so much better already has nothing to win by a puzzle."""

MIN_VALUE: Final = 200
"""A good move brings its player so much, in hundredths of the smallest piece."""

MAX_OTHER_VALUE: Final = 250
"""All other moves bring at most so much: they do not win."""

MIN_GAP: Final = 250
"""A good move must be worth so much more than all others.

By expected points this would ask for a lead of seven men in Bashni, whose fitted curve is flat."""

NEAR: Final = 50
"""A move that is worth at most so much less than the best is as good."""

FOUR_SEATS: Final = 2
"""These values are divided by it among four: a piece taken from one other is only a part of the lead over all."""

MAX_FAMILY: Final = 3
"""Moves of a choice that may be about as good as the best."""

MAX_VALUE: Final = 3_000
"""Higher values count as this one: by then a game is decided."""

MAX_CHOICES: Final = 2
"""Moves that the solver has to find at most; a single legal move counts for nothing."""

MAX_LINE_PLIES: Final = 7

REPLY_SHARE: Final = 4
"""Replies are searched with this part of the nodes."""


class Choices(NamedTuple):
    """The moves that are about as good as the best one, which comes first; the value of the best, and of all others.

    Values are in hundredths of the smallest piece. Where no move is left, the others count as lost.
    """

    moves: tuple[Any, ...]
    best: int
    others: int


class Solution(NamedTuple):
    """A position and its solution in canonical notation.

    ``line`` has the replies as well. ``alternatives`` are moves as good as the last one of the line that is to be
    found; ``choices`` counts these, ``factor`` is the nodes of the search that has confirmed them, by those of level 8.
    """

    position: str
    line: tuple[str, ...]
    alternatives: tuple[str, ...]
    choices: int
    factor: int


def level_nodes(game: AnyGame) -> int:
    """Return the nodes of level 8."""
    return node_budget(game.id, 8)


def may_be_puzzle(game: AnyGame, position: Any) -> bool:
    """Return whether a position, without a search, has moves to choose from and something to win."""
    if game.evaluate(position, game.to_move(position)) > MAX_VALUE_BEFORE:
        return False
    return len(list(game.legal_moves(position))) >= MIN_MOVES


def _pause(_: int) -> None:
    """Do nothing: compiled code gives other threads, which renew a lease, a turn only where it calls Python."""


def best_of(
    game: AnyGame, position: Any, history: Sequence[Any], nodes: int, without: Collection[Any] = ()
) -> tuple[Any, int]:
    """Return the best move and its value by a search of ``nodes`` nodes; None and a lost game if no move is left."""
    moves = [move for move in root_moves_of(game, position)[0] if move not in without]
    if not moves:
        return None, -MAX_VALUE
    search = Search(game, game.to_move(position), game.seats_at(position), history, nodes, _pause)
    choice = search.best(position, [RootMove(move, 0) for move in moves], MAX_DEPTH)
    return choice.move, max(-MAX_VALUE, min(MAX_VALUE, choice.value))


def choices_at(
    game: AnyGame, position: Any, history: Sequence[Any], nodes: int, best: tuple[Any, int] | None = None
) -> Choices | None:
    """Return the good moves of a position if they stand out from all others; ``best`` saves the first search."""
    move, value = best or best_of(game, position, history, nodes)
    good, divisor = [move], divisor_at(game, position)
    while value >= MIN_VALUE // divisor and len(good) <= MAX_FAMILY:
        move, other = best_of(game, position, history, nodes, good)
        if move is None or other < value - NEAR // divisor:
            return Choices(tuple(good), value, other) if _is_much_better(value, other, divisor) else None
        good.append(move)
    return None


def divisor_at(game: AnyGame, position: Any) -> int:
    """Return the number by which these values are divided in a position."""
    return 1 if game.seats_at(position) == 2 else FOUR_SEATS


def _is_much_better(value: int, other: int, divisor: int) -> bool:
    """Return whether a move of ``value`` is good, and much better than one of the value ``other``."""
    return value >= MIN_VALUE // divisor and other <= MAX_OTHER_VALUE // divisor and value - other >= MIN_GAP // divisor


def obvious_move(game: AnyGame, position: Any) -> Any:
    """Return the move after which the board looks best, without a search."""
    seat = game.to_move(position)
    return max(root_moves_of(game, position)[0], key=lambda move: game.evaluate(game.play(position, move), seat))


def is_obvious(game: AnyGame, puzzle: Solution) -> bool:
    """Return whether the only choice of a puzzle is the obvious move."""
    if puzzle.choices > 1:
        return False
    position = game.parse_position(puzzle.position)
    first = (puzzle.line[0], *(puzzle.alternatives if len(puzzle.line) == 1 else ()))
    return game.format_move(position, obvious_move(game, position)) in first


def _unless_obvious(game: AnyGame, puzzle: Solution) -> Solution | None:
    return None if is_obvious(game, puzzle) else puzzle


def solve(game: AnyGame, text: str, factor: int) -> Solution | None:
    """Return the puzzle of a position, which has no history, by searches of ``factor`` times the nodes of level 8.

    Replies are those of the engine. The line ends where no move stands out any more, or with several that are as good,
    and goes on only through single legal moves. None where no move stands out, or only an obvious one.
    """
    nodes, position = factor * level_nodes(game), game.parse_position(text)
    solver = game.to_move(position)
    is_duel = game.seats_at(position) == 2
    history: tuple[Any, ...] = ()
    line: list[str] = []
    alternatives: tuple[str, ...] = ()
    length = choices = 0
    while len(line) < MAX_LINE_PLIES and game.outcome(position, history) is None:
        legal, _ = root_moves_of(game, position)
        mine = game.to_move(position) == solver
        if len(legal) == 1:
            move = legal[0]
        elif not mine:
            if not is_duel:
                break
            move, _ = best_of(game, position, history, nodes // REPLY_SHARE)
        else:
            seen = None if choices == MAX_CHOICES or alternatives else choices_at(game, position, history, nodes)
            if seen is None:
                break
            move, choices = seen.moves[0], choices + 1
            alternatives = tuple(game.format_move(position, other) for other in seen.moves[1:])
            if alternatives:
                line.append(game.format_move(position, move))
                length = len(line)
                break
        line.append(game.format_move(position, move))
        length = len(line) if mine else length
        history, position = (*history, position), game.play(position, move)
    return (
        _unless_obvious(game, Solution(text, tuple(line[:length]), alternatives, choices, factor)) if choices else None
    )


def confirm(game: AnyGame, puzzle: Solution, factor: int) -> Solution | None:
    """Return ``puzzle`` as searches of ``factor`` times the nodes of level 8 confirm it; None if they do not.

    None, too, if only an obvious move is left.

    At each choice the moves of the solution must still be worth MIN_VALUE, and MIN_GAP more than the best of all
    others, which a search without them values. Where the second choice fails, the line ends with the first.
    """
    nodes, position = factor * level_nodes(game), game.parse_position(puzzle.position)
    solver = game.to_move(position)
    history: tuple[Any, ...] = ()
    confirmed: list[int] = []
    for ply, text in enumerate(puzzle.line):
        if game.to_move(position) == solver and len(root_moves_of(game, position)[0]) > 1:
            accepted = (text, *(puzzle.alternatives if ply == len(puzzle.line) - 1 else ()))
            if not _stand_out(game, position, history, [game.parse_move(position, move) for move in accepted], nodes):
                break
            confirmed.append(ply)
        history, position = (*history, position), game.play(position, game.parse_move(position, text))
    if not confirmed:
        return None
    confirmed_puzzle = puzzle._replace(factor=factor)
    if len(confirmed) < puzzle.choices:
        line = puzzle.line[: confirmed[-1] + 1]
        confirmed_puzzle = confirmed_puzzle._replace(line=line, alternatives=(), choices=len(confirmed))
    return _unless_obvious(game, confirmed_puzzle)


def _stand_out(game: AnyGame, position: Any, history: Sequence[Any], moves: Sequence[Any], nodes: int) -> bool:
    analysis = analyse(game, position, history, nodes, moves, _pause)
    if analysis.best.move not in moves:
        return False
    value = min(MAX_VALUE, *(judged.value for judged in analysis.moves))
    _, others = best_of(game, position, history, nodes, moves)
    return _is_much_better(value, others, divisor_at(game, position))


def solves(game: AnyGame, puzzle: Solution, level: int, seed: int) -> bool:
    """Return whether an opponent finds all moves of the solver."""
    position: Any = game.parse_position(puzzle.position)
    solver, last = game.to_move(position), len(puzzle.line) - 1
    for ply, text in enumerate(puzzle.line):
        move = game.parse_move(position, text)
        if game.to_move(position) == solver:
            chosen = game.format_move(position, choose(game, position, (), level, seed, on_progress=_pause).move)
            if chosen != text and not (ply == last and chosen in puzzle.alternatives):
                return False
        position = game.play(position, move)
    return True


def count_solved(game: AnyGame, puzzle: Solution) -> tuple[int, ...]:
    """Return the number of TRIALS in which each level solves a puzzle, from level 1 on."""
    return tuple(sum(solves(game, puzzle, level, seed) for seed in range(of)) for level, of in enumerate(TRIALS, 1))
