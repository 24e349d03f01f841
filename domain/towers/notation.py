"""Move strings of Towers (section 9)."""

import re

from domain.errors import GameOver, MalformedNotation
from domain.game import without_marks
from domain.towers.board import SQUARE_NUMBERS, SQUARES
from domain.towers.features import FIRST_PUSH
from domain.towers.legality import legal_build, legal_push
from domain.towers.moves import last_square, outcome
from domain.towers.position import Position

_BUILD_FORM = ("+", "abcdefg", "1234567")
_PUSH_FORM = ("abcdefg", "1234567", "-", "abcdefg", "1234567")
_LOOSE = re.compile("[+]?([a-g][1-7])|([a-g][1-7])[-x:>]?([a-g][1-7])")
MAX_LOOSE_LENGTH = 100
"""Characters, white space included: longer texts are read strictly."""
_MEANINGS = {"+": "'+'", "-": "'-'", "abcdefg": "a file from a to g", "1234567": "a rank from 1 to 7"}


def format_move(position: Position, move: int) -> str:
    """Return the one string of a legal move: ``+b7`` or ``b7-b4``."""
    if move < FIRST_PUSH:
        return "+" + SQUARES[move]
    return f"{SQUARES[(move - FIRST_PUSH) >> 2]}-{SQUARES[last_square(position, move)]}"


def parse_move(position: Position, text: str) -> int:
    """Return the legal move that ``text`` names; raises MalformedNotation, GameOver or IllegalMove with the reason."""
    form = _BUILD_FORM if text[:1] == "+" else _PUSH_FORM
    for place, (expected, character) in enumerate(zip(form, text, strict=False), start=1):
        if character not in expected:
            wanted = _MEANINGS[expected] if place > 1 else "'+' or " + _MEANINGS[expected]
            raise MalformedNotation(f"character {place}: expected {wanted}, found {character!r}")
    if len(text) < len(form):
        wanted = _MEANINGS[form[len(text)]] if text else "'+' or a square"
        raise MalformedNotation(f"the move ends too early: expected {wanted} as character {len(text) + 1}")
    if len(text) > len(form):
        raise MalformedNotation(f"character {len(form) + 1}: the move should end before it")
    over = outcome(position, ())
    if over is not None:
        raise GameOver(f"the game is over: {over.reason.replace('-', ' ')}")
    if text[0] == "+":
        return legal_build(position, SQUARE_NUMBERS[text[1:]])
    return legal_push(position, SQUARE_NUMBERS[text[:2]], SQUARE_NUMBERS[text[3:]])


def read_move(position: Position, text: str, setup: str) -> int:  # noqa: ARG001 - squares have one name in all setups
    """Read ``text`` as ``parse_move`` does, but capitals and marks may differ; a square alone is a build there."""
    loose = _LOOSE.fullmatch(without_marks(text).lower()) if len(text) <= MAX_LOOSE_LENGTH else None
    if loose is None:
        return parse_move(position, text)
    built, origin, target = loose.groups()
    return parse_move(position, f"+{built}" if built else f"{origin}-{target}")
