"""The contents of a page about a position beside its picture: moves by square, and counts."""

import re
from collections.abc import Sequence

from domain.facts import count_captured, format_counts, repetition_fact
from domain.presentation import GameFact, Hint
from domain.tower_game.board import CASTLING_PATHS, KING_HOMES, NAMES
from domain.tower_game.diagram import KINDS
from domain.tower_game.moves import CAPTURE, MAX_HALFMOVE_CLOCK, legal_moves, origin_of, promotion_of, target_of
from domain.tower_game.notation import format_move
from domain.tower_game.outcome import is_drawn, key
from domain.tower_game.position import BLACK, KING, LETTERS, Position, format_position, to_move

_PROMOTION_LABELS = ("", "bishop", "captain", "fool", "jester", "merchant", "knight", "rook")
_MAN = re.compile("[a-zA-Z]")
_CAPTURABLE = tuple(zip(KINDS, LETTERS, strict=True))[1:]


def hints(position: Position) -> dict[str, tuple[Hint, ...]]:
    """Return the men that can move, by cube; the path is the cube where a move ends."""
    by_square: dict[str, list[Hint]] = {}
    for move in () if is_drawn(position) else legal_moves(position):
        origin, target = origin_of(move), target_of(move)
        king = position.board[origin] == KING + position.side * BLACK
        castling = king and origin == KING_HOMES[position.side] and target in CASTLING_PATHS
        label = _PROMOTION_LABELS[promotion_of(move)] or (
            "castle" if castling else "capture" if move & CAPTURE else "move"
        )
        by_square.setdefault(NAMES[origin], []).append(Hint(format_move(position, move), (NAMES[target],), label))
    return {square: tuple(hints) for square, hints in by_square.items()}


def facts(position: Position, history: Sequence[Position]) -> tuple[GameFact, ...]:
    """Return the men that each seat has lost, and how near a draw without progress is."""
    lost = count_captured(position, history, format_position, to_move, _MAN, lambda letter: int(letter.islower()))
    return (
        *(
            GameFact(
                "Lost",
                seat,
                format_counts((kind, lost[letter.lower() if seat else letter]) for kind, letter in _CAPTURABLE),
            )
            for seat in (0, 1)
        ),
        GameFact("Moves without a capture or a Pawn move", None, f"{position.halfmove_clock} of {MAX_HALFMOVE_CLOCK}"),
        *repetition_fact(position, history, key),
    )
