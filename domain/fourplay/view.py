"""The contents of a page about a position beside its picture: moves by square, demands and counts."""

import re
from collections.abc import Sequence

from domain.facts import count_captured, format_counts, repetition_fact
from domain.fourplay import draft, moves
from domain.fourplay.board import NAMES
from domain.fourplay.outcome import key
from domain.fourplay.position import (
    KIND_CODES,
    KINDS,
    KING,
    MAX_HALFMOVE_CLOCK,
    PLAYERS,
    TITLES,
    VALUES,
    Position,
    army_cost,
    format_position,
    to_move,
)
from domain.presentation import GameFact, Hint

_PIECE = re.compile("[rbyg](?:VM|HM|Dg|Mu|[KAQGRB,])")
_BY_VALUE = sorted(range(KING + 1, len(VALUES)), key=lambda kind: -VALUES[kind])
_LABELS = {"-": "move", "x": "capture", "*": "shoot", ">": "attach", "<": "detach", "<>": "trade places"}


def hints(position: Position) -> dict[str, tuple[Hint, ...]]:
    """Return the pieces that can move, or the squares of placements; "" holds a move without a square."""
    by_square: dict[str, list[Hint]] = {}
    for move in draft.placements(position) if position.setup else moves.legal_moves(position):
        if move in (moves.PASS, moves.DONE):
            by_square.setdefault("", []).append(Hint(move, (), move))
        elif "@" in move:
            code, _, square = move.partition("@")
            by_square.setdefault(square, []).append(Hint(move, (), TITLES[KINDS[code]]))
        else:
            origin, mark, target, promotion = moves.split_move(move)
            label = TITLES[promotion] if promotion else _LABELS[mark]
            by_square.setdefault(NAMES[origin], []).append(Hint(move, (NAMES[target],), label))
    return {square: tuple(hints) for square, hints in by_square.items()}


def demand(position: Position) -> str:
    """Return the demand to pass, if the player to move must."""
    if position.setup or moves.legal_moves(position) != [moves.PASS]:
        return ""
    return "You have no move: you must pass."


def facts(position: Position, history: Sequence[Position]) -> tuple[GameFact, ...]:
    """Return the points that each seat has paid or still has on the board, its losses, and the clock."""
    points = tuple(GameFact("Points", seat, str(army_cost(position.board, seat))) for seat in range(len(PLAYERS)))
    if position.setup:
        return points
    lost = count_captured(position, history, format_position, to_move, _PIECE, lambda piece: PLAYERS.index(piece[0]))
    return (
        *points,
        *(
            GameFact("Lost", seat, format_counts((TITLES[kind], lost[player + KIND_CODES[kind]]) for kind in _BY_VALUE))
            for seat, player in enumerate(PLAYERS)
        ),
        GameFact("Turns without a capture", None, f"{position.halfmove_clock} of {MAX_HALFMOVE_CLOCK}"),
        *repetition_fact(position, history, key),
    )
