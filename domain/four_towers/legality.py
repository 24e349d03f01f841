"""Whether one given move is legal, and why a move is refused or a piece has none (rules, sections 4 to 7)."""

from domain.four_towers.attacks import DRAGON, KING
from domain.four_towers.board import ARENAS, NUMBERS
from domain.four_towers.compound_moves import MOST_COMPONENTS, canonical, multi_fault, rearrangement_fault
from domain.four_towers.diagram import TITLES
from domain.four_towers.legal_moves import Turn
from domain.four_towers.moves import PLAIN, RETURN, Multi, Rearrangement, head_of, is_encoded, target_of
from domain.four_towers.outcome import checked, drawn
from domain.four_towers.position import Position
from domain.four_towers.refusals import move_reason, return_reason
from domain.game import MalformedNotation

_SIDES = ("White", "Black")


def is_legal(position: Position, move: object) -> bool:
    """Tell whether ``move`` is a legal move in its canonical form, looking only at the pieces that it names."""
    if drawn(position):
        return False
    if isinstance(move, Multi):
        return (
            2 <= len(move.components) <= MOST_COMPONENTS
            and all(is_encoded(part) and head_of(part).mark == PLAIN for part in move.components)
            and multi_fault(position, move.components) is None
            and canonical(position, move.components) == move
        )
    if isinstance(move, Rearrangement):
        return (
            move.arena in range(len(ARENAS))
            and len(move.placement) == len(ARENAS[0])
            and rearrangement_fault(position, move) is None
        )
    return isinstance(move, int) and is_encoded(move) and is_single_legal(position, move)


def is_single_legal(position: Position, move: int) -> bool:
    """Return whether the move of one piece is legal; draws by the position alone are not looked at."""
    head = head_of(move)
    turn = Turn(position, wanted=move)
    return move in (turn.returns() if head.mark == RETURN else turn.moves_from(head.origin))


def refusal(position: Position, move: int) -> str:
    """Return why ``move``, a move of one piece that is not legal, is refused, in a player's words."""
    head = head_of(move)
    turn = Turn(position, pseudo_legal=True)
    if move in (turn.returns() if head.mark == RETURN else turn.moves_from(head.origin)):
        return _king_reason(position)
    if head.mark == RETURN:
        return return_reason(position, head.part, target_of(move))
    return move_reason(position, move)


def _king_reason(position: Position) -> str:
    if checked(position):
        return "your king is in check, and it still would be after this move"
    return "your king would be in check after this move"


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
