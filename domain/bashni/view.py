"""What a page shows of a position beside its picture: the moves by square, what is demanded, what is counted."""

from collections.abc import Sequence

from domain.bashni.board import NAMES
from domain.bashni.diagram import counts
from domain.bashni.jumping import Jump
from domain.bashni.legality import capturing_squares
from domain.bashni.moves import legal_moves
from domain.bashni.notation import format_move
from domain.bashni.outcome import key
from domain.bashni.position import Position
from domain.facts import repetition_fact
from domain.presentation import Fact, Hint


def hints(position: Position, jump: Jump) -> dict[str, tuple[Hint, ...]]:
    """Return the columns that can move; the path of a capture is every landing square in order."""
    found: dict[str, list[Hint]] = {}
    for move in legal_moves(position, jump):
        text = format_move(position, move)
        path = tuple(NAMES[square] for square in move[1:])
        found.setdefault(NAMES[move[0]], []).append(Hint(text, path, "capture" if text[2] == "x" else "move"))
    return {square: tuple(hints) for square, hints in found.items()}


def demand(position: Position) -> str:
    """Return that a capture is compulsory, and which columns can capture (section 4)."""
    jumpers = capturing_squares(position)
    return f"You must capture: {', '.join(f'{name} can' for name in jumpers)}." if jumpers else ""


def facts(position: Position, history: Sequence[Position]) -> tuple[Fact, ...]:
    """Return the columns and the prisoners of each seat, and the draw counter (section 6)."""
    return (*counts(position), *repetition_fact(position, history, key))
