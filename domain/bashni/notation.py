"""Move strings of Bashni (section 9)."""

import re

from domain.bashni.board import BETWEEN, NAMES, SQUARE_NUMBERS, Move
from domain.bashni.legality import is_legal, refusal
from domain.bashni.moves import Jump, outcome
from domain.bashni.position import Position
from domain.errors import GameOver, IllegalMove, MalformedNotation
from domain.game import without_marks

_FILES = ("abcdefgh", "a file from a to h")
_RANKS = ("12345678", "a rank from 1 to 8")
_FIRST_SIGN = ("-x", "'-' or, for a capture, 'x'")
_SQUARE = re.compile("[a-h][1-8]")
_STRICT = re.compile("[a-h][1-8](?:-[a-h][1-8]|(?:x[a-h][1-8])+)")
_LOOSE = re.compile("[a-h][1-8](?:[-x:]?[a-h][1-8])+")
MAX_LOOSE_LENGTH = 200
"""Characters: longer texts are read strictly. A capture takes at most twelve pieces."""
_NEXT_SIGN = ("x", "'x' and the next landing square, or the end")


def format_move(position: Position, move: Move) -> str:
    """Return the one string of a legal move: ``c3-d4``, or ``f6xd8xa5`` for a capture."""
    captures = len(move) > 2 or BETWEEN[move[0]][move[1]] & (position.white | position.black)
    return ("x" if captures else "-").join([NAMES[square] for square in move])


def parse_move(position: Position, text: str, jump: Jump) -> Move:
    """Return the legal move that ``text`` names in its one form; ``jump`` is the ruleset's.

    Raises MalformedNotation with the place, GameOver when the position has ended the game, IllegalMove with the reason.
    """
    move = _parse_squares(text)
    over = outcome(position, ())
    if over is not None:
        raise GameOver(f"the game is over: {over.reason.replace('-', ' ')}")
    reason = refusal(position, move, text[2] == "x", jump)
    if reason is not None:
        raise IllegalMove(reason)
    return move


def read_move(position: Position, text: str, jump: Jump) -> Move:
    """Read ``text`` as ``parse_move`` does, but capitals and marks may differ."""
    loose = without_marks(text).lower() if len(text) <= MAX_LOOSE_LENGTH else text
    if len(loose) > MAX_LOOSE_LENGTH or not _LOOSE.fullmatch(loose):
        return parse_move(position, text, jump)
    names = _SQUARE.findall(loose)
    move = tuple(SQUARE_NUMBERS.get(name, -1) for name in names)
    if is_legal(position, move, jump):
        return move
    # Refused as a capture when it is written as one or cannot be anything else.
    return parse_move(position, ("x" if "x" in loose or ":" in loose or len(names) > 2 else "-").join(names), jump)


def _parse_squares(text: str) -> Move:
    """Return the squares that ``text`` names, two or more; raises MalformedNotation."""
    if not _STRICT.fullmatch(text):
        raise MalformedNotation(_why_malformed(text))
    names = _SQUARE.findall(text)
    for index, name in enumerate(names):
        if name not in SQUARE_NUMBERS:
            raise MalformedNotation(f"character {3 * index + 1}: {name} is a light square, which is not used")
    return tuple([SQUARE_NUMBERS[name] for name in names])


def _why_malformed(text: str) -> str:
    """Return where ``text`` stops being like a move string, and the signs expected there."""
    for place, character in enumerate(text):
        if place > 4 and text[2] == "-":
            return f"character {place + 1}: the move should end before it"
        wanted, meaning = (_FILES, _RANKS, _NEXT_SIGN if place > 2 else _FIRST_SIGN)[place % 3]
        if character not in wanted:
            return f"character {place + 1}: expected {meaning}, found {character!r}"
    _, meaning = (_FILES, _RANKS, _FIRST_SIGN)[len(text) % 3]
    return f"the move ends too early: expected {meaning} as character {len(text) + 1}"
