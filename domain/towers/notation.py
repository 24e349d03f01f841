"""Move strings of Towers (section 9), and why a move is refused."""

import re
from typing import NoReturn

from domain.game import GameOver, IllegalMove, MalformedNotation
from domain.reading import bare
from domain.towers.board import (
    CASTLES,
    DIRECTIONS,
    HEIGHT,
    NOTHING,
    RAYS,
    SEAT_NAMES,
    SQUARE_NUMBERS,
    SQUARES,
    TALLEST,
    controller,
)
from domain.towers.facts import FIRST_PUSH
from domain.towers.moves import is_legal, topple
from domain.towers.outcome import outcome
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


def last_square(position: Position, push: int) -> int:
    """Return the last square that ``push`` reaches; its first square when nothing can fall."""
    return topple(position.board, push)[-1][0]


def parse_move(position: Position, text: str) -> int:
    """Return the legal move that ``text`` names; raises MalformedNotation, GameOver or IllegalMove with the reason."""
    form = _BUILD_FORM if text[:1] == "+" else _PUSH_FORM
    for place, (expected, found) in enumerate(zip(form, text, strict=False), start=1):
        if found not in expected:
            wanted = _MEANINGS[expected] if place > 1 else "'+' or " + _MEANINGS[expected]
            raise MalformedNotation(f"character {place}: expected {wanted}, found {found!r}")
    if len(text) < len(form):
        wanted = _MEANINGS[form[len(text)]] if text else "'+' or a square"
        raise MalformedNotation(f"the move ends too early: expected {wanted} as character {len(text) + 1}")
    if len(text) > len(form):
        raise MalformedNotation(f"character {len(form) + 1}: the move should end before it")
    over = outcome(position, ())
    if over is not None:
        raise GameOver(f"the game is over: {over.reason.replace('-', ' ')}")
    if text[0] == "+":
        return _build(position, SQUARE_NUMBERS[text[1:]])
    return _push(position, SQUARE_NUMBERS[text[:2]], SQUARE_NUMBERS[text[3:]])


def read_move(position: Position, text: str) -> int:
    """Return the legal move that a player means by ``text``: as ``parse_move``, but whatever its capitals and marks.

    A square alone is a build there. Raises as ``parse_move`` does.
    """
    loose = _LOOSE.fullmatch(bare(text).lower()) if len(text) <= MAX_LOOSE_LENGTH else None
    if loose is None:
        return parse_move(position, text)
    built, origin, target = loose.groups()
    return parse_move(position, f"+{built}" if built else f"{origin}-{target}")


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
    if position.board[square] == NOTHING:
        return f"{name} is empty"
    try:
        _refuse_if_not_controlled(position, square)
    except IllegalMove as refusal:
        return str(refusal)
    kind, height = ("castle" if square in CASTLES else "tower"), HEIGHT[position.board[square]]
    built = "cannot be built on" if square in CASTLES or height == TALLEST else "cannot grow: your supply is empty"
    fallen = "is too low to be pushed" if height < 2 else "no neighbour is lower, so that nothing could fall"
    return f"the {kind} on {name} {built}, and {'it ' if height < 2 else ''}{fallen}"


def _build(position: Position, square: int) -> int:
    """Return the build on ``square`` (section 3.1)."""
    if is_legal(position, square):
        return square
    name = SQUARES[square]
    if square in CASTLES:
        _refuse(f"{name} is a castle: castles cannot be built on")
    if position.board[square] == NOTHING:
        _refuse(f"{name} is empty: you build on towers that you control")
    _refuse_if_not_controlled(position, square)
    if HEIGHT[position.board[square]] == TALLEST:
        _refuse(f"the tower on {name} is {TALLEST} pieces high already")
    _refuse("your supply is empty: you can only push")


def _push(position: Position, origin: int, target: int) -> int:
    """Return the push from ``origin`` whose last square is ``target`` (section 3.2)."""
    board = position.board
    name, wanted = SQUARES[origin], SQUARES[target]
    if board[origin] == NOTHING:
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
