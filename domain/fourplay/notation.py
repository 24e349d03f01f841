"""Reading moves, and saying why one is refused (rules, section 9)."""

import re

from domain.fourplay.board import ADJACENT, CORNERS, DIAGONAL_STEPS, NAMES
from domain.fourplay.draft import DONE, refusal
from domain.fourplay.moves import (
    PASS,
    Sight,
    in_check,
    legal_moves,
    may_trade_by_place,
    own_squares,
    piece_moves,
    split,
)
from domain.fourplay.outcome import outcome
from domain.fourplay.position import ANT, DOG, KING, LIMITS, MUTATOR, QUEEN, TITLES, Position, count
from domain.game import GameOver, IllegalMove, MalformedNotation

_SQUARE = "[a-o](?:1[0-5]|[1-9])"
_MOVE = re.compile(f"({_SQUARE})(<>|[-x*<>])({_SQUARE})(?:=(Dg|Q|Mu|G|R|B|VM|HM))?")
_PLACEMENT = re.compile(f"(K|A|Dg|Q|Mu|G|R|B|,|VM|HM)@({_SQUARE})")
_LONGEST = 12


def is_legal(position: Position, move: object) -> bool:
    """Tell whether ``move`` is legal, looking only at the piece that would move."""
    return isinstance(move, str) and _well_formed(move) and _refusal(position, move) is None


def parse_move(position: Position, text: str) -> str:
    """Return the legal move ``text``; raises MalformedNotation, GameOver or IllegalMove with the reason."""
    if not _well_formed(text):
        shown = text if len(text) <= _LONGEST else text[:_LONGEST] + "..."
        raise MalformedNotation(f"{shown!r} is no move: expected for example c3-c7, c3xc7, e4*e8, g7>g8, Q@b3 or pass")
    reason = _refusal(position, text)
    if reason is None:
        return text
    ended = outcome(position, ())
    if ended is not None:
        raise GameOver(f"the game is over: {ended.reason}")
    raise IllegalMove(reason)


def _well_formed(text: str) -> bool:
    if len(text) > _LONGEST:
        return False
    if text in (PASS, DONE) or _PLACEMENT.fullmatch(text):
        return True
    match = _MOVE.fullmatch(text)
    return match is not None and not (match[4] and match[2] not in "-x")


def _refusal(position: Position, move: str) -> str | None:
    placing = move == DONE or "@" in move
    if position.setup:
        return refusal(position, move) if placing else "the armies are still being set up: place a piece or play done"
    if outcome(position, ()) is not None:
        return "the game is over"
    if placing:
        return "the set-up is over"
    if move == PASS:
        return None if legal_moves(position) == [PASS] else "you have a legal move, so you may not pass"
    return _move_refusal(position, move)


def _move_refusal(position: Position, move: str) -> str | None:
    origin, mark, target, promotion = split(move)
    sight = Sight(position, position.side)
    if origin not in own_squares(sight):
        return f"no piece of yours stands on {NAMES[origin]}"
    if mark == "<>":
        return _trade_refusal(position, sight, origin, target)
    moves: list[str] = []
    piece_moves(sight, origin, moves)
    if move in moves:
        return None
    return _reason(position, sight, move, promotion)


def _trade_refusal(position: Position, sight: Sight, origin: int, target: int) -> str | None:
    king = position.board.find((position.side + 1) << 4 | KING)
    if target != king:
        return f"a trade is with your own King, which stands on {NAMES[king]}"
    if position.board[origin] & 15 not in (QUEEN, MUTATOR):
        return "only a Queen, or a Mutator beside a Queen, trades places with the King"
    if not may_trade_by_place(sight, origin, king):
        return "a trade needs one line with exactly one piece between Queen and King"
    if in_check(position, position.side):
        return "the King is in check, so it may not trade places"
    return None


def _reason(position: Position, sight: Sight, move: str, promotion: int) -> str:
    origin, mark, target, _ = split(move)
    start, end = NAMES[origin], NAMES[target]
    kind = position.board[origin] & 15
    there = sight.view[target]
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
    if promotion and (refused := _promotion_reason(position, origin, target, promotion)):
        return refused
    action = {"-": "move", "x": "capture by moving", "*": "shoot"}[mark]
    return f"the {title} on {start} cannot {action} to {end}: it does not reach there, or something stands in the way"


def _promotion_reason(position: Position, origin: int, target: int, promotion: int) -> str | None:
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
