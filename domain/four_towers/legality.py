"""Whether one given move is legal, and why a move is refused or a piece has none (rules, sections 4 to 7)."""

from domain.errors import MalformedNotation
from domain.four_towers.attacks import DRAGON, KING
from domain.four_towers.board import ARENAS, NUMBERS
from domain.four_towers.compound_moves import MAX_COMPONENTS, canonical, multi_move_refusal, rearrangement_refusal
from domain.four_towers.diagram import TITLES
from domain.four_towers.legal_moves import MoveGenerator
from domain.four_towers.moves import PLAIN, RETURN, MultiMove, Rearrangement, head_of, is_encoded, target_of
from domain.four_towers.outcome import in_check, is_drawn
from domain.four_towers.position import Position
from domain.four_towers.refusals import move_refusal, return_refusal

_SIDES = ("White", "Black")


def is_legal(position: Position, move: object) -> bool:
    """Return whether ``move`` is a legal move in its canonical form, looking only at the pieces that it names."""
    if is_drawn(position):
        return False
    if isinstance(move, MultiMove):
        return (
            2 <= len(move.components) <= MAX_COMPONENTS
            and all(is_encoded(part) and head_of(part).mark == PLAIN for part in move.components)
            and multi_move_refusal(position, move.components) is None
            and canonical(position, move.components) == move
        )
    if isinstance(move, Rearrangement):
        return (
            move.arena in range(len(ARENAS))
            and len(move.placement) == len(ARENAS[0])
            and rearrangement_refusal(position, move) is None
        )
    return isinstance(move, int) and is_encoded(move) and is_single_legal(position, move)


def is_single_legal(position: Position, move: int) -> bool:
    """Return whether the move of one piece is legal; draws by the position alone are disregarded."""
    head = head_of(move)
    generator = MoveGenerator(position, only=move)
    return move in (generator.returns() if head.mark == RETURN else generator.moves_from(head.origin))


def refusal(position: Position, move: int) -> str:
    """Return why ``move``, a move of one piece that is not legal, is refused, in a player's words."""
    head = head_of(move)
    generator = MoveGenerator(position, pseudo_legal=True)
    if move in (generator.returns() if head.mark == RETURN else generator.moves_from(head.origin)):
        return _king_refusal(position)
    if head.mark == RETURN:
        return return_refusal(position, head.part, target_of(move))
    return move_refusal(position, move)


def _king_refusal(position: Position) -> str:
    if in_check(position):
        return "your king is in check, and it still would be after this move"
    return "your king would be in check after this move"


def why_not(position: Position, square: str) -> str | None:
    """Return why no legal move but a rearrangement or a multi-move begins on ``square``; None when one does."""
    if square not in NUMBERS:
        raise MalformedNotation(f"there is no square {square[:10]}")
    number, generator = NUMBERS[square], MoveGenerator(position)
    if is_drawn(position):
        return "the game is over"
    if any(target_of(move) == number for move in generator.returns()) or generator.moves_from(number):
        return None
    code = position.board[number]
    if not code:
        return f"{square} is empty"
    kind = code & 15
    piece = f"the {TITLES[kind]} on {square}"
    if code >> 4 != position.side:
        return f"{piece} is {_SIDES[code >> 4]}'s, and {_SIDES[position.side]} is to move"
    if not MoveGenerator(position, pseudo_legal=True).moves_from(number):
        if kind == DRAGON and not any(position.memories):
            return "a dragon has nothing to imitate yet"
        return f"{piece} is blocked: it can neither go nor capture anywhere"
    if kind == KING:
        return f"{piece} would be in check wherever it could go"
    if in_check(position):
        return f"your king is in check, and no move of {piece} ends it"
    return f"{piece} may not move: your king would be in check"
