"""The contents of a page about a position beside its picture: moves by square, demands and counts."""

import re
from collections.abc import Sequence

from domain.facts import count_captured, format_counts, repetition_fact
from domain.four_towers import legality
from domain.four_towers.board import NAMES
from domain.four_towers.composition import compositions
from domain.four_towers.diagram import TITLES
from domain.four_towers.legal_moves import MoveGenerator
from domain.four_towers.moves import PROMOTED, RETURN, format_move, head_of, target_of, victim_of
from domain.four_towers.outcome import is_drawn, key
from domain.four_towers.position import LETTERS, MAX_HALFMOVE_CLOCK, NO_RETURN, Position, format_position, to_move
from domain.presentation import GameFact, Hint

_PIECE = re.compile("[a-zA-Z]")
_CAPTURABLE = tuple((TITLES[LETTERS.index(letter)], letter) for letter in "WQMCDRBNLP")
"""The pieces that can be captured, the strongest first, and their letters."""
_LABELS = ("attach", "move", "swap", "move directly", "attach directly", "capture")
"""By mark."""


def hints(position: Position) -> dict[str, tuple[Hint, ...]]:
    """Return the pieces that can move, by square; a captured piece that may return is on the square of its return."""
    by_square: dict[str, list[Hint]] = {}
    for move in [] if is_drawn(position) else MoveGenerator(position).moves():
        head, target = head_of(move), NAMES[target_of(move)]
        text = format_move(position, move)
        if head.mark == RETURN:
            by_square.setdefault(target, []).append(Hint(text, (), f"return {TITLES[head.part]}"))
            continue
        words = [f"send off {TITLES[head.part]}"] if head.part else []
        if victim_of(move) >= 0:
            words.append(f"capture {NAMES[victim_of(move)]} en passant")
        elif not (words and _LABELS[head.mark] == "move"):
            words.append(_LABELS[head.mark])
        if move & 15:
            words.append(TITLES[PROMOTED[move & 15]])
        by_square.setdefault(NAMES[head.origin], []).append(Hint(text, (target,), ", ".join(words)))
    return {square: tuple(hints) for square, hints in by_square.items()}


def why_not(position: Position, square: str) -> str | None:
    """Return why no listed move begins on ``square``, and whether its piece can take part in an unlisted one."""
    reason = legality.why_not(position, square)
    if reason and any(square in composition.pieces for composition in compositions(position)):
        return f"{reason}; it can only take part in a rearrangement or a multi-move"
    return reason


def demand(position: Position) -> str:
    """Return the demand to put a captured piece back in this turn only, if that is possible."""
    code, tower = position.returning
    if position.returning == NO_RETURN or not MoveGenerator(position).returns():
        return ""
    return f"Your {TITLES[code & 15]}, captured on {NAMES[tower]}, may be put back: this turn only."


def facts(position: Position, history: Sequence[Position]) -> tuple[GameFact, ...]:
    """Return the pieces that each seat has lost, and how near a draw without progress is."""
    lost = count_captured(position, history, format_position, to_move, _PIECE, lambda letter: int(letter.islower()))
    return (
        *(
            GameFact(
                "Lost",
                seat,
                format_counts((kind, lost[letter.lower() if seat else letter]) for kind, letter in _CAPTURABLE),
            )
            for seat in (0, 1)
        ),
        GameFact("Moves without progress", None, f"{position.halfmove_clock} of {MAX_HALFMOVE_CLOCK}"),
        *repetition_fact(position, history, key),
    )
