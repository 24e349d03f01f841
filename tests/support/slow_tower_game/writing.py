"""Position strings and short algebraic notation (rules, "Position notation", "Move notation")."""

import re
from collections.abc import Collection

from tests.support.slow_tower_game.board import ORDER_OF_RIGHTS, Board, Cube, State, cube_of, forward, in_check, name
from tests.support.slow_tower_game.moves import can_pass, is_passing

CUBE = "[a-e][a-e][1-8]"
CASTLED = {
    ("original", True): {"O-B": "ee1", "O-M": "aa1", "O-C": "ae1", "O-J": "ea1"},
    ("original", False): {"O-B": "aa8", "O-M": "ee8", "O-C": "ae8", "O-J": "ea8"},
    ("alternate", True): {"O-B": "aa1", "O-M": "ae1", "O-C": "ee1", "O-J": "ea1"},
    ("alternate", False): {"O-B": "aa8", "O-M": "ae8", "O-C": "ee8", "O-J": "ea8"},
}


class RefusedError(Exception):
    """A position or a move that is not to be read."""


def demand(holds: bool, wanted: str) -> None:
    if not holds:
        raise RefusedError(wanted)


def read(text: str) -> State:
    """Return the position of a string; raises RefusedError for any other spelling and for what cannot be played on."""
    fields = text.split(" ")
    demand(len(fields) == 5, "five fields")
    men, side, castling, en_passant, halfmove_clock = fields
    board = read_men(men)
    letters = list(board.values())
    demand(letters.count("K") == 1 and letters.count("k") == 1, "one King a side")
    demand(not any(man in "Pp" and cube[2] in (1, 8) for cube, man in board.items()), "no Pawn on rank 1 or 8")
    demand(side in ("w", "b"), "w or b")
    castling_rights = read_rights(castling, board)
    demand(re.fullmatch("0|[1-9][0-9]?|100", halfmove_clock) is not None, "0 to 100")
    state = State(board, side == "w", castling_rights, read_passed(en_passant, board, side == "w"), int(halfmove_clock))
    demand(not in_check(board, not state.white), "the side not to move is not in check")
    if state.en_passant is not None:
        demand(halfmove_clock == "0", "a Pawn has just moved")
        demand(can_pass(state), "a legal en passant capture")
    return state


def read_men(men: str) -> Board:
    ranks = men.split("|")
    demand(len(ranks) == 8, "eight ranks")
    board = {}
    for z, rank in zip(range(8, 0, -1), ranks, strict=True):
        rows = rank.split("/")
        demand(len(rows) == 5, "five rows")
        for y, row in zip(range(4, -1, -1), rows, strict=True):
            demand(re.fullmatch("[KRBMNCJFPkrbmncjfp1-5]+", row) is not None, "known letters")
            demand(re.search("[1-5][1-5]", row) is None, "no two digits in succession")
            cubes = "".join("." * int(sign) if sign.isdigit() else sign for sign in row)
            demand(len(cubes) == 5, "five cubes")
            board.update({(x, y, z): letter for x, letter in enumerate(cubes) if letter != "."})
    return board


def read_rights(castling: str, board: Board) -> tuple[str, ...]:
    if castling == "-":
        return ()
    castling_rights = tuple(castling.split(","))
    demand(castling_rights == tuple(right for right in ORDER_OF_RIGHTS if right in castling_rights), "corners in order")
    for right in castling_rights:
        king, rook = ("K", "R") if right[2] == "1" else ("k", "r")
        demand(board.get(cube_of("cc" + right[2])) == king, "a King at home")
        demand(board.get(cube_of(right)) == rook, "a Rook in the corner")
    return castling_rights


def read_passed(en_passant: str, board: Board, white: bool) -> Cube | None:
    if en_passant == "-":
        return None
    demand(re.fullmatch(CUBE, en_passant) is not None, "a cube")
    x, y, z = cube_of(en_passant)
    demand(z == (6 if white else 3), "a passed cube")
    demand((x, y, z) not in board and (x, y, z + forward(white)) not in board, "a way of two steps")
    demand(board.get((x, y, z - forward(white))) == ("p" if white else "P"), "a Pawn that went it")
    return x, y, z


def write(state: State) -> str:
    ranks = []
    for z in range(8, 0, -1):
        rows = ["".join(state.board.get((x, y, z), " ") for x in range(5)) for y in range(4, -1, -1)]
        ranks.append("/".join(re.sub(" +", lambda run: str(len(run[0])), row) for row in rows))
    en_passant = name(state.en_passant) if state.en_passant else "-"
    side, castling = "w" if state.white else "b", ",".join(state.castling_rights) or "-"
    return f"{'|'.join(ranks)} {side} {castling} {en_passant} {state.halfmove_clock}"


def san(state: State, legal: Collection[str], move: str) -> str:
    """Return one of the ``legal`` canonical moves in short algebraic notation."""
    start, sign, end, promoted = move[:3], move[3].replace("-", ""), move[4:7], move[7:]
    letter = state.board[cube_of(start)].upper()
    if letter == "P":
        return (start[:2] + "x" if sign else "") + end + promoted + ("e.p." if is_passing(state, move) else "")
    rivals = {
        other[:3]
        for other in legal
        if other[4:7] == end and other[:3] != start and state.board[cube_of(other[:3])].upper() == letter
    }
    if not rivals:
        prefix = ""
    elif all(rival[:2] != start[:2] for rival in rivals):
        prefix = start[:2]
    else:
        prefix = start
    return prefix + letter + sign + end


def read_san(state: State, legal: Collection[str], text: str, setup: str | None = None) -> str:
    """Return which of the ``legal`` canonical moves ``text`` stands for; raises RefusedError for none or several."""
    text = "".join(text.split())
    if text in legal:
        return text
    if text.endswith(("+", "#")):
        text = text[:-1]
    marked = text.endswith(("e.p.", "ep"))
    if marked:
        text = text[: -4 if text.endswith("e.p.") else -2]
    found = [
        move
        for move in legal
        if (is_passing(state, move) or not marked)
        and (is_castling_of(state, move, text, setup) or is_written(state, move, text))
    ]
    demand(len(found) == 1, "exactly one legal move")
    return found[0]


def is_castling_of(state: State, move: str, text: str, setup: str | None) -> bool:
    corners = {
        CASTLED[known, state.white].get(text) for known in ("original", "alternate") if setup is None or known == setup
    }
    home = "cc1" if state.white else "cc8"
    return move[:3] == home and state.board[cube_of(home)] in "Kk" and corners == {move[4:7]}


def is_written(state: State, move: str, text: str) -> bool:
    """Return whether ``text`` is one of the forms of ``move``, with any prefix that a reader may give."""
    start, sign, end, promoted = move[:3], move[3].replace("-", ""), move[4:7], move[7:]
    letter = state.board[cube_of(start)].upper()
    if letter == "P":
        return text == (start[:2] + "x" if sign else "") + end + promoted
    return text in {prefix + letter + sign + end for prefix in ("", start[:2], start[2], start)}
