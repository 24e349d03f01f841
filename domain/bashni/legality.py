"""Whether one given move is legal, and why a move is refused or a column has none; no moves are enumerated."""

import re

from domain.bashni.board import (
    BETWEEN,
    KING_VIEWS,
    LAST_ROWS,
    MAN_JUMPS,
    MAX_HALFMOVE_CLOCK,
    NAMES,
    NUMBERS,
    SEAT_NAMES,
    SQUARE_NUMBERS,
    SQUARES,
    Move,
)
from domain.bashni.moves import CaptureBoard, Jump, can_jump, capturers, victims
from domain.bashni.position import Position
from domain.errors import MalformedNotation

_BOARD_SQUARE = re.compile("[a-h][1-8]")


def is_legal(position: Position, move: Move, jump: Jump) -> bool:
    """Return whether ``move``, a tuple of any integers, is among the legal moves; ``jump`` is the ruleset's."""
    if position.halfmove_clock >= MAX_HALFMOVE_CLOCK or len(move) < 2:
        return False
    if not all(0 <= square < NUMBERS and NAMES[square] for square in move):
        return False
    own, enemy = _own_and_enemy(position)
    return refusal(position, move, capturers(own, enemy, position.kings) != 0, jump) is None


def refusal(position: Position, move: Move, captures: bool, jump: Jump) -> str | None:
    """Return why the player to move may not play ``move``, or None when it is legal, the draw counter disregarded.

    ``move`` is two or more squares of the board; ``captures`` is whether it is meant as a capture.
    """
    own, enemy = _own_and_enemy(position)
    start = move[0]
    if not own >> start & 1:
        if enemy >> start & 1:
            return f"{NAMES[start]} holds no column of yours: {SEAT_NAMES[position.side]} is to move"
        return f"{NAMES[start]} is empty"
    if captures:
        return _capture_refusal(position, move, jump)
    jumpers = capturers(own, enemy, position.kings)
    if jumpers:
        starts = [square for square in range(NUMBERS) if jumpers >> square & 1]
        examples = ["x".join(NAMES[stop] for stop in _some_capture(position, square, jump)) for square in starts[:2]]
        return f"a capture is compulsory, such as {' or '.join(examples)}"
    return _plain_refusal(position, move)


def capturing_squares(position: Position) -> tuple[str, ...]:
    """Return the squares of the columns one of which must capture; none when no column can (section 4)."""
    own, enemy = _own_and_enemy(position)
    jumpers = capturers(own, enemy, position.kings)
    return tuple(NAMES[square] for square in range(NUMBERS) if jumpers >> square & 1)


def why_not(position: Position, name: str) -> str | None:
    """Return why no legal move begins on the square ``name``; None when one does."""
    if name not in SQUARE_NUMBERS:
        if _BOARD_SQUARE.fullmatch(name):
            return f"{name} is a light square, which is not used"
        raise MalformedNotation(f"there is no square {name[:10]}")
    square = SQUARE_NUMBERS[name]
    own, enemy = _own_and_enemy(position)
    if enemy >> square & 1:
        return f"the column on {name} is {SEAT_NAMES[1 - position.side]}'s, and {SEAT_NAMES[position.side]} is to move"
    if not own >> square & 1:
        return f"{name} is empty"
    if position.halfmove_clock >= MAX_HALFMOVE_CLOCK:
        return "the game is over"
    jumpers = capturing_squares(position)
    if jumpers:
        return None if name in jumpers else f"you must capture: {', '.join(f'{jumper} can' for jumper in jumpers)}"
    if any(_plain_refusal(position, (square, end)) is None for end in SQUARES):
        return None
    if position.kings >> square & 1:
        return f"the king on {name} is blocked on every side, and nothing can be captured"
    return f"the man on {name} is blocked: the squares in front of it are not free, and nothing can be captured"


def _plain_refusal(position: Position, move: Move) -> str | None:
    if len(move) != 2:
        return "a move without capture has two squares"
    start, end = move
    occupied = position.white | position.black
    if not _aligned(start, end):
        return f"{NAMES[end]} is not on a diagonal with {NAMES[start]}"
    if occupied >> end & 1:
        return f"{NAMES[end]} is not empty"
    if position.kings >> start & 1:
        blocked = BETWEEN[start][end] & occupied
        return f"{_first_name(blocked)} is in the way" if blocked else None
    if BETWEEN[start][end]:
        return "a man moves one square at a time"
    forward = NAMES[end][1] < NAMES[start][1] if position.side else NAMES[end][1] > NAMES[start][1]
    return None if forward else "a man moves forward only, unless it captures"


def _capture_refusal(position: Position, move: Move, jump: Jump) -> str | None:
    """Return why a column of the player may not capture like that (section 5)."""
    own, _ = _own_and_enemy(position)
    start = square = move[0]
    board = _capture_board(position, start)
    own ^= 1 << start
    king = position.kings >> start & 1 == 1
    jumped = 0
    for landing in move[1:]:
        occupied, enemy, spared, _ = board
        if not can_jump(square, king, occupied, enemy):
            if square == start and not jumped:
                return f"{NAMES[square]} has nothing to capture"
            return f"the capture ends on {NAMES[square]}: nothing can be captured from there"
        between = BETWEEN[square][landing]
        victim_bit = between & occupied
        if not _aligned(square, landing):
            return f"{NAMES[landing]} is not on a diagonal with {NAMES[square]}"
        if not victim_bit:
            return f"there is nothing to capture between {NAMES[square]} and {NAMES[landing]}"
        if victim_bit & spared:
            return (
                f"{_first_name(victim_bit & spared)} was jumped last: another column must be jumped before it is again"
            )
        if victim_bit & jumped & ~enemy:
            return f"{_first_name(victim_bit & jumped & ~enemy)} has been jumped in this move already and is in the way"
        if victim_bit & own:
            return f"{_first_name(victim_bit & own)} is your own column, which cannot be jumped"
        if victim_bit & (victim_bit - 1):
            return f"more than one column stands between {NAMES[square]} and {NAMES[landing]}"
        if occupied >> landing & 1:
            return f"{NAMES[landing]} is not empty"
        if not king and between & (between - 1):
            return "a man jumps a column beside it and lands right behind it"
        behind = _landings(square, victim_bit, occupied) if king else (landing,)
        jumped |= victim_bit
        board = jump(board, victim_bit.bit_length() - 1, position.side)
        leading = [NAMES[other] for other in behind if king and _can_go_on(other, board)]
        if leading and NAMES[landing] not in leading:
            return f"a king that can go on capturing must land where it can: on {' or '.join(sorted(leading))}"
        king = king or LAST_ROWS[position.side] >> landing & 1 == 1
        square = landing
    occupied, enemy, _, _ = board
    if can_jump(square, king, occupied, enemy):
        return f"the capture must go on from {NAMES[square]}"
    return None


def _some_capture(position: Position, start: int, jump: Jump) -> Move:
    """Return one legal capture with the column on ``start``, which can capture: the first that offers itself."""
    board = _capture_board(position, start)
    king = position.kings >> start & 1 == 1
    path = [start]
    while True:
        square = path[-1]
        occupied, enemy, _, _ = board
        if not can_jump(square, king, occupied, enemy):
            return tuple(path)
        if king:
            seen = victims(square, occupied, enemy)
            victim_bit = seen & -seen
            behind = _landings(square, victim_bit, occupied)
        else:
            victim_bit, behind = next(
                (victim, (square_behind,))
                for victim, bit_behind, _, square_behind in MAN_JUMPS[square]
                if enemy & victim and not occupied & bit_behind
            )
        board = jump(board, victim_bit.bit_length() - 1, position.side)
        path.append(next((other for other in behind if king and _can_go_on(other, board)), behind[0]))
        king = king or LAST_ROWS[position.side] >> path[-1] & 1 == 1


def _capture_board(position: Position, start: int) -> CaptureBoard:
    own, enemy = _own_and_enemy(position)
    return (own | enemy) ^ 1 << start, enemy, 0, position.below


def _can_go_on(square: int, board: CaptureBoard) -> bool:
    occupied, enemy, _, _ = board
    return victims(square, occupied, enemy) != 0


def _landings(square: int, victim_bit: int, occupied: int) -> tuple[int, ...]:
    """Return where a king on ``square`` can land behind a column that it can jump."""
    rising, rising_views, falling, falling_views = KING_VIEWS[square]
    seen = rising_views[occupied & rising][2] + falling_views[occupied & falling][2]
    return next(landings for bit, _, landings in seen if bit == victim_bit)


def _aligned(start: int, end: int) -> bool:
    return (KING_VIEWS[start][0] | KING_VIEWS[start][2]) >> end & 1 == 1


def _own_and_enemy(position: Position) -> tuple[int, int]:
    """Return the columns of the player to move and those of the other, as sets."""
    return (position.black, position.white) if position.side else (position.white, position.black)


def _first_name(squares: int) -> str:
    return NAMES[(squares & -squares).bit_length() - 1]
