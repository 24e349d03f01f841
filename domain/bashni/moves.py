"""Legal moves of Bashni and what they do (sections 3 to 5)."""

from domain.bashni.board import (
    BETWEEN,
    BOARD,
    FLIGHTS,
    LAST_QUIET,
    LAST_ROWS,
    LEAPS,
    LEFT_STEPS,
    LETTERS,
    RIGHT_STEPS,
    SIGHTS,
    Move,
)
from domain.bashni.jumping import Field, Jump
from domain.bashni.position import Position


def legal_moves(position: Position, jump: Jump) -> list[Move]:
    """Return the legal moves in ASCII order of their strings; none when rule 7.2 has ended the game.

    ``jump`` is the ruleset's.
    """
    white, black, kings, below, side, quiet = position
    if quiet >= LAST_QUIET:
        return []
    own, enemy = (black, white) if side else (white, black)
    jumpers = capturers(own, enemy, kings)
    moves: list[Move] = []
    if jumpers:
        while jumpers:
            bit = jumpers & -jumpers
            jumpers ^= bit
            square = bit.bit_length() - 1
            captures = _king_captures if kings & bit else _man_captures
            captures((square,), square, ((white | black) ^ bit, enemy, 0, below), side, jump, moves)
        # A king sees its diagonals one by one, not square by square; so does a man crowned on its way.
        moves.sort()
        return moves
    empty = BOARD ^ (white | black)
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
            rising, rising_sights, falling, falling_sights = SIGHTS[square]
            occupied = white | black
            moves += FLIGHTS[square][rising_sights[occupied & rising][0] | falling_sights[occupied & falling][0]]
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
    rising, rising_sights, falling, falling_sights = SIGHTS[square]
    return (rising_sights[occupied & rising][1] | falling_sights[occupied & falling][1]) & enemy


def can_jump(square: int, king: bool, occupied: int, enemy: int) -> bool:
    """Tell whether a king, or a man, on ``square`` can jump a column of ``enemy`` (section 5.1)."""
    if king:
        return victims(square, occupied, enemy) != 0
    return any(enemy & victim and not occupied & landing for victim, landing, _, _ in LEAPS[square])


def _man_captures(path: Move, square: int, field: Field, side: int, jump: Jump, moves: list[Move]) -> bool:
    """Append the captures that go on from ``path`` with a man on ``square``; return whether there are any."""
    occupied, enemy, _, _ = field
    captured = False
    for victim_bit, landing_bit, victim, landing in LEAPS[square]:
        if enemy & victim_bit and not occupied & landing_bit:
            captured = True
            longer = (*path, landing)
            captures = _king_captures if landing_bit & LAST_ROWS[side] else _man_captures
            if not captures(longer, landing, jump(field, victim, side), side, jump, moves):
                moves.append(longer)
    return captured


def _king_captures(path: Move, square: int, field: Field, side: int, jump: Jump, moves: list[Move]) -> bool:
    """Append the captures that go on from ``path`` with a king on ``square``; return whether there are any."""
    occupied, enemy, _, _ = field
    captured = False
    rising, rising_sights, falling, falling_sights = SIGHTS[square]
    for _, jumpable, seen in (rising_sights[occupied & rising], falling_sights[occupied & falling]):
        if not jumpable & enemy:
            continue
        for victim_bit, victim, landings in seen:
            if enemy & victim_bit:
                captured = True
                then = jump(field, victim, side)
                went_on = False
                for landing in landings:
                    if _king_captures((*path, landing), landing, then, side, jump, moves):
                        went_on = True
                if not went_on:
                    moves += [(*path, landing) for landing in landings]
    return captured


def can_move(position: Position) -> bool:
    """Tell whether the player to move has a move by sections 3 to 5, whatever the draw counter says."""
    white, black, kings, _, side, _ = position
    own, enemy = (black, white) if side else (white, black)
    empty = BOARD ^ (white | black)
    near = empty << 5 | empty >> 4 if side else empty << 4 | empty >> 5
    if own & near:
        return True
    # A king may go backwards too, and it captures nothing where it has no empty square or victim beside it.
    return bool(own & kings & (empty << 5 | empty << 4 | empty >> 4 | empty >> 5) or capturers(own, enemy, kings))


def play(position: Position, move: Move) -> Position:
    """Return the position after ``move``, which must be legal."""
    white, black, kings, below, side, quiet = position
    start, end = move[0], move[-1]
    start_bit, end_bit = 1 << start, 1 << end
    occupied = white | black
    own, enemy = (black, white) if side else (white, black)
    own ^= start_bit
    beneath = below[start]
    crowned = kings & start_bit
    if crowned:
        kings ^= start_bit
    if len(move) == 2 and not BETWEEN[start][end] & occupied:
        quiet = quiet + 1 if crowned else 0
        if beneath:
            columns = list(below)
            columns[start] = ""
            columns[end] = beneath
            below = tuple(columns)
    else:
        quiet = 0
        columns = list(below)
        columns[start] = ""
        own_letters, enemy_letters = LETTERS[side], LETTERS[1 - side]
        occupied ^= start_bit
        square = start
        for landing in move[1:]:
            victim_bit = BETWEEN[square][landing] & occupied
            victim = victim_bit.bit_length() - 1
            beneath += enemy_letters[1 if kings & victim_bit else 0]
            kings &= ~victim_bit
            rest = columns[victim]
            if rest:
                # The next piece commands, with its own rank (BA-07); a prisoner is freed.
                columns[victim] = rest[1:]
                if rest[0] in own_letters:
                    own |= victim_bit
                    enemy ^= victim_bit
                if rest[0].isupper():
                    kings |= victim_bit
            else:
                enemy ^= victim_bit
                occupied ^= victim_bit
            if 1 << landing & LAST_ROWS[side]:
                crowned = 1
            square = landing
        columns[end] = beneath
        below = tuple(columns)
    own |= end_bit
    if crowned or end_bit & LAST_ROWS[side]:
        kings |= end_bit
    if side:
        return Position(enemy, own, kings, below, 0, quiet)
    return Position(own, enemy, kings, below, 1, quiet)
