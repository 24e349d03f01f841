"""The position of Fourplay and its string (rules, section 9)."""

import re
from typing import Final, NamedTuple

from domain.errors import MalformedNotation
from domain.fourplay.board import CORNERS, NAMES, NEUTRON_SQUARE, NUMBERS, QUADRANTS, SIDE, SQUARES
from domain.grid import parse_ranks, with_runs

KING: Final = 1
ARCHER: Final = 2
DOG: Final = 3
QUEEN: Final = 4
MUTATOR: Final = 5
GIRAFFE: Final = 6
ROOK: Final = 7
BISHOP: Final = 8
ANT: Final = 9
VERTICAL: Final = 10
HORIZONTAL: Final = 11
KIND_CODES: Final[tuple[str, ...]] = ("", "K", "A", "Dg", "Q", "Mu", "G", "R", "B", ",", "VM", "HM")
KINDS: Final = {code: kind for kind, code in enumerate(KIND_CODES) if code}
VALUES: Final[tuple[int, ...]] = (0, 0, 10, 7, 15, 7, 1, 5, 3, 1, 2, 2)
LIMITS: Final[tuple[int, ...]] = (0, 1, 2, 2, 1, 7, 6, 2, 2, 4, 4, 4)
TITLES: Final[tuple[str, ...]] = (
    "", "King", "Archer", "Little Dog", "Queen", "Mutator", "Giraffe", "Rook", "Bishop", "Ant", "Vertical Mover",
    "Horizontal Mover",
)  # fmt: skip
BUDGET: Final = 60
MIN_SPENT: Final = 51
"""The most and the least that an army costs (FP-12)."""
NEUTRON: Final = 15
PLAYERS: Final = "rbyg"
MAX_HALFMOVE_CLOCK: Final = 100
_SIGNS: Final = {0: " ", NEUTRON: "*"} | {
    (player + 1) << 4 | kind: letter + code
    for player, letter in enumerate(PLAYERS)
    for kind, code in enumerate(KIND_CODES)
    if code
}
"""The sign in a position string for every byte of a board; a space for an empty square."""


class Position(NamedTuple):
    """The board (a byte a square: 16 * (player + 1) + kind, 0 empty, NEUTRON), and the other fields of the string.

    ``eliminated`` lists the players that are out in the order in which they went; ``attachments`` pairs of the squares
    of a Dog and its host, in the order of the Dogs' squares.
    """

    board: bytes
    side: int
    setup: bool
    eliminated: tuple[int, ...]
    attachments: tuple[tuple[int, int], ...]
    halfmove_clock: int


def army_cost(board: bytes, player: int) -> int:
    """Return the cost of the pieces of ``player`` on the board."""
    return sum(VALUES[code & 15] for code in board if code >> 4 == player + 1)


def count(board: bytes, player: int, kind: int) -> int:
    """Return how many pieces of ``kind`` a player has on the board."""
    return board.count((player + 1) << 4 | kind)


ROWS: Final = tuple(NAMES[row::SIDE] for row in range(SIDE - 1, -1, -1))
"""The squares in the order of a position string."""
ITEM: Final = r"[0-9]+|\*|[rbyg](?:VM|HM|Dg|Mu|[KAQGRB,])"
_ITEM: Final = re.compile(ITEM)
_DOG: Final = re.compile(r"([a-o][0-9]{1,2})>([a-o][0-9]{1,2})")
_CLOCK: Final = re.compile(r"0|[1-9][0-9]?|100")


def parse_position(text: str) -> Position:
    """Return the position that ``text`` describes; raises MalformedNotation with the place and the reason."""
    fields = text.split(" ")
    if len(fields) != 6:
        raise MalformedNotation("expected 6 fields separated by single spaces (board, side, phase, out, dogs, clock)")
    board = _parse_board(fields[0])
    if len(fields[1]) != 1 or fields[1] not in PLAYERS:
        raise MalformedNotation("side to move must be one of r, b, y, g")
    side = PLAYERS.index(fields[1])
    if fields[2] not in ("setup", "play"):
        raise MalformedNotation("the phase must be 'setup' or 'play'")
    setup = fields[2] == "setup"
    eliminated = _parse_eliminated(fields[3])
    if side in eliminated:
        raise MalformedNotation(f"the side to move, {fields[1]}, is eliminated")
    _check_pieces(board, eliminated)
    attachments = _parse_attachments(fields[4], board)
    if not _CLOCK.fullmatch(fields[5]):
        raise MalformedNotation("the clock must be a plain number from 0 to 100")
    position = Position(board, side, setup, eliminated, attachments, int(fields[5]))
    if setup:
        _check_setup(position)
    else:
        _check_kings(position)
    return position


def _parse_board(text: str) -> bytes:
    board = bytearray(SQUARES)
    for name, sign in parse_ranks(text, ROWS, _ITEM, "row").items():
        board[NUMBERS[name]] = NEUTRON if sign == "*" else (PLAYERS.index(sign[0]) + 1) << 4 | KINDS[sign[1:]]
    if board[NEUTRON_SQUARE] != NEUTRON or board.count(NEUTRON) != 1:
        raise MalformedNotation("the Neutron must stand on h8 and nowhere else")
    return bytes(board)


def _parse_eliminated(text: str) -> tuple[int, ...]:
    if text == "-":
        return ()
    if not 1 <= len(text) <= 3 or len(set(text)) != len(text) or any(letter not in PLAYERS for letter in text):
        raise MalformedNotation("the eliminated players must be one to three different letters of r, b, y, g, or '-'")
    return tuple(PLAYERS.index(letter) for letter in text)


def _check_pieces(board: bytes, eliminated: tuple[int, ...]) -> None:
    for player, letter in enumerate(PLAYERS):
        for kind in range(1, 12):
            if count(board, player, kind) > LIMITS[kind]:
                raise MalformedNotation(f"{letter} has more than {LIMITS[kind]} of {TITLES[kind]}")
        if player in eliminated and count(board, player, KING):
            raise MalformedNotation(f"{letter} is eliminated but has a King")
    for square, code in enumerate(board):
        if code & 15 == ARCHER and code != NEUTRON and QUADRANTS[square] != (code >> 4) - 1:
            raise MalformedNotation(f"the Archer on {NAMES[square]} stands outside its owner's quadrant")


def _parse_attachments(text: str, board: bytes) -> tuple[tuple[int, int], ...]:
    if text == "-":
        return ()
    attachments: list[tuple[int, int]] = []
    for entry in text.split(";"):
        match = _DOG.fullmatch(entry)
        if match is None or match[1] not in NUMBERS or match[2] not in NUMBERS:
            raise MalformedNotation(f"attachments: {entry[:12]!r} is not of the form dog>host")
        dog, host = NUMBERS[match[1]], NUMBERS[match[2]]
        if board[dog] & 15 != DOG:
            raise MalformedNotation(f"attachments: no Little Dog stands on {match[1]}")
        if not board[host] or board[host] == NEUTRON:
            raise MalformedNotation(f"attachments: no piece stands on {match[2]}")
        if dog == host:
            raise MalformedNotation(f"attachments: the Dog on {match[1]} cannot be its own host")
        if attachments and dog <= attachments[-1][0]:
            raise MalformedNotation(f"attachments: {match[1]} is repeated or out of order")
        attachments.append((dog, host))
    return tuple(attachments)


def _check_kings(position: Position) -> None:
    for player, letter in enumerate(PLAYERS):
        if player not in position.eliminated and count(position.board, player, KING) != 1:
            raise MalformedNotation(f"{letter} is not eliminated and must have exactly one King")


def _check_setup(position: Position) -> None:
    board, side = position.board, position.side
    if position.eliminated or position.attachments or position.halfmove_clock:
        raise MalformedNotation("during the set-up nobody is eliminated, no Dog attached and the clock 0: '- - 0'")
    for square, code in enumerate(board):
        if code and code != NEUTRON:
            player = (code >> 4) - 1
            if QUADRANTS[square] != player:
                raise MalformedNotation(f"the piece on {NAMES[square]} stands outside its owner's quadrant")
            if code & 15 == ANT and square in CORNERS:
                raise MalformedNotation(f"an Ant may not be set up on the corner {NAMES[square]}")
    for player, letter in enumerate(PLAYERS):
        pieces = sum(code >> 4 == player + 1 for code in board)
        cost = army_cost(board, player)
        if cost > BUDGET:
            raise MalformedNotation(f"{letter} has spent {cost}, more than {BUDGET}")
        if player > side and pieces:
            raise MalformedNotation(f"{letter} has pieces before its turn to set up")
        if pieces and not count(board, player, KING):
            raise MalformedNotation(f"{letter} has pieces but no King")
        if player < side and (not pieces or cost < MIN_SPENT):
            raise MalformedNotation(
                f"{letter} has finished its set-up without a King or with less than {MIN_SPENT} spent"
            )


def format_position(position: Position) -> str:
    """Return the one position string of ``position``."""
    signs = [_SIGNS[code] for code in position.board]
    board = "/".join(["".join(signs[row::SIDE]) for row in range(SIDE - 1, -1, -1)])
    eliminated = "".join(PLAYERS[player] for player in position.eliminated) or "-"
    attachments = ";".join(f"{NAMES[dog]}>{NAMES[host]}" for dog, host in position.attachments) or "-"
    phase = "setup" if position.setup else "play"
    board = with_runs(board, SIDE)
    return f"{board} {PLAYERS[position.side]} {phase} {eliminated} {attachments} {position.halfmove_clock}"


def to_move(position: Position) -> int:
    """Return the seat whose turn it is, to play or to set up."""
    return position.side
