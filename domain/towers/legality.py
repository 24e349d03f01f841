"""Whether one given move is legal, and why a move is refused or a tower has none (sections 3 and 9)."""

from typing import NoReturn

from domain.errors import IllegalMove, MalformedNotation
from domain.towers.board import (
    CASTLES,
    DIRECTIONS,
    EMPTY,
    HEIGHT,
    MAX_HEIGHT,
    RAYS,
    SEAT_NAMES,
    SQUARE_NUMBERS,
    SQUARES,
    controller,
)
from domain.towers.features import FIRST_PUSH
from domain.towers.moves import action_set, last_square, outcome
from domain.towers.position import Position


def is_legal(position: Position, move: int) -> bool:
    """Return whether ``move`` is legal; any integer may be asked about."""
    return 0 <= move < 256 and action_set(position) >> move & 1 != 0


def why_not(position: Position, name: str) -> str | None:
    """Return why no legal move begins on the square ``name``; None when one does."""
    if name not in SQUARE_NUMBERS:
        raise MalformedNotation(f"there is no square {name[:10]}")
    square = SQUARE_NUMBERS[name]
    if outcome(position, ()) is not None:
        return "the game is over"
    pushes = range(FIRST_PUSH + 4 * square, FIRST_PUSH + 4 * square + 4)
    if any(is_legal(position, move) for move in (square, *pushes)):
        return None
    if position.board[square] == EMPTY:
        return f"{name} is empty"
    try:
        _refuse_if_not_controlled(position, square)
    except IllegalMove as refusal:
        return str(refusal)
    kind, height = ("castle" if square in CASTLES else "tower"), HEIGHT[position.board[square]]
    built = "cannot be built on" if square in CASTLES or height == MAX_HEIGHT else "cannot grow: your supply is empty"
    fallen = "is too low to be pushed" if height < 2 else "no neighbour is lower, so that nothing could fall"
    return f"the {kind} on {name} {built}, and {'it ' if height < 2 else ''}{fallen}"


def legal_build(position: Position, square: int) -> int:
    """Return the build on ``square`` (section 3.1); raises IllegalMove with the reason."""
    if is_legal(position, square):
        return square
    name = SQUARES[square]
    if square in CASTLES:
        _refuse(f"{name} is a castle: castles cannot be built on")
    if position.board[square] == EMPTY:
        _refuse(f"{name} is empty: you build on towers that you control")
    _refuse_if_not_controlled(position, square)
    if HEIGHT[position.board[square]] == MAX_HEIGHT:
        _refuse(f"the tower on {name} is {MAX_HEIGHT} pieces high already")
    _refuse("your supply is empty: you can only push")


def legal_push(position: Position, origin: int, target: int) -> int:
    """Return the push from ``origin`` whose last square is ``target`` (section 3.2); raises IllegalMove."""
    board = position.board
    name, wanted = SQUARES[origin], SQUARES[target]
    if board[origin] == EMPTY:
        _refuse(f"{name} is empty: there is nothing to push")
    _refuse_if_not_controlled(position, origin)
    if HEIGHT[board[origin]] < 2:
        _refuse(f"the tower on {name} is a single piece: only towers of two or more can be pushed")
    if origin == target:
        _refuse(f"a push has to leave {name}")
    first = FIRST_PUSH + 4 * origin
    move = next((first + way for way in range(4) if target in RAYS[4 * origin + way]), None)
    if move is None:
        _refuse(f"{wanted} is neither on the file nor on the rank of {name}: a push runs along one of them")
    if not is_legal(position, move):
        neighbour = RAYS[move - FIRST_PUSH][0]
        how = "as tall" if HEIGHT[board[neighbour]] == HEIGHT[board[origin]] else "taller"
        _refuse(f"the tower on {SQUARES[neighbour]} is {how}: nothing can fall on it from {name}")
    last = last_square(position, move)
    if last != target:
        _refuse(f"a push from {name} {DIRECTIONS[move & 3]} runs to {SQUARES[last]}, not {wanted}")
    return move


def _refuse_if_not_controlled(position: Position, square: int) -> None:
    """Refuse a tower, not an empty square, that the side to move does not control."""
    seat = controller(square, position.board[square])
    if seat < 0:
        _refuse(f"you do not control {SQUARES[square]}: the castle is neutral")
    if seat != position.side:
        _refuse(f"you do not control {SQUARES[square]}: {SEAT_NAMES[len(position.supplies)][seat]} does")


def _refuse(reason: str) -> NoReturn:
    raise IllegalMove(reason)
