"""A position of Towers, and its string (section 8)."""

from typing import Final, NamedTuple, NoReturn

from domain.errors import MalformedNotation
from domain.grid import with_runs
from domain.towers.board import (
    CASTLES,
    EMPTY,
    LETTERS,
    MAX_HEIGHT,
    MAX_PUSHES,
    PIECES_EACH,
    SEAT_NAMES,
    SIDE,
    SQUARES,
    pieces_of,
    tower_of,
)
from domain.towers.features import can_act, features_of, goal_reached

_FIELDS: Final[tuple[str, ...]] = ("board", "players", "side", "pushes")
_PUSH_COUNTS: Final = {str(count): count for count in range(MAX_PUSHES + 1)}
_COLOURS: Final = {"w": "white", "u": "blue", "r": "red", "b": "black"}


class Position(NamedTuple):
    """Towers by square, the facts that follow from them, supplies by seat, the side to move, pushes in a row."""

    board: tuple[int, ...]
    features: int
    supplies: tuple[int, ...]
    side: int
    pushes: int


def parse_position(text: str) -> Position:
    """Return the position that ``text`` describes; raises MalformedNotation with the place and the reason."""
    fields = text.split(" ")
    if "" in fields[:8]:
        _refuse(f"field {fields.index('') + 1} is empty: fields are separated by single spaces")
    if len(fields) != len(_FIELDS):
        _refuse(f"a position has 4 fields ({', '.join(_FIELDS)}), not {len(fields)}")
    board_field, players_field, side_field, pushes_field = fields
    if players_field not in ("2", "4"):
        _refuse(f"players: expected 2 or 4, found {_quoted(players_field)}")
    players = int(players_field)
    letters = LETTERS[players]
    board = _parse_board(board_field, letters)
    if len(side_field) != 1 or side_field not in letters:
        _refuse(f"side: expected one of {', '.join(letters)}, found {_quoted(side_field)}")
    if pushes_field not in _PUSH_COUNTS:
        _refuse(f"pushes: expected a number from 0 to {MAX_PUSHES}, found {_quoted(pushes_field)}")
    position = Position(
        board,
        features_of(board),
        _supplies(board_field, letters),
        letters.index(side_field),
        _PUSH_COUNTS[pushes_field],
    )
    _refuse_unskipped_side(position)
    return position


def format_position(position: Position) -> str:
    """Return the one position string of ``position``."""
    letters = LETTERS[len(position.supplies)]
    signs = [letters_of(square, tower, letters) or " " for square, tower in enumerate(position.board)]
    board = "/".join([",".join(signs[rank::SIDE]) for rank in range(SIDE - 1, -1, -1)])
    return f"{with_runs(board, SIDE, ',')} {len(letters)} {letters[position.side]} {position.pushes}"


def letters_of(square: int, tower: int, letters: str) -> str:
    """Return the pieces of ``tower`` as ``letters`` of the seats, bottom first, green as ``g``; "" for nothing."""
    pieces = "".join([letters[seat] for seat in pieces_of(tower)])
    return "g" + pieces[1:] if square in CASTLES else pieces


def _parse_board(field: str, letters: str) -> tuple[int, ...]:
    ranks = field.split("/")
    if len(ranks) != SIDE:
        _refuse(f"board: expected 7 ranks separated by '/', found {len(ranks)}")
    board = [EMPTY] * len(SQUARES)
    for number, rank in enumerate(ranks):
        _parse_rank(rank, SIDE - number, letters, board)
    return tuple(board)


def _parse_rank(text: str, rank: int, letters: str, board: list[int]) -> None:
    file = 0
    after_run = False
    for item in text.split(","):
        is_run = len(item) == 1 and item in "1234567"
        width = int(item) if is_run else 1
        if file + width > SIDE:
            _refuse(f"rank {rank} has more than 7 squares")
        squares = range(file * SIDE + rank - 1, (file + width) * SIDE, SIDE)
        if is_run:
            if after_run:
                _refuse(f"rank {rank}, square {SQUARES[squares[0]]}: two runs of empty squares side by side")
            for square in squares:
                if square in CASTLES:
                    _refuse(f"{SQUARES[square]}: the castle lacks its green piece")
        else:
            board[squares[0]] = _parse_tower(item, squares[0], letters)
        after_run = is_run
        file += width
    if file != SIDE:
        _refuse(f"rank {rank} has {file} squares, not 7")


def _parse_tower(item: str, square: int, letters: str) -> int:
    name = SQUARES[square]
    strange = next((letter for letter in item if letter not in "wurbg"), None)
    if strange is not None or not item:
        _refuse(f"{name}: expected pieces (w, u, r, b, g) or a run of 1 to 7 empty squares, found {_quoted(item)}")
    if len(item) > MAX_HEIGHT:
        _refuse(f"{name}: a tower is at most {MAX_HEIGHT} pieces high, not {len(item)}")
    absent = next((letter for letter in item if letter not in letters and letter != "g"), None)
    if absent is not None:
        _refuse(f"{name}: no {_COLOURS[absent]} pieces in a game of {len(letters)} players")
    if square in CASTLES:
        if item[0] != "g":
            _refuse(f"{name}: the castle lacks its green piece at the bottom")
        if "g" in item[1:]:
            _refuse(f"{name}: a castle has one green piece only")
    elif "g" in item:
        _refuse(f"{name}: green pieces stand on the castles only")
    return tower_of([0 if letter == "g" else letters.index(letter) for letter in item])


def _supplies(board_field: str, letters: str) -> tuple[int, ...]:
    players = len(letters)
    supplies = tuple(PIECES_EACH[players] - board_field.count(letter) for letter in letters)
    for name, supply in zip(SEAT_NAMES[players], supplies, strict=True):
        if supply < 0:
            _refuse(f"{name} has {PIECES_EACH[players] - supply} pieces on the board, more than {PIECES_EACH[players]}")
    return supplies


def _refuse_unskipped_side(position: Position) -> None:
    """Refuse a side to move that should have been skipped (section 8); with two players no turn is skipped."""
    _, features, supplies, side, _ = position
    players = len(supplies)
    if players == 2 or goal_reached(features, players) or can_act(features, side, supplies[side]):
        return
    for step in (1, 2):
        seat = (side + step) % players
        if can_act(features, seat, supplies[seat]):
            names = SEAT_NAMES[players]
            _refuse(f"side: {names[side]} cannot act but {names[seat]} can, so the turn should have been skipped")


def _quoted(text: str) -> str:
    return repr(text) if len(text) <= 12 else repr(text[:12]) + "..."


def _refuse(reason: str) -> NoReturn:
    raise MalformedNotation(reason)


def to_move(position: Position) -> int:
    """Return the seat whose turn it is; of a game ended by rule 1 or 2, the next in turn order (section 8)."""
    return position.side
