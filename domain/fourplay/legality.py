"""Whether one given move is legal, and why a move is refused or a piece has none (rules, sections 2 to 7)."""

from domain.errors import MalformedNotation
from domain.fourplay import draft
from domain.fourplay.attacks import PlayerView, in_check, own_squares
from domain.fourplay.board import ADJACENT, CORNERS, DIAGONAL_STEPS, NAMES, NUMBERS, QUADRANTS
from domain.fourplay.diagram import SEATS
from domain.fourplay.moves import (
    DONE,
    PASS,
    add_piece_moves,
    is_placed_to_trade,
    is_well_formed,
    legal_moves,
    legal_moves_from,
    split_move,
)
from domain.fourplay.outcome import outcome
from domain.fourplay.position import ANT, DOG, KING, LIMITS, MUTATOR, NEUTRON, QUEEN, TITLES, Position, count


def is_legal(position: Position, move: object) -> bool:
    """Return whether ``move`` is legal, looking only at the piece that would move."""
    return isinstance(move, str) and is_well_formed(move) and refusal(position, move) is None


def why_not(position: Position, square: str) -> str | None:
    """Return why no legal move begins on ``square``; None when one does."""
    if square not in NUMBERS:
        raise MalformedNotation(f"there is no square {square[:10]}")
    number = NUMBERS[square]
    if position.setup:
        return _why_not_placed(position, number)
    code = position.board[number]
    if not code:
        return f"{square} is empty"
    if code == NEUTRON:
        return "the Neutron belongs to nobody and never moves"
    owner, kind = (code >> 4) - 1, code & 15
    piece = f"the {TITLES[kind]} on {square}"
    if owner in position.eliminated:
        return f"{piece} is frozen: {SEATS[owner]} is out of the game"
    if outcome(position, ()) is not None:
        return "the game is over"
    if owner != position.side:
        return f"{piece} is {SEATS[owner]}'s, and {SEATS[position.side]} is to move"
    if legal_moves_from(position, number):
        return None
    if kind == MUTATOR and all(position.board[near] & 15 in (0, MUTATOR, NEUTRON) for near in ADJACENT[number]):
        return f"{piece} moves like the pieces beside it, and none that it could copy stands there"
    return f"{piece} is blocked: it can neither go nor capture anywhere"


def _why_not_placed(position: Position, number: int) -> str | None:
    if any(move.endswith(f"@{NAMES[number]}") for move in draft.placements(position)):
        return None
    if QUADRANTS[number] != position.side:
        return f"{NAMES[number]} is outside the quadrant of {SEATS[position.side]}, who is setting up"
    if position.board[number]:
        return f"{NAMES[number]} is occupied"
    return f"nothing that {SEATS[position.side]} can still buy may be placed on {NAMES[number]}"


def refusal(position: Position, move: str) -> str | None:
    """Return why ``move``, which is well formed, is not legal now; None when it is."""
    placing = move == DONE or "@" in move
    if position.setup:
        return (
            draft.refusal(position, move)
            if placing
            else "the armies are still being set up: place a piece or play done"
        )
    if outcome(position, ()) is not None:
        return "the game is over"
    if placing:
        return "the set-up is over"
    if move == PASS:
        return None if legal_moves(position) == [PASS] else "you have a legal move, so you may not pass"
    return _move_refusal(position, move)


def _move_refusal(position: Position, move: str) -> str | None:
    origin, mark, target, promotion = split_move(move)
    player_view = PlayerView(position, position.side)
    if origin not in own_squares(player_view):
        return f"no piece of yours stands on {NAMES[origin]}"
    if mark == "<>":
        return _trade_refusal(position, player_view, origin, target)
    moves: list[str] = []
    add_piece_moves(player_view, origin, moves)
    if move in moves:
        return None
    return _reach_refusal(position, player_view, move, promotion)


def _trade_refusal(position: Position, player_view: PlayerView, origin: int, target: int) -> str | None:
    king = position.board.find((position.side + 1) << 4 | KING)
    if target != king:
        return f"a trade is with your own King, which stands on {NAMES[king]}"
    if position.board[origin] & 15 not in (QUEEN, MUTATOR):
        return "only a Queen, or a Mutator beside a Queen, trades places with the King"
    if not is_placed_to_trade(player_view, origin, king):
        return "a trade needs one line with exactly one piece between Queen and King"
    if in_check(position, position.side):
        return "the King is in check, so it may not trade places"
    return None


def _reach_refusal(position: Position, player_view: PlayerView, move: str, promotion: int) -> str:
    origin, mark, target, _ = split_move(move)
    start, end = NAMES[origin], NAMES[target]
    kind = position.board[origin] & 15
    there = player_view.occupants[target]
    title = TITLES[kind]
    if mark == "<":
        return f"the piece on {start} is not attached to {end}"
    if mark == ">":
        return (
            "only a free Little Dog attaches, to a piece on an adjacent square"
            if kind == DOG
            else (f"a {title} cannot attach")
        )
    if mark in "x*" and there != 2:
        return f"there is no enemy piece to capture on {end}"
    if mark == "-" and there == 2:
        return f"an enemy piece stands on {end}: a capture is written {start}x{end}"
    if mark == "-" and there:
        return f"{end} is occupied"
    if promotion and (refused := _promotion_refusal(position, origin, target, promotion)):
        return refused
    action = {"-": "move", "x": "capture by moving", "*": "shoot"}[mark]
    return f"the {title} on {start} cannot {action} to {end}: it does not reach there, or something stands in the way"


def _promotion_refusal(position: Position, origin: int, target: int, promotion: int) -> str | None:
    """Say which rule of the promotion (section 6) forbids it; None when the step itself is at fault."""
    board, side = position.board, position.side
    kind = board[origin] & 15
    if target not in CORNERS or target == CORNERS[side] or kind not in (ANT, MUTATOR):
        return "only an Ant promotes, on a corner outside its own quadrant"
    if kind == MUTATOR:
        if promotion == MUTATOR:
            return "a Mutator does not turn into a Mutator"
        if target not in DIAGONAL_STEPS[origin] or all(board[square] & 15 != ANT for square in ADJACENT[origin]):
            return "a Mutator promotes only by the diagonal step of an Ant beside it"
    if count(board, side, promotion) >= LIMITS[promotion]:
        return f"you have {LIMITS[promotion]} of {TITLES[promotion]} already, the most allowed"
    return None
