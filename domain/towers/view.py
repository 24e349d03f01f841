"""What a page shows of a position beside its picture: the moves by square, what is demanded, what is counted."""

from collections.abc import Sequence

from domain.facts import repetition_fact
from domain.presentation import Fact, Hint
from domain.towers.board import SQUARES
from domain.towers.diagram import counts
from domain.towers.features import FIRST_PUSH
from domain.towers.moves import legal_moves
from domain.towers.notation import format_move
from domain.towers.outcome import key
from domain.towers.position import Position


def hints(position: Position) -> dict[str, tuple[Hint, ...]]:
    """Return the towers that can act; a build needs no further square, a push its last square."""
    found: dict[str, list[Hint]] = {}
    for move in legal_moves(position):
        text = format_move(position, move)
        if move < FIRST_PUSH:
            found.setdefault(SQUARES[move], []).append(Hint(text, (), "build"))
        else:
            found.setdefault(text[:2], []).append(Hint(text, (text[3:],), "push"))
    return {square: tuple(hints) for square, hints in sorted(found.items())}


def demand(position: Position) -> str:
    """Return that the player to move can only push, when that is so (section 3.1)."""
    return "" if position.supplies[position.side] else "Your supply is empty: you can only push."


def facts(position: Position, history: Sequence[Position]) -> tuple[Fact, ...]:
    """Return the supply, the castles and the crowned castles of each seat, and the pushes in a row."""
    return (*counts(position), *repetition_fact(position, history, key))
