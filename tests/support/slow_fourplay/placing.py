"""Positions written as a list of pieces."""

import re

from tests.support.slow_fourplay.board import Piece, State, square_of, write

KINGS = "rKa1 bKa14 yKo14 gKo2 "


def placed(pieces: str, rest: str = "r play - - 0") -> str:
    """Return the position string with ``pieces`` (owner, code, square) and ``rest``, the fields after the board."""
    state = State({}, "r", "play", "", {}, 0)
    for piece in pieces.split():
        match = re.fullmatch(r"([rbyg])(\D+)([a-o]\d+)", piece)
        assert match is not None
        state.pieces[len(state.pieces)] = Piece(match[1], match[2], square_of(match[3]))
    return f"{write(state).partition(' ')[0]} {rest}"
