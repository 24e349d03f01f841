"""Generation and application of the moves of Bashni (sections 3 to 5)."""

from collections.abc import Callable, Sequence
from typing import Final

from domain.bashni.board import (
    BETWEEN,
    BOARD,
    KING_MOVES,
    KING_VIEWS,
    LAST_ROWS,
    LEFT_STEPS,
    LETTERS,
    MAN_JUMPS,
    MAX_HALFMOVE_CLOCK,
    RIGHT_STEPS,
    Move,
)
from domain.bashni.position import Position
from domain.game import Outcome
from domain.history import occurrences

CaptureBoard = tuple[int, int, int, tuple[str, ...]]
"""The board during a capture, without the capturing column: the occupied squares; the columns that may be
jumped; the rest of the column jumped last, if it may be jumped again later; and the pieces under the commanders."""

Jump = Callable[[CaptureBoard, int, int], CaptureBoard]
"""Returns the field after a column of ``side`` has jumped the column on a square: (field, square, side)."""


def never_again(board: CaptureBoard, victim: int, side: int) -> CaptureBoard:  # noqa: ARG001
    """Return the field after a jump of ruleset 1: the rest of a tower is an obstacle for the rest of the move."""
    occupied, enemy, _, below = board
    bit = 1 << victim
    # The rest of a tower stays in the way, a single piece is gone at once (BA-01).
    return occupied if below[victim] else occupied ^ bit, enemy ^ bit, 0, below


def again_after_another(board: CaptureBoard, victim: int, side: int) -> CaptureBoard:
    """Return the field after a jump of ruleset 2: the rest of the tower jumped before this one may be jumped again.

    Every capture ends, for each jump takes a piece from a column of the enemy and none is added to them.
    """
    occupied, enemy, spared, below = board
    bit = 1 << victim
    rest = below[victim]
    if not rest:
        return occupied ^ bit, enemy ^ bit | spared, 0, below
    columns = list(below)
    columns[victim] = rest[1:]
    # A column that has been freed is the mover's own: it cannot be jumped, now or later (BA-13).
    return occupied, enemy ^ bit | spared, bit if rest[0] in LETTERS[1 - side] else 0, tuple(columns)


def legal_moves(position: Position, jump: Jump) -> list[Move]:
    """Return the legal moves in ASCII order of their strings; none when section 7, condition 2 has ended the game."""
    white, black, kings, below, side, halfmove_clock = position
    if halfmove_clock >= MAX_HALFMOVE_CLOCK:
        return []
    own, enemy = (black, white) if side else (white, black)
    occupied = white | black
    moves: list[Move] = []

    # Capturing is compulsory (section 4). Not a function of its own: random games capture at every other move.
    jumpers = capturers(own, enemy, kings)
    if jumpers:
        while jumpers:
            bit = jumpers & -jumpers
            jumpers ^= bit
            square = bit.bit_length() - 1
            add_captures = _add_king_captures if kings & bit else _add_man_captures
            add_captures((square,), square, (occupied ^ bit, enemy, 0, below), side, jump, moves)
        # Kings, and men crowned on the way, are not generated in order: their diagonals come one after the other.
        moves.sort()
        return moves

    # Men move one square forward, kings any number of empty squares (section 3).
    empty = BOARD ^ occupied
    movers = own & kings
    men = own ^ movers
    if side:
        left, right = men & empty << 5, men & empty >> 4
    else:
        left, right = men & empty << 4, men & empty >> 5
    left_steps, right_steps = LEFT_STEPS[side], RIGHT_STEPS[side]
    movers |= left | right
    while movers:
        bit = movers & -movers
        movers ^= bit
        if left & bit:
            moves.append(left_steps[bit])
        if right & bit:
            moves.append(right_steps[bit])
        elif kings & bit:
            square = bit.bit_length() - 1
            rising, rising_views, falling, falling_views = KING_VIEWS[square]
            moves += KING_MOVES[square][rising_views[occupied & rising][0] | falling_views[occupied & falling][0]]
    return moves


def capturers(own: int, enemy: int, kings: int) -> int:
    """Return the columns of ``own`` that can capture, as a set (section 5.1)."""
    empty = BOARD ^ (own | enemy)
    crowned = own & kings
    jumpers = (own ^ crowned) & (
        enemy >> 5 & empty >> 10 | enemy >> 4 & empty >> 8 | enemy << 4 & empty << 8 | enemy << 5 & empty << 10
    )
    while crowned:
        bit = crowned & -crowned
        crowned ^= bit
        if victims(bit.bit_length() - 1, own | enemy, enemy):
            jumpers |= bit
    return jumpers


def victims(square: int, occupied: int, enemy: int) -> int:
    """Return the columns of ``enemy`` that a king on ``square`` can jump, as a set (section 5.1)."""
    rising, rising_views, falling, falling_views = KING_VIEWS[square]
    return (rising_views[occupied & rising][1] | falling_views[occupied & falling][1]) & enemy


def can_jump(square: int, king: bool, occupied: int, enemy: int) -> bool:
    """Return whether a king, or a man, on ``square`` can jump a column of ``enemy`` (section 5.1)."""
    if king:
        return victims(square, occupied, enemy) != 0
    return any(enemy & victim and not occupied & landing for victim, landing, _, _ in MAN_JUMPS[square])


def _add_man_captures(path: Move, square: int, board: CaptureBoard, side: int, jump: Jump, moves: list[Move]) -> bool:
    """Append the captures that go on from ``path`` with a man on ``square``; return whether there are any."""
    occupied, enemy, _, _ = board
    captured = False
    for victim_bit, landing_bit, victim, landing in MAN_JUMPS[square]:
        if enemy & victim_bit and not occupied & landing_bit:
            captured = True
            longer = (*path, landing)
            add_captures = _add_king_captures if landing_bit & LAST_ROWS[side] else _add_man_captures
            if not add_captures(longer, landing, jump(board, victim, side), side, jump, moves):
                moves.append(longer)
    return captured


def _add_king_captures(path: Move, square: int, board: CaptureBoard, side: int, jump: Jump, moves: list[Move]) -> bool:
    """Append the captures that go on from ``path`` with a king on ``square``; return whether there are any."""
    occupied, enemy, _, _ = board
    captured = False
    rising, rising_views, falling, falling_views = KING_VIEWS[square]
    for _, jumpable, seen in (rising_views[occupied & rising], falling_views[occupied & falling]):
        if not jumpable & enemy:
            continue
        for victim_bit, victim, landings in seen:
            if enemy & victim_bit:
                captured = True
                then = jump(board, victim, side)
                went_on = False
                for landing in landings:
                    if _add_king_captures((*path, landing), landing, then, side, jump, moves):
                        went_on = True
                if not went_on:
                    moves += [(*path, landing) for landing in landings]
    return captured


def can_move(position: Position) -> bool:
    """Return whether the player to move has a move by sections 3 to 5, the draw counter disregarded."""
    white, black, kings, _, side, _ = position
    own, enemy = (black, white) if side else (white, black)
    empty = BOARD ^ (white | black)
    near = empty << 5 | empty >> 4 if side else empty << 4 | empty >> 5
    if own & near:
        return True
    # A king may go backwards too, and it captures nothing where it has no empty square or victim beside it.
    return bool(own & kings & (empty << 5 | empty << 4 | empty >> 4 | empty >> 5) or capturers(own, enemy, kings))


def play(position: Position, move: Move) -> Position:
    """Return the position after the legal ``move``."""
    white, black, kings, below, side, halfmove_clock = position
    start, end = move[0], move[-1]
    if len(move) > 2 or BETWEEN[start][end] & (white | black):
        return _play_capture(position, move)

    # The whole column moves (section 3).
    start_bit, end_bit = 1 << start, 1 << end
    if side:
        black ^= start_bit | end_bit
    else:
        white ^= start_bit | end_bit
    beneath = below[start]
    if beneath:
        columns = list(below)
        columns[start] = ""
        columns[end] = beneath
        below = tuple(columns)

    # Only plain moves of kings count towards the draw (section 6).
    if kings & start_bit:
        kings ^= start_bit | end_bit
        halfmove_clock += 1
    # A man that arrives on its last row is crowned, and nothing below it (section 3, BA-08).
    else:
        kings |= end_bit & LAST_ROWS[side]
        halfmove_clock = 0
    return Position(white, black, kings, below, 1 - side, halfmove_clock)


def _play_capture(position: Position, move: Move) -> Position:
    white, black, kings, below, side, _ = position
    own, enemy = (black, white) if side else (white, black)
    own_letters, enemy_letters = LETTERS[side], LETTERS[1 - side]
    columns = list(below)

    # The capturing column leaves its square, which is empty from now on (section 5.2, no. 1).
    square = move[0]
    bit = 1 << square
    own ^= bit
    occupied = own | enemy
    beneath = columns[square]
    columns[square] = ""
    is_king = kings & bit
    kings ^= is_king

    for landing in move[1:]:
        # The commander of the victim goes under the capturing column and keeps its rank (no. 2, BA-07).
        bit = BETWEEN[square][landing] & occupied
        victim = bit.bit_length() - 1
        beneath += enemy_letters[1 if kings & bit else 0]
        kings &= ~bit

        # The next piece of a tower commands with its own rank; a prisoner is freed (no. 3, BA-13).
        rest = columns[victim]
        if rest:
            columns[victim] = rest[1:]
            if rest[0] in own_letters:
                own |= bit
                enemy ^= bit
            if rest[0].isupper():
                kings |= bit
        # The square of a single piece is empty from now on (BA-01).
        else:
            enemy ^= bit
            occupied ^= bit

        # A man that lands on its last row is crowned at once (no. 4, BA-05).
        is_king |= 1 << landing & LAST_ROWS[side]
        square = landing

    # The column arrives with all its prisoners; the count towards the draw starts again (section 6).
    columns[square] = beneath
    bit = 1 << square
    own |= bit
    if is_king:
        kings |= bit
    white, black = (enemy, own) if side else (own, enemy)
    return Position(white, black, kings, tuple(columns), 1 - side, 0)


Key = tuple[int, int, int, tuple[str, ...], int]

_LOSSES: Final[tuple[Outcome, ...]] = (Outcome((0.0, 1.0), "no-moves"), Outcome((1.0, 0.0), "no-moves"))
_NO_PROGRESS: Final = Outcome((0.5, 0.5), "no-progress")
_REPETITION: Final = Outcome((0.5, 0.5), "repetition")


def outcome(position: Position, history: Sequence[Position]) -> Outcome | None:
    """Return how the game has ended, or None while it goes on; the first condition of section 7 that holds decides."""
    if not can_move(position):
        return _LOSSES[position.side]
    if position.halfmove_clock >= MAX_HALFMOVE_CLOCK:
        return _NO_PROGRESS
    return _REPETITION if occurrences(position, history, key) >= 2 else None


def key(position: Position) -> Key:
    """Return board and side to move: two positions are the same when these are (section 7, condition 3)."""
    white, black, kings, below, side, _ = position
    return white, black, kings, below, side
