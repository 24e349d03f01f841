"""Moves as values, and their effect on a position (rules, sections 4 to 6 and 9).

A move of the eight kinds that one piece makes is an integer: head, target, victim of an en passant capture, promotion,
in this order of weight. The heads are numbered in ASCII order of their texts, so that moves sort as their strings do.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

from domain.four_towers.attacks import (
    BISHOP,
    BLACK,
    CARDINAL,
    DRAGON,
    KING,
    KNIGHT,
    LANCER,
    MARSHALL,
    PAWN,
    QUEEN,
    ROOK,
    WIZARD,
    on_towers,
)
from domain.four_towers.board import (
    ARENAS,
    NAMES,
    NUMBERS,
    NUMERALS,
    SQUARE_AT,
    SQUARES,
    TARGET_SHIFT,
    TARGETS,
    TOWER_SET,
    ZONES,
    surface,
)
from domain.four_towers.position import LETTERS, NO_RETURN, Position, pair_text, sets_of

ATTACH: Final = 0
PLAIN: Final = 1
SWAP: Final = 2
DIRECT: Final = 3
DIRECT_ATTACH: Final = 4
CAPTURE: Final = 5
RETURN: Final = 6
MARKS: Final[tuple[str, ...]] = ("+", "-", "<>", ">>", ">>+", "x")
PROMOTIONS: Final = "BCDMNQRW"
"""Promotion pieces in ASCII order; the n-th (from 1) is stored in the lowest bits of a move [FT-08]."""
PROMOTED: Final[tuple[int, ...]] = (0, BISHOP, CARDINAL, DRAGON, MARSHALL, KNIGHT, QUEEN, ROOK, WIZARD)
PARTS: Final[tuple[int, ...]] = (0, ROOK, BISHOP, QUEEN, KNIGHT, MARSHALL, CARDINAL, PAWN)
"""The parts that may be sent off a piece; 0 is the whole piece."""
HEAD_SHIFT: Final = 18
_VICTIM_SHIFT: Final = 4


class Head(NamedTuple):
    """How a move begins: the part that moves (0: all), its square and the mark; for a return ``part`` is the piece."""

    text: str
    part: int
    origin: int
    mark: int


class MultiMove(NamedTuple):
    """A multi-move: its components, plain moves, in the order of play (section 6.8)."""

    components: tuple[int, ...]


class Rearrangement(NamedTuple):
    """A new placement of one side's pieces in an arena: code by place, 0 where none of them stands (section 6.7)."""

    arena: int
    placement: bytes


Move = int | MultiMove | Rearrangement


def _heads() -> tuple[Head, ...]:
    heads = [Head(f"@{letter}:", code, -1, RETURN) for code, letter in enumerate(LETTERS) if code not in (0, KING)]
    for part in PARTS:
        prefix = LETTERS[part] + "/" if part else ""
        for square in range(SQUARES):
            for mark, sign in enumerate(MARKS):
                if not (part and mark == SWAP):
                    heads.append(Head(prefix + NAMES[square] + sign, part, square, mark))
    # A square follows, so that >>+ comes before >>.
    return tuple(sorted(heads, key=lambda head: head.text + NAMES[0]))


HEADS: Final = _heads()


def _starts() -> tuple[tuple[tuple[int, ...], ...], ...]:
    table = [[[-1] * SQUARES for _ in MARKS] for _ in range(LANCER)]
    for number, head in enumerate(HEADS):
        if head.mark != RETURN:
            table[head.part][head.mark][head.origin] = number << HEAD_SHIFT
    return tuple(tuple(map(tuple, marks)) for marks in table)


STARTS: Final = _starts()
"""By part, mark and square: the move without its target."""
RETURNS: Final = {head.part: number << HEAD_SHIFT for number, head in enumerate(HEADS) if head.mark == RETURN}
"""By piece: a return without its target."""


def head_of(move: int) -> Head:
    """Return how ``move`` begins."""
    return HEADS[move >> HEAD_SHIFT]


def target_of(move: int) -> int:
    """Return the square where ``move`` ends."""
    return SQUARE_AT[move >> TARGET_SHIFT & 127]


def victim_of(move: int) -> int:
    """Return the square of the piece that ``move`` captures en passant, -1 for none."""
    place = move >> _VICTIM_SHIFT & 127
    return SQUARE_AT[place - 1] if place else -1


def victim_bits(square: int) -> int:
    """Return the bits of a move that also captures the piece on ``square`` en passant."""
    return (TARGETS[square] >> TARGET_SHIFT) + 1 << _VICTIM_SHIFT


def is_encoded(move: object) -> bool:
    """Return whether ``move`` is an integer of the form that ``head_of`` and the others read."""
    return (
        isinstance(move, int)
        and 0 <= move < len(HEADS) << HEAD_SHIFT
        and move >> TARGET_SHIFT & 127 < SQUARES
        and move >> _VICTIM_SHIFT & 127 <= SQUARES
        and move & 15 <= len(PROMOTIONS)
    )


def sets_after(board: bytes, men: Sequence[int], side: int, move: int) -> list[int]:
    """Return the set of squares of each code, and of all pieces of each side, after ``move``."""
    _, part, origin, mark = HEADS[move >> HEAD_SHIFT]
    target = SQUARE_AT[move >> TARGET_SHIFT & 127]
    goal = 1 << target
    base = side << 4
    enemy = BLACK - base
    sets = list(men)
    sets[base] |= goal
    if mark == RETURN:
        sets[base + part] |= goal
        return sets
    start = 1 << origin
    code = board[origin]
    landing = code
    sets[code] ^= start
    if part:
        rest = PAWN if part == PAWN else code - base ^ part
        sets[base + rest] |= start
        landing = base + part
    elif mark != SWAP:
        sets[base] ^= start
    there = board[target]
    if mark == SWAP:
        sets[there] ^= goal | start
    elif there:
        sets[there] ^= goal
        if mark == CAPTURE:
            sets[enemy] ^= goal
        else:
            landing = base + LANCER if there & 15 == PAWN else landing | there
    elif move >> _VICTIM_SHIFT & 127:
        victim = victim_of(move)
        sets[board[victim]] ^= 1 << victim
        sets[enemy] ^= 1 << victim
    if move & 15:
        landing = base + PROMOTED[move & 15]
    sets[landing] |= goal
    return sets


def memory_after(position: Position, move: int) -> int:
    """Return the dragon memory of the side that plays ``move`` (section 6.4) [FT-20]."""
    board, men, side = position[0], position[1], position[2]
    _, part, origin, mark = HEADS[move >> HEAD_SHIFT]
    kind = part or board[origin] & 15
    if kind > KING:
        return position.memories[side]
    if kind in (BISHOP, KNIGHT) and not part and mark != RETURN:
        cardinals = on_towers(men, CARDINAL)
        if cardinals and ZONES[cardinals] >> origin & 1:
            return BISHOP + KNIGHT - kind
    return kind


def crossed_square(position: Position, move: int) -> int:
    """Return the square that ``move`` crosses if it is a two-square move of a pawn or lancer, else -1 (section 5.2)."""
    _, part, origin, mark = HEADS[move >> HEAD_SHIFT]
    if mark not in (PLAIN, CAPTURE, ATTACH) or move & 15:
        return -1
    kind = part or position.board[origin] & 15
    if kind not in (PAWN, LANCER):
        return -1
    tables = surface(on_towers(position.men, KNIGHT))
    doubles = tables.double_steps if kind == PAWN else tables.lancer_doubles
    return doubles[position.side][origin].get(target_of(move), -1)


def play(position: Position, move: Move) -> Position:
    """Return the position after the legal move ``move``."""
    if isinstance(move, int):
        return _play_single(position, move)
    if isinstance(move, MultiMove):
        return _play_multi(position, move)
    return _play_rearrangement(position, move)


def _play_single(position: Position, move: int) -> Position:
    board, men, side, _, memories, returning, halfmove_clock, move_number = position
    _, part, origin, mark = HEADS[move >> HEAD_SHIFT]
    target = target_of(move)
    base = side << 4
    squares = bytearray(board)
    there = board[target]
    victim = -1

    # A return puts the captured piece back (section 6.9).
    if mark == RETURN:
        squares[target] = base + part
    else:
        # The piece leaves, or the part that is sent off (section 6.2).
        code = board[origin]
        landing = base + part if part else code
        squares[origin] = base + (PAWN if part == PAWN else code - base ^ part) if part else 0

        # Swaps (section 6.3) and attachments (section 6.1).
        if mark == SWAP:
            squares[origin] = there
        elif mark in (ATTACH, DIRECT_ATTACH):
            landing = base + LANCER if there & 15 == PAWN else landing | there

        # Captures en passant (section 5.2) and promotions.
        victim = victim_of(move)
        if victim >= 0:
            squares[victim] = 0
        if move & 15:
            landing = base + PROMOTED[move & 15]
        squares[target] = landing

    # A two-square move is noted if the square that it crosses is vacant (section 5.2).
    crossed = crossed_square(position, move)
    en_passant = ((crossed, target),) if crossed >= 0 and not squares[crossed] else ()

    # A capture on a tower gives a right to return and becomes final when it lapses (section 6.9) [FT-27].
    captures = mark == CAPTURE and victim < 0
    on_tower = captures and bool(TOWER_SET >> target & 1)
    final = bool(move & 15) or victim >= 0 or (captures and not on_tower)

    memory = memory_after(position, move)
    return Position(
        bytes(squares),
        tuple(sets_after(board, men, side, move)),
        1 - side,
        en_passant,
        (memory, memories[1]) if side == 0 else (memories[0], memory),
        (there, target) if on_tower else NO_RETURN,
        _halfmove_clock_after(halfmove_clock, returning != NO_RETURN and mark != RETURN, final),
        move_number + side,
    )


def _halfmove_clock_after(halfmove_clock: int, lapsed: bool, final: bool) -> int:
    """Return the no-progress clock: a right to return that lapses makes the capture before final [FT-27]."""
    return 0 if lapsed or final else halfmove_clock + 1


def play_component(position: Position, move: int) -> Position:
    """Return the board after one component of a multi-move; the side to move and the other fields stay."""
    board, men, side = position[0], position[1], position[2]
    squares = bytearray(board)
    origin = HEADS[move >> HEAD_SHIFT].origin
    squares[target_of(move)] = (side << 4) + PROMOTED[move & 15] if move & 15 else board[origin]
    squares[origin] = 0
    return position._replace(board=bytes(squares), men=tuple(sets_after(board, men, side, move)))


def memory_after_multi_move(position: Position, components: Sequence[int]) -> int:
    """Return the mover's dragon memory after the components, the union of all that moved (section 6.4)."""
    memory = 0
    for move in components:
        if position.board[HEADS[move >> HEAD_SHIFT].origin] & 15 <= KING:
            memory |= memory_after(position, move)
        position = play_component(position, move)
    return memory or position.memories[position.side]


def _play_multi(position: Position, multi: MultiMove) -> Position:
    board = position
    passed: dict[int, int] = {}
    for move in multi.components:
        origin, target = head_of(move).origin, target_of(move)
        # A piece that moves on takes its pair with it, even if another piece arrives there later (section 5.2).
        passed.pop(origin, None)
        crossed = crossed_square(board, move)
        if crossed >= 0:
            passed[target] = crossed
        board = play_component(board, move)
    pairs = sorted(((crossed, target) for target, crossed in passed.items() if not board.board[crossed]), key=pair_text)
    memory = memory_after_multi_move(position, multi.components)
    side, memories = position.side, position.memories
    promoted = any(move & 15 for move in multi.components)
    return board._replace(
        side=1 - side,
        en_passant=tuple(pairs),
        memories=(memory, memories[1]) if side == 0 else (memories[0], memory),
        returning=NO_RETURN,
        halfmove_clock=_halfmove_clock_after(position.halfmove_clock, position.returning != NO_RETURN, promoted),
        move_number=position.move_number + side,
    )


def board_after_rearrangement(board: bytes, side: int, move: Rearrangement) -> bytes:
    """Return the board after a rearrangement."""
    squares = bytearray(board)
    for square, code in zip(ARENAS[move.arena], move.placement, strict=True):
        if code or squares[square] >> 4 == side:
            squares[square] = code
    return bytes(squares)


def _play_rearrangement(position: Position, move: Rearrangement) -> Position:
    board = board_after_rearrangement(position.board, position.side, move)
    return position._replace(
        board=board,
        men=sets_of(board),
        side=1 - position.side,
        en_passant=(),
        returning=NO_RETURN,
        halfmove_clock=_halfmove_clock_after(position.halfmove_clock, position.returning != NO_RETURN, False),
        move_number=position.move_number + position.side,
    )


def format_move(position: Position, move: Move) -> str:
    """Return the one canonical string of ``move`` (section 9)."""
    if isinstance(move, int):
        victim, promotion = victim_of(move), move & 15
        taken = f"({NAMES[victim]})" if victim >= 0 else ""
        return (
            f"{head_of(move).text}{NAMES[target_of(move)]}{taken}{'=' + PROMOTIONS[promotion - 1] if promotion else ''}"
        )
    if isinstance(move, MultiMove):
        return ";".join(format_move(position, part) for part in move.components)
    return format_rearrangement(move)


def format_rearrangement(move: Rearrangement) -> str:
    """Return the canonical string of a rearrangement: the pieces by file, then by rank."""
    placed = sorted((square, code) for square, code in zip(ARENAS[move.arena], move.placement, strict=True) if code)
    return f"{NUMERALS[move.arena]}:{','.join(LETTERS[code & 15] + NAMES[square] for square, code in placed)}"


def single_move(part: int, origin: str, mark: str, target: str, promotion: str = "", victim: str = "") -> int:
    """Return the move of these texts; ``part`` is a code, 0 for a whole piece."""
    move = STARTS[part][MARKS.index(mark)][NUMBERS[origin]] | TARGETS[NUMBERS[target]]
    if victim:
        move |= victim_bits(NUMBERS[victim])
    return move | (PROMOTIONS.index(promotion) + 1 if promotion else 0)
