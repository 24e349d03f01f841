"""Facts that several games count in the same way: captured pieces, and repetitions of a position."""

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence

from domain.game import P
from domain.history import History, occurrences
from domain.presentation import GameFact

_NO_PIECES = b"0123456789/|*"
_NO_CAPITALS = b"abcdefghijklmnopqrstuvwxyz,"


def count_captured(
    position: P,
    history: Sequence[P],
    format_position: Callable[[P], str],
    to_move: Callable[[P], int],
    piece: re.Pattern[str],
    owner: Callable[[str], int],
) -> Counter[str]:
    """Return how many of each piece have been captured on the way to ``position`` and not been put back.

    ``piece`` matches each piece in the first field of a position string, ``owner`` is the seat of such a piece. A ply
    removes pieces of other seats only by a capture. Boards are compared as strings, most by length alone: that is fast.
    """
    if type(history) is History:  # compiled, it inherits the registry of Sequence: every tuple would be an instance
        earlier, movers = history.texts(), history.movers()
    else:
        earlier, movers = tuple(map(format_position, history)), tuple(map(to_move, history))
    texts = (*earlier, format_position(position))
    boards = [text.partition(" ")[0].encode().translate(None, _NO_PIECES) for text in texts]
    sizes = [(len(board), len(board.translate(None, _NO_CAPITALS))) for board in boards]
    captured: Counter[str] = Counter()
    for ply, mover in enumerate(movers):
        if sizes[ply] != sizes[ply + 1]:
            before, after = (Counter(piece.findall(board.decode())) for board in boards[ply : ply + 2])
            removed, added = before - after, after - before
            captured.update({name: count for name, count in removed.items() if owner(name) != mover})
            if not removed:
                captured -= added
    return captured


def format_counts(pieces: Iterable[tuple[str, int]]) -> str:
    """Return titles of pieces with their counts, such as ``queen, 2 pawns``; an en dash for none."""
    return ", ".join(title if count == 1 else f"{count} {title}s" for title, count in pieces if count) or "–"


def repetition_fact(position: P, history: Sequence[P], key: Callable[[P], Hashable]) -> tuple[GameFact, ...]:
    """Return how often the position has occurred, unless this is the first time."""
    times = occurrences(position, history, key) + 1
    return (GameFact("This position", None, f"{times} of 3 times"),) if times > 1 else ()
