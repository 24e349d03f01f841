"""Why a piece cannot move at all, in a player's words."""

from domain.four_towers.attack import DRAGON, KING
from domain.four_towers.board import NUMBERS
from domain.four_towers.diagram import TITLES
from domain.four_towers.moves import target_of
from domain.four_towers.outcome import checked, drawn
from domain.four_towers.position import Position
from domain.four_towers.turn import Turn
from domain.game import MalformedNotation

_SIDES = ("White", "Black")


def why_not(position: Position, square: str) -> str | None:
    """Return why no legal move but a rearrangement or a multi-move begins on ``square``; None when one does."""
    if square not in NUMBERS:
        raise MalformedNotation(f"there is no square {square[:10]}")
    number, turn = NUMBERS[square], Turn(position)
    if drawn(position):
        return "the game is over"
    if any(target_of(move) == number for move in turn.returns()) or turn.moves_from(number):
        return None
    code = position.board[number]
    if not code:
        return f"{square} is empty"
    kind = code & 15
    piece = f"the {TITLES[kind]} on {square}"
    if code >> 4 != position.side:
        return f"{piece} is {_SIDES[code >> 4]}'s, and {_SIDES[position.side]} is to move"
    if not Turn(position, pseudo_legal=True).moves_from(number):
        if kind == DRAGON and not any(position.memories):
            return "a dragon has nothing to imitate yet"
        return f"{piece} is blocked: it can neither go nor capture anywhere"
    if kind == KING:
        return f"{piece} would be in check wherever it could go"
    if checked(position):
        return f"your king is in check, and no move of {piece} ends it"
    return f"{piece} may not move: your king would be in check"
