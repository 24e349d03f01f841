"""The engine's findings in one position of a match: the best move and the played one, valued by one search."""

from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any, Final, NamedTuple

from domain.game import AnyGame
from domain.search import analyse
from domain.search.expectation import expected_points
from domain.search.proof import prove
from domain.search.values import clamp_evaluation

NEAR_BEST: Final = 200
"""A move that loses at most this many ten-thousandths of a point is as good as the best."""

MAX_RIVALS: Final = 3
"""Moves beside the played one whose exact value the search is asked for: those that look best at first."""

PROOF_SHARE: Final = 4
"""A win is looked for with this part of the nodes."""

MAX_LINE_PLIES: Final = 6
"""Plies of a line over which facts are compared and that are kept."""


class FactDifference(NamedTuple):
    """A fact about a seat which two lines leave differently."""

    title: str
    seat: int
    after_played: str
    after_best: str


class Finding(NamedTuple):
    """The findings of the engine before a ply, in canonical notation.

    ``expected`` are the points that each seat may expect from the best move on, in ten-thousandths, ``loss`` those that
    the played move costs its seat. ``rival_loss`` is the loss of the best other move of those that look best at first,
    None without one. ``choices`` counts the legal moves that are listed, ``near_best`` those that look as good as the
    best at first; a single choice is not judged. ``missed_win`` is the line of the longest resistance of a win that a
    proof-number search has proven, where the played move is another one and lost something.
    """

    ply: int
    seat: int
    played: str
    best: str
    expected: tuple[int, ...]
    loss: int
    rival_loss: int | None
    choices: int
    near_best: int
    played_line: tuple[str, ...]
    best_line: tuple[str, ...]
    differences: tuple[FactDifference, ...]
    nodes: int
    missed_win: tuple[str, ...] = ()


def examine(
    game: AnyGame,
    position: Any,
    history: Sequence[Any],
    played: Any,
    nodes: int,
    on_progress: Callable[[int], None] | None = None,
) -> Finding:
    """Return the findings of a search of ``nodes`` nodes in ``position``, in which the legal move ``played`` was made.

    ``history`` is the earlier positions, oldest first, ``on_progress`` as in ``choose``. Raises GameOver when there is
    no move.
    """
    seat, ply = game.to_move(position), len(history) + 1

    def points(value: int) -> tuple[int, ...]:
        return expected_points(game, seat_scores(game, position, seat, value))

    legal = list(game.legal_moves(position))
    if len(legal) == 1 and played == legal[0]:
        value = clamp_evaluation(game.evaluate(position, seat))
        text = game.format_move(position, played)
        return Finding(ply, seat, text, text, points(value), 0, None, 1, 1, (text,), (text,), (), 0)
    # All moves at the least depth: which of them look good, and whether the choice mattered.
    glance = analyse(game, position, history, 1, legal, on_progress)
    ranked = sorted(glance.moves, key=lambda candidate: -candidate.value)
    top = points(glance.best.value)[seat]
    near = sum(top - points(candidate.value)[seat] <= NEAR_BEST for candidate in ranked)
    rivals = list(islice((candidate.move for candidate in ranked if candidate.move != played), MAX_RIVALS))
    analysis = analyse(game, position, history, nodes, [played, *rivals], on_progress)
    best, (of_played, *of_rivals) = analysis.best, analysis.moves
    expected = points(best.value)
    loss = expected[seat] - points(of_played.value)[seat]
    values = [rival.value for rival in of_rivals]
    if best.move != played:
        values.append(best.value)
    lines = [_cut(line, of_played.line, best.line) for line in (of_played.line, best.line)]
    return Finding(
        ply=ply,
        seat=seat,
        played=game.format_move(position, played),
        best=game.format_move(position, best.move),
        expected=expected,
        loss=loss,
        rival_loss=expected[seat] - points(max(values))[seat] if values else None,
        choices=len(legal),
        near_best=near,
        played_line=_formatted(game, position, of_played.line),
        best_line=_formatted(game, position, best.line),
        differences=() if best.move == played else _differences(game, position, history, *lines),
        nodes=analysis.nodes,
        missed_win=_missed_win(game, position, history, played, nodes // PROOF_SHARE, on_progress) if loss else (),
    )


def analyse_position(
    game: AnyGame, position: Any, history: Sequence[Any], nodes: int
) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Return the points that each seat may expect in ``position``, in ten-thousandths, and the best play.

    Raises GameOver when there is no move.
    """
    best = analyse(game, position, history, nodes).best
    expected = expected_points(game, seat_scores(game, position, game.to_move(position), best.value))
    return expected, _formatted(game, position, best.line)


def _missed_win(
    game: AnyGame,
    position: Any,
    history: Sequence[Any],
    played: Any,
    nodes: int,
    on_progress: Callable[[int], None] | None,
) -> tuple[str, ...]:
    proof = prove(game, position, history, nodes, on_progress)
    if proof is None or proof.line[0] == played:
        return ()
    return _formatted(game, position, proof.line, len(proof.line))


def seat_scores(game: AnyGame, position: Any, seat: int, value: int) -> list[int]:
    """Return the scores of all seats where that of ``seat``, to move, is ``value``, for ``expected_points``.

    The search values one seat only. Of more than two seats, the others have the evaluation of the present position.
    """
    if game.seats_at(position) == 2:
        return [value if other == seat else -value for other in range(2)]
    seats = range(game.seats_at(position))
    return [value if other == seat else clamp_evaluation(game.evaluate(position, other)) for other in seats]


def _cut(line: Sequence[Any], *lines: Sequence[Any]) -> Sequence[Any]:
    return line[: min(MAX_LINE_PLIES, *map(len, lines))]


def _formatted(game: AnyGame, position: Any, line: Sequence[Any], most: int = MAX_LINE_PLIES) -> tuple[str, ...]:
    texts = []
    for move in line[:most]:
        texts.append(game.format_move(position, move))
        position = game.play(position, move)
    return tuple(texts)


def _differences(
    game: AnyGame, position: Any, history: Sequence[Any], played: Sequence[Any], best: Sequence[Any]
) -> tuple[FactDifference, ...]:
    """Return the facts about seats that differ after as many plies of both lines.

    Facts about the whole game count towards a draw: they tell nobody why a move was worse.
    """
    after_played, after_best = (_facts_after(game, position, history, line) for line in (played, best))
    return tuple(
        FactDifference(*name, after_played.get(name, ""), after_best.get(name, ""))
        for name in dict.fromkeys([*after_played, *after_best])
        if after_played.get(name) != after_best.get(name)
    )


def _facts_after(
    game: AnyGame, position: Any, history: Sequence[Any], line: Sequence[Any]
) -> dict[tuple[str, int], str]:
    """Return the values of the facts about seats after ``line``, by title and seat."""
    earlier = list(history)
    for move in line:
        earlier.append(position)
        position = game.play(position, move)
    facts = game.facts(position, earlier)
    return {(fact.title, fact.seat): fact.value for fact in facts if fact.seat is not None}
