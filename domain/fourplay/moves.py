"""Generation and application of moves in the play phase (rules, sections 3 to 7).

A move is its canonical string: strings sort as the rules list them, and the generator builds them from parts.
"""

import re

from domain.fourplay.attacks import BLOCK, ENEMY, OWN, Sight, in_check, king_of, own_squares
from domain.fourplay.board import (
    ADJACENT,
    ARCHER_MOVES,
    BETWEEN,
    BISHOP_RAYS,
    CORNERS,
    DIAGONAL_STEPS,
    DOG_LEAPS,
    GIRAFFE_LEAPS,
    HORIZONTAL_RAYS,
    NAMES,
    NUMBERS,
    QUEEN_RAYS,
    ROOK_RAYS,
    SHOT_RAYS,
    VERTICAL_RAYS,
    Rays,
)
from domain.fourplay.position import (
    ANT,
    ARCHER,
    BISHOP,
    DOG,
    GIRAFFE,
    HORIZONTAL,
    KIND_CODES,
    KINDS,
    KING,
    LIMITS,
    MUTATOR,
    NO_PROGRESS,
    QUEEN,
    ROOK,
    VERTICAL,
    Position,
    count,
)

PASS = "pass"  # noqa: S105
DONE = "done"
"""Ends a set-up."""
MAX_LENGTH = 12
"""Characters of a move."""
SQUARE = "[a-o](?:1[0-5]|[1-9])"
_MOVE = re.compile(f"({SQUARE})(<>|[-x*<>])({SQUARE})(?:=(Dg|Q|Mu|G|R|B|VM|HM))?")
_PLACEMENT = re.compile(f"(K|A|Dg|Q|Mu|G|R|B|,|VM|HM)@({SQUARE})")
PROMOTIONS = (DOG, QUEEN, MUTATOR, GIRAFFE, ROOK, BISHOP, VERTICAL, HORIZONTAL)
_RIDERS: dict[int, Rays] = {
    ROOK: ROOK_RAYS,
    BISHOP: BISHOP_RAYS,
    VERTICAL: VERTICAL_RAYS,
    HORIZONTAL: HORIZONTAL_RAYS,
}
_LEAPERS = {KING: ADJACENT, GIRAFFE: GIRAFFE_LEAPS}


def piece_moves(sight: Sight, square: int, moves: list[str]) -> None:
    """Append the moves, shots and captures of the player's piece on ``square`` to ``moves``, trades apart."""
    kind = sight.board[square] & 15
    if kind == MUTATOR:
        borrowed: list[str] = []
        for neighbour in ADJACENT[square]:
            if sight.view[neighbour] in (OWN, ENEMY):
                _borrow(sight, square, neighbour, borrowed)
        # Equal moves from several neighbours are one move (section 6, Mutator 8).
        moves.extend(dict.fromkeys(borrowed))
    elif kind == DOG:
        host = sight.hosts.get(square)
        if host is None:
            _dog_steps(sight, square, moves, attach=True)
        else:
            moves.append(f"{NAMES[square]}<{NAMES[host]}")
            _dog_leaps(sight, square, host, moves)
    elif kind == ANT:
        _ant_steps(sight, square, PROMOTIONS, moves)
    else:
        _plain(sight, square, kind, moves)


def _borrow(sight: Sight, square: int, neighbour: int, moves: list[str]) -> None:
    """Append what the Mutator on ``square`` has from one neighbour (section 6, FP-28 to FP-32)."""
    kind = sight.board[neighbour] & 15
    if kind == MUTATOR:
        return
    if kind == DOG:
        host = sight.hosts.get(neighbour)
        if host is None:
            _dog_steps(sight, square, moves, attach=False)
        else:
            _dog_leaps(sight, square, host, moves)
    elif kind == ANT:
        _ant_steps(sight, square, tuple(piece for piece in PROMOTIONS if piece != MUTATOR), moves)
    else:
        _plain(sight, square, kind, moves)


def _plain(sight: Sight, square: int, kind: int, moves: list[str]) -> None:  # noqa: C901
    view = sight.view
    quiet, take = NAMES[square] + "-", NAMES[square] + "x"
    names = NAMES
    if kind in _RIDERS:
        for ray in _RIDERS[kind][square]:
            for target in ray:
                there = view[target]
                if there:
                    if there == ENEMY:
                        moves.append(take + names[target])
                    break
                moves.append(quiet + names[target])
    elif kind in _LEAPERS:
        for target in _LEAPERS[kind][square]:
            there = view[target]
            if not there:
                moves.append(quiet + names[target])
            elif there == ENEMY:
                moves.append(take + names[target])
    elif kind == QUEEN:
        for ray in QUEEN_RAYS[square]:
            leapt = False
            for target in ray:
                there = view[target]
                if not there:
                    moves.append(quiet + names[target])
                    continue
                if there == ENEMY:
                    moves.append(take + names[target])
                if leapt:
                    break
                leapt = True
    elif kind == ARCHER:
        for target, paths in ARCHER_MOVES[sight.player][square]:
            if not view[target] and any(not any(view[passed] for passed in path) for path in paths):
                moves.append(quiet + names[target])
        shot = names[square] + "*"
        for ray in SHOT_RAYS[square]:
            for target in ray:
                there = view[target]
                if there:
                    if there == ENEMY:
                        moves.append(shot + names[target])
                    break


def _dog_steps(sight: Sight, square: int, moves: list[str], *, attach: bool) -> None:
    for target in ADJACENT[square]:
        there = sight.view[target]
        if not there:
            moves.append(f"{NAMES[square]}-{NAMES[target]}")
        elif attach and there != BLOCK:
            moves.append(f"{NAMES[square]}>{NAMES[target]}")


def _dog_leaps(sight: Sight, square: int, host: int, moves: list[str]) -> None:
    for target in DOG_LEAPS[host]:
        there = sight.view[target]
        if not there:
            moves.append(f"{NAMES[square]}-{NAMES[target]}")
        elif there == ENEMY:
            moves.append(f"{NAMES[square]}x{NAMES[target]}")


def _ant_steps(sight: Sight, square: int, promotions: tuple[int, ...], moves: list[str]) -> None:
    for target in DIAGONAL_STEPS[square]:
        there = sight.view[target]
        if there and there != ENEMY:
            continue
        move = f"{NAMES[square]}{'x' if there else '-'}{NAMES[target]}"
        moves.append(move)
        if target in CORNERS and target != CORNERS[sight.player]:
            for kind in promotions:
                if count(sight.board, sight.player, kind) < LIMITS[kind]:
                    moves.append(f"{move}={KIND_CODES[kind]}")


def legal_moves(position: Position) -> list[str]:
    """Return the legal moves of the play phase in ASCII order; ``pass`` when there is no other (FP-09)."""
    if is_drawn_by_position(position) or len(position.out) == 3:
        return []
    sight = Sight(position, position.side)
    moves: list[str] = []
    squares = own_squares(sight)
    for square in squares:
        piece_moves(sight, square, moves)
    king = position.board.find((position.side + 1) << 4 | KING)
    safe: bool | None = None
    for square in squares:
        if may_trade_by_place(sight, square, king):
            if safe is None:
                safe = not in_check(position, position.side)
            if safe:
                moves.append(f"{NAMES[square]}<>{NAMES[king]}")
    moves.sort()
    return moves or [PASS]


def legal_moves_from(position: Position, square: int) -> list[str]:
    """Return the legal moves of the play phase that begin on ``square``, in no particular order."""
    if is_drawn_by_position(position) or len(position.out) == 3:
        return []
    sight = Sight(position, position.side)
    if sight.view[square] != OWN:
        return []
    moves: list[str] = []
    piece_moves(sight, square, moves)
    king = king_of(position, position.side)
    if may_trade_by_place(sight, square, king) and not in_check(position, position.side):
        moves.append(f"{NAMES[square]}<>{NAMES[king]}")
    return moves


def may_trade_by_place(sight: Sight, square: int, king: int) -> bool:
    """Tell whether a Queen, or a Mutator beside one, stands so that it could trade with its King (section 6)."""
    kind = sight.board[square] & 15
    if kind != QUEEN and not (
        kind == MUTATOR and any(sight.board[neighbour] & 15 == QUEEN for neighbour in ADJACENT[square])
    ):
        return False
    between = BETWEEN.get((square, king))
    return between is not None and sum(1 for passed in between if sight.board[passed]) == 1


def is_drawn_by_position(position: Position) -> bool:
    """Tell whether the game ends by ``insufficient-material`` or ``no-progress`` (section 8)."""
    if position.clock >= NO_PROGRESS:
        return True
    alive = [(player + 1) << 4 for player in range(4) if player not in position.out]
    return all(code & 15 == KING or code & 0x70 not in alive for code in position.board if code)


def is_well_formed(text: str) -> bool:
    """Return whether some move, legal or not, is written as ``text``."""
    if len(text) > MAX_LENGTH:
        return False
    if text in (PASS, DONE) or _PLACEMENT.fullmatch(text):
        return True
    match = _MOVE.fullmatch(text)
    return match is not None and not (match[4] and match[2] not in "-x")


def split(move: str) -> tuple[int, str, int, int]:
    """Return origin, mark (``-x*<>`` or ``<>``), target and promotion kind (0: none) of a move between two squares."""
    body, _, promotion = move.partition("=")
    for mark in ("<>", "-", "x", "*", "<", ">"):
        origin, found, target = body.partition(mark)
        if found:
            return NUMBERS[origin], mark, NUMBERS[target], KINDS[promotion] if promotion else 0
    raise ValueError(f"{move!r} is no move between two squares")


def play(position: Position, move: str) -> Position:
    """Return the position after the legal ``move`` of the play phase."""
    out = position.out
    if move == PASS:
        return position._replace(side=next_player(position.side, out), clock=position.clock + 1)
    origin, mark, target, promotion = split(move)
    board = bytearray(position.board)
    dogs = position.dogs
    clock = position.clock + 1
    if mark in ("x", "*"):
        clock = 0
        captured = board[target]
        board[target] = 0
        if dogs:
            dogs = tuple(pair for pair in dogs if target not in pair)
        if captured & 15 == KING:
            out = (*out, (captured >> 4) - 1)
    if mark in ("-", "x"):
        board[target] = board[origin] & 0x70 | promotion if promotion else board[origin]
        board[origin] = 0
        dogs = _moved(dogs, {origin: target})
    elif mark == "<>":
        board[origin], board[target] = board[target], board[origin]
        dogs = _moved(dogs, {origin: target, target: origin})
    elif mark == ">":
        dogs = tuple(sorted((*dogs, (origin, target))))
    elif mark == "<":
        dogs = tuple(pair for pair in dogs if pair[0] != origin)
    return Position(bytes(board), next_player(position.side, out), False, out, dogs, clock)


def _moved(dogs: tuple[tuple[int, int], ...], moved: dict[int, int]) -> tuple[tuple[int, int], ...]:
    """Return the attachments after pieces have moved: an attachment joins pieces, not squares (section 6)."""
    if not dogs:
        return dogs
    return tuple(sorted((moved.get(dog, dog), moved.get(host, host)) for dog, host in dogs))


def next_player(player: int, out: tuple[int, ...]) -> int:
    """Return the next player in turn order who is not eliminated; the survivor when only one is left."""
    for step in range(1, 5):
        following = (player + step) % 4
        if following not in out:
            return following
    raise ValueError("all players are eliminated")


def without_king(position: Position, player: int) -> Position:
    """Return the position of the play phase after ``player`` has resigned or overrun the time (section 7)."""
    king = position.board.find((player + 1) << 4 | KING)
    board = bytearray(position.board)
    board[king] = 0
    out = (*position.out, player)
    side = next_player(player, out) if position.side == player else position.side
    dogs = tuple(pair for pair in position.dogs if king not in pair)
    return Position(bytes(board), side, False, out, dogs, 0)
