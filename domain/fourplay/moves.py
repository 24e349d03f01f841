"""Generation and application of moves in the play phase (rules, sections 3 to 7); a move is its canonical string."""

import re
from functools import lru_cache
from typing import Final

from domain.fourplay.attacks import BLOCK, ENEMY, OWN, PlayerView, in_check, king_of, own_squares
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
    MAX_HALFMOVE_CLOCK,
    MUTATOR,
    QUEEN,
    ROOK,
    VERTICAL,
    Position,
    count,
)

PASS: Final = "pass"  # noqa: S105
DONE: Final = "done"
"""Ends a set-up."""
MAX_LENGTH: Final = 12
"""Characters of a move."""
SQUARE: Final = "[a-o](?:1[0-5]|[1-9])"
_MOVE: Final = re.compile(f"({SQUARE})(<>|[-x*<>])({SQUARE})(?:=(Dg|Q|Mu|G|R|B|VM|HM))?")
_PLACEMENT: Final = re.compile(f"(K|A|Dg|Q|Mu|G|R|B|,|VM|HM)@({SQUARE})")
PROMOTIONS: Final[tuple[int, ...]] = (DOG, QUEEN, MUTATOR, GIRAFFE, ROOK, BISHOP, VERTICAL, HORIZONTAL)
_RIDERS: Final = {ROOK: ROOK_RAYS, BISHOP: BISHOP_RAYS, VERTICAL: VERTICAL_RAYS, HORIZONTAL: HORIZONTAL_RAYS}
_LEAPERS: Final = {KING: ADJACENT, GIRAFFE: GIRAFFE_LEAPS}


def add_piece_moves(player_view: PlayerView, square: int, moves: list[str]) -> None:
    """Add the moves, shots and captures of the player's piece on ``square`` to ``moves``, trades excepted."""
    kind = player_view.board[square] & 15
    if kind == MUTATOR:
        borrowed: list[str] = []
        for neighbour in ADJACENT[square]:
            if player_view.occupants[neighbour] in (OWN, ENEMY):
                _add_borrowed_moves(player_view, square, neighbour, borrowed)
        # Equal moves from several neighbours are one move (section 6, Mutator 8).
        moves.extend(dict.fromkeys(borrowed))
    elif kind == DOG:
        host = player_view.hosts.get(square)
        if host is None:
            _add_dog_steps(player_view, square, moves, attach=True)
        else:
            moves.append(f"{NAMES[square]}<{NAMES[host]}")
            _add_leaps(player_view, square, DOG_LEAPS[host], moves)
    elif kind == ANT:
        _add_ant_steps(player_view, square, PROMOTIONS, moves)
    else:
        _add_plain_moves(player_view, square, kind, moves)


def _add_borrowed_moves(player_view: PlayerView, square: int, neighbour: int, moves: list[str]) -> None:
    """Add the moves that the Mutator on ``square`` has from one neighbour (section 6, FP-28 to FP-32)."""
    kind = player_view.board[neighbour] & 15
    if kind == MUTATOR:
        return
    if kind == DOG:
        host = player_view.hosts.get(neighbour)
        if host is None:
            _add_dog_steps(player_view, square, moves, attach=False)
        else:
            _add_leaps(player_view, square, DOG_LEAPS[host], moves)
    elif kind == ANT:
        _add_ant_steps(player_view, square, tuple(piece for piece in PROMOTIONS if piece != MUTATOR), moves)
    else:
        _add_plain_moves(player_view, square, kind, moves)


def _add_plain_moves(player_view: PlayerView, square: int, kind: int, moves: list[str]) -> None:
    """Add the moves of a piece that moves in the same way everywhere (section 3)."""
    if kind in _RIDERS:
        _add_rides(player_view, square, _RIDERS[kind][square], moves)
    elif kind in _LEAPERS:
        _add_leaps(player_view, square, _LEAPERS[kind][square], moves)
    elif kind == QUEEN:
        _add_queen_moves(player_view, square, moves)
    elif kind == ARCHER:
        _add_archer_moves(player_view, square, moves)


def _add_rides(player_view: PlayerView, square: int, rays: tuple[tuple[int, ...], ...], moves: list[str]) -> None:
    occupants, names = player_view.occupants, NAMES
    step, capture = names[square] + "-", names[square] + "x"
    for ray in rays:
        for target in ray:
            there = occupants[target]
            if there:
                if there == ENEMY:
                    moves.append(capture + names[target])
                break
            moves.append(step + names[target])


def _add_leaps(player_view: PlayerView, square: int, targets: tuple[int, ...], moves: list[str]) -> None:
    occupants, name = player_view.occupants, NAMES[square]
    for target in targets:
        there = occupants[target]
        if not there:
            moves.append(f"{name}-{NAMES[target]}")
        elif there == ENEMY:
            moves.append(f"{name}x{NAMES[target]}")


def _add_queen_moves(player_view: PlayerView, square: int, moves: list[str]) -> None:
    """Add the moves of a Queen, which may leap over one piece of each line."""
    occupants, names = player_view.occupants, NAMES
    step, capture = names[square] + "-", names[square] + "x"
    for ray in QUEEN_RAYS[square]:
        has_leapt = False
        for target in ray:
            there = occupants[target]
            if not there:
                moves.append(step + names[target])
                continue
            if there == ENEMY:
                moves.append(capture + names[target])
            if has_leapt:
                break
            has_leapt = True


def _add_archer_moves(player_view: PlayerView, square: int, moves: list[str]) -> None:
    """Add the moves of an Archer, along free paths in its quadrant, and its shots at the nearest piece of each line."""
    occupants, name = player_view.occupants, NAMES[square]
    for target, paths in ARCHER_MOVES[player_view.player][square]:
        if not occupants[target] and any(not any(occupants[passed] for passed in path) for path in paths):
            moves.append(f"{name}-{NAMES[target]}")
    for ray in SHOT_RAYS[square]:
        for target in ray:
            there = occupants[target]
            if there:
                if there == ENEMY:
                    moves.append(f"{name}*{NAMES[target]}")
                break


def _add_dog_steps(player_view: PlayerView, square: int, moves: list[str], *, attach: bool) -> None:
    for target in ADJACENT[square]:
        there = player_view.occupants[target]
        if not there:
            moves.append(f"{NAMES[square]}-{NAMES[target]}")
        elif attach and there != BLOCK:
            moves.append(f"{NAMES[square]}>{NAMES[target]}")


def _add_ant_steps(player_view: PlayerView, square: int, promotions: tuple[int, ...], moves: list[str]) -> None:
    for target in DIAGONAL_STEPS[square]:
        there = player_view.occupants[target]
        if there and there != ENEMY:
            continue
        move = f"{NAMES[square]}{'x' if there else '-'}{NAMES[target]}"
        moves.append(move)
        if target in CORNERS and target != CORNERS[player_view.player]:
            for kind in promotions:
                if count(player_view.board, player_view.player, kind) < LIMITS[kind]:
                    moves.append(f"{move}={KIND_CODES[kind]}")


def legal_moves(position: Position) -> list[str]:
    """Return the legal moves of the play phase in ASCII order; ``pass`` when there is no other (FP-09)."""
    if is_drawn(position) or len(position.eliminated) == 3:
        return []
    player_view = PlayerView(position, position.side)
    moves: list[str] = []
    squares = own_squares(player_view)
    for square in squares:
        add_piece_moves(player_view, square, moves)
    king = position.board.find((position.side + 1) << 4 | KING)
    safe: bool | None = None
    for square in squares:
        if is_placed_to_trade(player_view, square, king):
            if safe is None:
                safe = not in_check(position, position.side)
            if safe:
                moves.append(f"{NAMES[square]}<>{NAMES[king]}")
    moves.sort()
    return moves or [PASS]


def legal_moves_from(position: Position, square: int) -> list[str]:
    """Return the legal moves of the play phase that begin on ``square``, in no particular order."""
    if is_drawn(position) or len(position.eliminated) == 3:
        return []
    player_view = PlayerView(position, position.side)
    if player_view.occupants[square] != OWN:
        return []
    moves: list[str] = []
    add_piece_moves(player_view, square, moves)
    king = king_of(position, position.side)
    if is_placed_to_trade(player_view, square, king) and not in_check(position, position.side):
        moves.append(f"{NAMES[square]}<>{NAMES[king]}")
    return moves


def is_placed_to_trade(player_view: PlayerView, square: int, king: int) -> bool:
    """Return whether a Queen, or a Mutator beside one, stands so that it could trade with its King (section 6)."""
    kind = player_view.board[square] & 15
    if kind != QUEEN and not (
        kind == MUTATOR and any(player_view.board[neighbour] & 15 == QUEEN for neighbour in ADJACENT[square])
    ):
        return False
    between = BETWEEN.get((square, king))
    return between is not None and sum(1 for passed in between if player_view.board[passed]) == 1


def is_drawn(position: Position) -> bool:
    """Return whether the game ends by ``insufficient-material`` or ``no-progress`` (section 8)."""
    if position.halfmove_clock >= MAX_HALFMOVE_CLOCK:
        return True
    alive = [(player + 1) << 4 for player in range(4) if player not in position.eliminated]
    return all(code & 15 == KING or code & 0x70 not in alive for code in position.board if code)


def is_well_formed(text: str) -> bool:
    """Return whether some move, legal or not, is written as ``text``."""
    if len(text) > MAX_LENGTH:
        return False
    if text in (PASS, DONE) or _PLACEMENT.fullmatch(text):
        return True
    match = _MOVE.fullmatch(text)
    return match is not None and not (match[4] and match[2] not in "-x")


@lru_cache(maxsize=1 << 15)
def split_move(move: str) -> tuple[int, str, int, int]:
    """Return origin, mark (``-x*<>`` or ``<>``), target and promotion kind (0: none) of a move between two squares."""
    body, _, promotion = move.partition("=")
    for mark in ("<>", "-", "x", "*", "<", ">"):
        origin, is_marked, target = body.partition(mark)
        if is_marked:
            return NUMBERS[origin], mark, NUMBERS[target], KINDS[promotion] if promotion else 0
    raise ValueError(f"{move!r} is no move between two squares")


def play(position: Position, move: str) -> Position:
    """Return the position after the legal ``move`` of the play phase."""
    side, eliminated, attachments = position.side, position.eliminated, position.attachments
    halfmove_clock = position.halfmove_clock + 1
    if move == PASS:
        return position._replace(side=next_player(side, eliminated), halfmove_clock=halfmove_clock)
    origin, mark, target, promotion = split_move(move)
    board = bytearray(position.board)

    # A captured piece is gone with its attachments, and with a King its player (sections 5 to 7).
    if mark in ("x", "*"):
        captured = board[target]
        board[target] = 0
        if attachments:
            attachments = tuple(pair for pair in attachments if target not in pair)
        if captured & 15 == KING:
            eliminated = (*eliminated, (captured >> 4) - 1)
        halfmove_clock = 0

    # Steps and captures by moving; an Ant may promote (section 6). A shot leaves the Archer where it is.
    if mark in ("-", "x"):
        board[target] = board[origin] & 0x70 | promotion if promotion else board[origin]
        board[origin] = 0
        attachments = _attachments_after(attachments, {origin: target})

    # Queen and King trade places (section 6).
    elif mark == "<>":
        board[origin], board[target] = board[target], board[origin]
        attachments = _attachments_after(attachments, {origin: target, target: origin})

    # A Little Dog attaches itself to a host or detaches itself (section 6).
    elif mark == ">":
        attachments = tuple(sorted((*attachments, (origin, target))))
    elif mark == "<":
        attachments = tuple(pair for pair in attachments if pair[0] != origin)
    return Position(bytes(board), next_player(side, eliminated), False, eliminated, attachments, halfmove_clock)


def _attachments_after(attachments: tuple[tuple[int, int], ...], moved: dict[int, int]) -> tuple[tuple[int, int], ...]:
    """Return the attachments after pieces have moved: an attachment joins pieces, not squares (section 6)."""
    if not attachments:
        return attachments
    return tuple(sorted((moved.get(dog, dog), moved.get(host, host)) for dog, host in attachments))


def next_player(player: int, eliminated: tuple[int, ...]) -> int:
    """Return the next player in turn order who is not eliminated; the survivor when only one is left."""
    for step in range(1, 5):
        following = (player + step) % 4
        if following not in eliminated:
            return following
    raise ValueError("all players are eliminated")


def without_king(position: Position, player: int) -> Position:
    """Return the position of the play phase after ``player`` has resigned or overrun the time (section 7)."""
    king = position.board.find((player + 1) << 4 | KING)
    board = bytearray(position.board)
    board[king] = 0
    eliminated = (*position.eliminated, player)
    side = next_player(player, eliminated) if position.side == player else position.side
    attachments = tuple(pair for pair in position.attachments if king not in pair)
    return Position(bytes(board), side, False, eliminated, attachments, 0)
