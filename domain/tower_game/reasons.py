"""Why a move is not possible, or a man cannot move at all, in a player's words."""

from domain.game import MalformedNotation
from domain.tower_game.board import CORNERS, CUBES, HOMES, NAMES, NUMBERS, PASSED
from domain.tower_game.diagram import KINDS
from domain.tower_game.moves import CAPTURE, PROMOTIONS, encode, legal_moves, origin_of, reaches, target_of
from domain.tower_game.outcome import outcome
from domain.tower_game.position import BLACK, KING, LETTERS, PAWN, Position, attacked, in_check, occupied

_TITLES = {letter: kind.capitalize() for letter, kind in zip(LETTERS, KINDS, strict=True)}
_SIDES = ("White", "Black")


def why_not(position: Position, square: str) -> str | None:
    """Return why no legal move begins on ``square``; None when one does."""
    if square not in NUMBERS:
        raise MalformedNotation(f"there is no cube {square[:10]}")
    cube, side = NUMBERS[square], position.side
    if not position.board[cube]:
        return f"{square} is empty"
    owner, code = divmod(position.board[cube] - 1, BLACK)
    man = f"the {_TITLES[LETTERS[code]]} on {square}"
    if outcome(position, ()) is not None:
        return "the game is over"
    if owner != side:
        return f"{man} is {_SIDES[owner]}'s, and {_SIDES[side]} is to move"
    if any(origin_of(move) == cube for move in legal_moves(position)):
        return None
    moves = (encode(cube, target, bool(mark)) for target in range(CUBES) for mark in (0, 1))
    promotions = (encode(cube, target, bool(mark), 1) for target in range(CUBES) for mark in (0, 1))
    if not any(reaches(position, move) for move in (*moves, *promotions)):
        if code + 1 == PAWN:
            return f"{man} is blocked, and has nothing to capture"
        return f"{man} is blocked: men of your own stand wherever it could go"
    if code + 1 == KING:
        return f"{man} has no cube to go to that is not attacked"
    if in_check(position):
        return f"the King is in check, and no move of {man} ends it"
    return f"{man} may not leave: the King would be attacked"


def reason(position: Position, move: int) -> str:
    """Return why ``move``, which is not legal, is not."""
    board, side = position.board, position.side
    origin, target, promotion = origin_of(move), target_of(move), move & 15
    start, end = NAMES[origin], NAMES[target]
    promoted = f"={PROMOTIONS[promotion - 1]}" if promotion else ""
    code = board[origin] - side * BLACK
    if not KING <= code <= PAWN:
        return f"no man of yours stands on {start}"
    man = _TITLES[LETTERS[code - 1]]
    own_there = KING <= board[target] - side * BLACK <= PAWN
    if code == KING and origin == HOMES[side] and target in PASSED and target % 8 == origin % 8 and own_there:
        return _castling_reason(position, move)
    if own_there:
        return f"{end} is held by a man of your own"
    last_rank = target % 8 == (7, 0)[side]
    if code == PAWN and last_rank and not promotion:
        return f"a Pawn that reaches the last rank must promote: add = and one of {', '.join(PROMOTIONS)}"
    if promotion and not (code == PAWN and last_rank):
        return "only a Pawn that reaches the last rank promotes"
    if not move & CAPTURE and reaches(position, move | CAPTURE):
        return f"that is a capture: write {start}x{end}{promoted}"
    passing = code == PAWN and target == position.passed
    if not board[target] and move & CAPTURE and not passing:
        return f"there is nothing to capture on {end}"
    if not reaches(position, move):
        return f"a {man} does not move from {start} to {end}, or something stands in the way"
    if in_check(position):
        return f"the King is in check, and {start}-{end} does not end it"
    if code == KING:
        return f"the King may not go to {end}: that cube is attacked"
    return f"the {man} on {start} may not leave: the King would be attacked"


def _castling_reason(position: Position, move: int) -> str:
    """Say why castling is not possible now [TG-16], or not written as ``move`` is."""
    men, side, corner = position.men, position.side, target_of(move)
    name = NAMES[corner]
    enemy, everybody = 1 - side, occupied(men, 0) | occupied(men, 1)
    passed = PASSED[corner]
    if move & (CAPTURE | 15):
        return f"castling takes no x and no promotion: write {NAMES[HOMES[side]]}-{name}"
    if not position.rights >> CORNERS.index(corner) & 1:
        return f"the right to castle to {name} is gone"
    if in_check(position):
        return "a King in check may not castle"
    if position.board[passed]:
        return f"castling to {name} is blocked: {NAMES[passed]} is not empty"
    if attacked(passed, men, enemy, everybody):
        return f"the King may not castle over {NAMES[passed]}: that cube is attacked"
    return f"the King may not castle to {name}: that cube is attacked"
