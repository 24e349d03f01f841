"""Moves read from text (rules, section 9)."""

import re

from domain.errors import GameOver, IllegalMove, MalformedNotation, ambiguous_move
from domain.fourplay.board import NUMBERS
from domain.fourplay.legality import is_legal, refusal
from domain.fourplay.moves import DONE, MAX_LENGTH, PASS, SQUARE, is_well_formed, legal_moves_from
from domain.fourplay.outcome import outcome
from domain.fourplay.position import KIND_CODES, Position
from domain.game import without_marks

_LOOSE_MOVE = re.compile(f"({SQUARE})(<>|[-x:*<>]?)({SQUARE})(?:=?(dg|q|mu|g|r|b|vm|hm))?")
_LOOSE_PLACEMENT = re.compile(f"(k|a|dg|q|mu|g|r|b|,|vm|hm)@?({SQUARE})")
_CODES = {code.lower(): code for code in KIND_CODES if code}
_ALIKE = ("-", "x", ":", "*")
"""Marks that players confuse: any of them is read as the one that fits."""


def parse_move(position: Position, text: str) -> str:
    """Return the legal move ``text``; raises MalformedNotation, GameOver or IllegalMove with the reason."""
    if not is_well_formed(text):
        shown = text if len(text) <= MAX_LENGTH else text[:MAX_LENGTH] + "..."
        raise MalformedNotation(f"{shown!r} is no move: expected for example c3-c7, c3xc7, e4*e8, g7>g8, Q@b3 or pass")
    reason = refusal(position, text)
    if reason is None:
        return text
    ended = outcome(position, ())
    if ended is not None:
        raise GameOver(f"the game is over: {ended.reason}")
    raise IllegalMove(reason)


def format_move(position: Position, move: str) -> str:  # noqa: ARG001 - a move is its string
    """Return ``move``, which is its own canonical string."""
    return move


def read_move(position: Position, text: str, setup: str) -> str:  # noqa: ARG001 - squares have one name in all setups
    """Read ``text`` as ``parse_move`` does, but capitals and marks may differ."""
    bare = without_marks(text) if len(text) <= 10_000 else text
    if is_legal(position, bare):
        return bare
    loose = bare.lower()
    if len(loose) > MAX_LENGTH:
        return parse_move(position, text)
    placement = _LOOSE_PLACEMENT.fullmatch(loose)
    if placement or loose in (PASS, DONE):
        return parse_move(position, f"{_CODES[placement[1]]}@{placement[2]}" if placement else loose)
    match = _LOOSE_MOVE.fullmatch(loose)
    if not match:
        return parse_move(position, text)
    start, mark, end, code = match.groups()
    promotion = f"={_CODES[code]}" if code else ""
    marks = ("-", "x", "*", ">", "<", "<>") if not mark else ("-", "x", "*") if mark in _ALIKE else (mark,)
    meant = {f"{start}{separator}{end}{promotion}" for separator in marks}
    fitting = meant.intersection(legal_moves_from(position, NUMBERS[start]))
    if len(fitting) > 1:
        raise ambiguous_move(text, fitting)
    if fitting:
        return fitting.pop()
    usual = "x" if position.board[NUMBERS[end]] else "-"
    return parse_move(
        position, text if is_well_formed(text) else f"{start}{mark.replace(':', 'x') or usual}{end}{promotion}"
    )
