"""What a jump leaves for the rest of the same move (sections 5.2 and 5.3); the rulesets differ in nothing else.

BA-02 asks whether a column may be jumped again in one move. Ruleset 1 answers never. Ruleset 2 plays the other reading
of the seed, after Michaelsen and Pakhomov (2000): only once another column has been jumped in between.
"""

from collections.abc import Callable

from domain.bashni.board import LETTERS

CaptureBoard = tuple[int, int, int, tuple[str, ...]]
"""The board during a capture, without the capturing column: the occupied squares; the columns that may be
jumped; the rest of the column jumped last, if it may be jumped again later; and what lies under the commanders."""

Jump = Callable[[CaptureBoard, int, int], CaptureBoard]
"""Returns the field after a column of ``side`` has jumped the column on a square: (field, square, side)."""


def never_again(board: CaptureBoard, victim: int, side: int) -> CaptureBoard:  # noqa: ARG001
    """Return the field after a jump of ruleset 1: the rest of a tower is an obstacle for the rest of the move."""
    occupied, enemy, _, below = board
    bit = 1 << victim
    # The rest of a tower stays in the way, a single piece is gone at once (BA-01).
    return occupied if below[victim] else occupied ^ bit, enemy ^ bit, 0, below


def again_after_another(board: CaptureBoard, victim: int, side: int) -> CaptureBoard:
    """Return the field after a jump of ruleset 2: the rest of the tower jumped before this one may be jumped again.

    Every capture ends, for each jump takes a piece from a column of the enemy and none is added to them.
    """
    occupied, enemy, spared, below = board
    bit = 1 << victim
    rest = below[victim]
    if not rest:
        return occupied ^ bit, enemy ^ bit | spared, 0, below
    columns = list(below)
    columns[victim] = rest[1:]
    # A column that has been freed is the mover's own: it cannot be jumped, now or later (BA-13).
    return occupied, enemy ^ bit | spared, bit if rest[0] in LETTERS[1 - side] else 0, tuple(columns)
