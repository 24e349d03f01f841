"""The legal moves with the positions after them, and the ends of the game (rules, "Turn" to "End of the game")."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain

from tests.support.slow_tower_game.board import (
    CUBES,
    Board,
    Cube,
    State,
    attacked,
    captures,
    cube_of,
    forward,
    in_check,
    name,
    own,
)

CORNERS = {"aa": "bb", "ae": "bd", "ea": "db", "ee": "dd"}


def steps(state: State, start: Cube) -> Iterator[tuple[str, Board]]:
    """Yield every move of the man on ``start`` that follows the movement rules, each with the men after it."""
    board, white, letter = state.board, state.white, state.board[start]
    for end in CUBES:
        taken, left = board.get(end), [start, end]
        if taken and own(taken, white):
            continue
        if letter not in "Pp":
            if not captures(board, start, end):
                continue
            sign = "x" if taken else "-"
        elif captures(board, start, end) and (taken or end == state.en_passant):
            sign = "x"
            if not taken:
                left.append((end[0], end[1], start[2]))
        elif pawn_walks(board, start, end, white):
            sign = "-"
        else:
            continue
        text = name(start) + sign + name(end)
        after = {cube: man for cube, man in board.items() if cube not in left}
        if letter in "Pp" and end[2] == (8 if white else 1):
            for kind in "BCFJMNR":
                yield f"{text}={kind}", {**after, end: kind if white else kind.lower()}
        else:
            yield text, {**after, end: letter}


def pawn_walks(board: Board, start: Cube, end: Cube, white: bool) -> bool:
    x, y, z = start
    one, two = (x, y, z + forward(white)), (x, y, z + 2 * forward(white))
    if end == two:
        return z == (2 if white else 7) and one not in board and two not in board
    return end == one and one not in board


def castlings(state: State) -> Iterator[tuple[str, Board]]:
    board, white = state.board, state.white
    rank = "1" if white else "8"
    for corner_file, passed_file in CORNERS.items():
        home, corner, crossed = cube_of("cc" + rank), cube_of(corner_file + rank), cube_of(passed_file + rank)
        if corner_file + rank not in state.castling_rights or crossed in board:
            continue
        if any(attacked(board, cube, not white) for cube in (home, crossed, corner)):
            continue
        after = {cube: man for cube, man in board.items() if cube not in (home, corner)}
        yield f"cc{rank}-{corner_file}{rank}", {**after, corner: board[home], crossed: board[corner]}


def rights_after(state: State, start: str, end: str) -> tuple[str, ...]:
    lost = {start, end}
    if state.board[cube_of(start)] in "Kk":
        lost |= {right for right in state.castling_rights if right[2] == ("1" if state.white else "8")}
    return tuple(right for right in state.castling_rights if right not in lost)


def open_moves(state: State) -> dict[str, State]:
    """Return the moves that are legal by the movement and check rules alone, each with the position after it."""
    found = {}
    walks = (step for start, man in state.board.items() if own(man, state.white) for step in steps(state, start))
    for text, board in chain(walks, castlings(state)):
        if in_check(board, state.white):
            continue
        start, end = text[:3], text[4:7]
        pawn = state.board[cube_of(start)] in "Pp"
        halfmove_clock = 0 if pawn or "x" in text else state.halfmove_clock + 1
        after = State(board, not state.white, rights_after(state, start, end), None, halfmove_clock)
        if pawn and abs(int(end[2]) - int(start[2])) == 2:
            x, y, z = cube_of(start)
            opened = replace(after, en_passant=(x, y, z + forward(state.white)))
            if can_pass(opened):
                after = opened
        found[text] = after
    return found


def is_passing(state: State, move: str) -> bool:
    """Return whether ``move`` is an en passant capture: a Pawn captures on an empty cube."""
    return state.board[cube_of(move[:3])] in "Pp" and "x" in move and cube_of(move[4:7]) not in state.board


def can_pass(state: State) -> bool:
    """Return whether there is a legal en passant capture of the Pawn that passed ``state.en_passant``."""
    if state.en_passant is None:
        return False
    return any(
        is_passing(state, text) and not in_check(board, state.white)
        for start, man in state.board.items()
        if man == ("P" if state.white else "p") and captures(state.board, start, state.en_passant)
        for text, board in steps(state, start)
    )


def same(one: State, other: State) -> bool:
    return replace(one, halfmove_clock=0) == replace(other, halfmove_clock=0)


def bare(board: Board) -> bool:
    """Return whether the men are K against K, or K and one of R, B, M, N, C, J against K."""
    others = [letter.upper() for letter in board.values() if letter not in "Kk"]
    return not others or (len(others) == 1 and others[0] in "RBMNCJ")


def outcome(state: State, history: Sequence[State] = ()) -> tuple[list[float], str] | None:
    """Return the scores of White and Black and the reason, or None while the game goes on."""
    mine: float
    if not open_moves(state):
        mine, reason = (0.0, "checkmate") if in_check(state.board, state.white) else (0.25, "stalemate")
    elif bare(state.board):
        mine, reason = 0.5, "insufficient-material"
    elif sum(same(state, earlier) for earlier in history) >= 2:
        mine, reason = 0.5, "repetition"
    elif state.halfmove_clock == 100:
        mine, reason = 0.5, "no-progress"
    else:
        return None
    return ([mine, 1 - mine] if state.white else [1 - mine, mine]), reason


def legal_moves(state: State) -> dict[str, State]:
    """Return the legal moves, none if the game has ended, each with the position after it."""
    return {} if outcome(state) else open_moves(state)


def perft(state: State, plies: int) -> int:
    return 1 if plies == 0 else sum(perft(after, plies - 1) for after in legal_moves(state).values())
