"""What the readers of less strict spellings of moves share."""

from collections.abc import Collection

from domain.game import IllegalMove

MAX_LISTED = 4
"""Moves that a refusal names when a text fits several."""


def bare(text: str) -> str:
    """Return ``text`` without white space and without one mark of check or mate at its end."""
    joined = "".join(text.split())
    return joined[:-1] if joined[-1:] in ("+", "#") else joined


def several(text: str, moves: Collection[str]) -> IllegalMove:
    """Return the refusal of a ``text`` that fits several legal ``moves``."""
    listed = sorted(moves)[:MAX_LISTED]
    more = ", ..." if len(moves) > MAX_LISTED else ""
    return IllegalMove(f"{text!r} could be several moves: write {' or '.join(listed)}{more}")
