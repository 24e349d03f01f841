"""The judgement of a match from the findings in its positions: labels, accuracy, turning points. Integers only."""

from collections.abc import Sequence
from enum import StrEnum
from itertools import pairwise
from math import exp
from typing import Final, NamedTuple

from domain.review.findings import FactDifference, Finding
from domain.search.expectation import POINT

REVIEW_VERSION: Final = 3
"""The version of the judgement. Raise it with every change that may alter a review."""

MIN_COUNTED_MOVES: Final = 8
"""An accuracy is shown from this many counted moves on."""

MAX_TURNING_POINTS: Final = 3
MIN_TURN: Final = 1_500
"""A turning point changes the points that the leader may expect by at least so much, in ten-thousandths."""

MIN_LOSS_AT_TURN: Final = 500
MIN_ONLY_MOVE_LOSS: Final = 1_500
"""A best move is the only one where the next best loses at least so much."""

NOISE: Final = {"bashni": 657, "towers": 254, "tower-game": 43, "fourplay": 16, "four-towers": 64}
"""By game the standard deviation of the points that the engine expects, between a budget and four times as much.

That is the change which 68 % of the undecided positions from 60 games, 200 of Bashni and Towers, do not exceed when
24,000 nodes are searched and not 6,000: ``python -m tests.tuning GAME --games 200 --noise``. In Towers, where two seats
had more than four, of two.
"""

_ACCURACY: Final = tuple(round(1_000 * exp(-4.35 * loss / POINT)) for loss in range(POINT + 1))
"""The accuracy of a move by its loss, in tenths of a per cent: 100 exp(-4.35 d). So few digits are alike everywhere."""


class MoveLabel(StrEnum):
    """The label of a move that is worse than the best."""

    INACCURACY = "inaccuracy"
    MISTAKE = "mistake"
    BLUNDER = "blunder"


_THRESHOLDS: Final = ((1_500, MoveLabel.BLUNDER), (1_000, MoveLabel.MISTAKE), (500, MoveLabel.INACCURACY))
"""The losses, in ten-thousandths of a point, from which on a move has a label."""


class MoveReview(NamedTuple):
    """A move as it is judged. ``only`` marks one beside which all others lose much; forced ones are not ``judged``."""

    ply: int
    seat: int
    played: str
    best: str
    loss: int
    judged: bool
    label: MoveLabel | None
    only: bool
    played_line: tuple[str, ...]
    best_line: tuple[str, ...]
    differences: tuple[FactDifference, ...]
    missed_win: tuple[str, ...] = ()


class SeatReview(NamedTuple):
    """The accuracy of a seat in tenths of a per cent, None for fewer than MIN_COUNTED_MOVES ``counted`` moves."""

    seat: int
    accuracy: int | None
    counted: int


class Review(NamedTuple):
    """A review: the points that each seat may expect before every ply and at the end, in ten-thousandths; the moves.

    ``turning_points`` are plies, in order.
    """

    expected: tuple[tuple[int, ...], ...]
    seats: tuple[SeatReview, ...]
    moves: tuple[MoveReview, ...]
    turning_points: tuple[int, ...]


def judge(game_id: str, findings: Sequence[Finding], scores: Sequence[float]) -> Review:
    """Return the review of a match of which ``findings`` has all plies; ``scores`` are those of its result."""
    end = tuple(round(POINT * score) for score in scores)
    expected = (*(finding.expected for finding in findings), end)
    noise = 3 * NOISE.get(game_id, max(NOISE.values()))
    return Review(
        expected=expected,
        seats=tuple(_of_seat(seat, findings) for seat in range(len(scores))),
        moves=tuple(_of_move(finding, noise) for finding in findings),
        turning_points=_turning_points(findings),
    )


def _of_move(finding: Finding, noise: int) -> MoveReview:
    judged = finding.choices > 1
    label = next((label for loss, label in _THRESHOLDS if finding.loss >= max(loss, noise)), None)
    is_best = finding.played == finding.best
    only = is_best and finding.rival_loss is not None and finding.rival_loss >= max(MIN_ONLY_MOVE_LOSS, noise)
    return MoveReview(
        ply=finding.ply,
        seat=finding.seat,
        played=finding.played,
        best=finding.best,
        loss=finding.loss,
        judged=judged,
        label=label if judged else None,
        only=judged and only,
        played_line=finding.played_line,
        best_line=finding.best_line,
        differences=finding.differences if judged and label else (),
        missed_win=finding.missed_win,
    )


def _of_seat(seat: int, findings: Sequence[Finding]) -> SeatReview:
    """Return the mean accuracy of the moves of ``seat``, weighted by the share of moves that look worse than the best.

    A move among equals counts for nothing, for there was nothing to choose.
    """
    weighted = [
        (1_000 * (finding.choices - finding.near_best) // finding.choices, _ACCURACY[max(0, min(finding.loss, POINT))])
        for finding in findings
        if finding.seat == seat and finding.choices > 1
    ]
    counted = [(weight, accuracy) for weight, accuracy in weighted if weight]
    if len(counted) < MIN_COUNTED_MOVES:
        return SeatReview(seat, None, len(counted))
    total = sum(weight for weight, _ in counted)
    return SeatReview(seat, sum(weight * accuracy for weight, accuracy in counted) // total, len(counted))


def _turning_points(findings: Sequence[Finding]) -> tuple[int, ...]:
    """Return the plies, MAX_TURNING_POINTS at most, that have changed most the points of the leader before them.

    Where the mover lost nothing, only the searches of both positions differ. The end may be a resignation, which no
    move has caused.
    """
    turns = []
    for finding, following in pairwise(findings):
        before, after = finding.expected, following.expected
        leader = max(range(len(before)), key=before.__getitem__)
        if finding.loss >= MIN_LOSS_AT_TURN:
            turns.append((abs(after[leader] - before[leader]), finding.ply))
    largest = sorted((turn for turn in turns if turn[0] >= MIN_TURN), key=lambda turn: (-turn[0], turn[1]))
    return tuple(sorted(ply for _, ply in largest[:MAX_TURNING_POINTS]))
