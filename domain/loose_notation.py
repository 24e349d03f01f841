"""Shared parts of reading moves that are written less strictly than their notation demands."""

from collections.abc import Collection

from domain.game import IllegalMove

MAX_LISTED = 4
"""How many moves a refusal names when a text fits several."""


def without_marks(text: str) -> str:
    """Return ``text`` without white space and without a mark of check or mate at its end."""
    joined = "".join(text.split())
    return joined[:-1] if joined[-1:] in ("+", "#") else joined


def ambiguous_move(text: str, moves: Collection[str]) -> IllegalMove:
    """Return the refusal of a ``text`` that fits several of the legal moves."""
    listed = sorted(moves)[:MAX_LISTED]
    more = ", ..." if len(moves) > MAX_LISTED else ""
    return IllegalMove(f"{text!r} could be several moves: write {' or '.join(listed)}{more}")
