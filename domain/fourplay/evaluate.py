"""Search terms: the evaluation of a position, the order of moves and the noisy moves for the quiescence search."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final

from domain.fourplay import draft, weights
from domain.fourplay.army import best_purchase, counts_of
from domain.fourplay.attacks import PlayerView, attacks, own_squares
from domain.fourplay.board import GIRAFFE_LEAPS, QUEEN_RAYS, SIDE, SQUARES
from domain.fourplay.moves import DONE, PASS, legal_moves, split_move
from domain.fourplay.outcome import scores_sharing_places
from domain.fourplay.position import (
    ANT,
    ARCHER,
    BISHOP,
    GIRAFFE,
    HORIZONTAL,
    KING,
    NEUTRON,
    QUEEN,
    ROOK,
    VALUES,
    VERTICAL,
    Position,
)
from domain.fourplay.weights import CENTRE, KING_ATTACKED, OPEN_LINE, PLACE
from domain.game import NOISY_GAIN

WORTH: Final = (
    *(0, 0, weights.ARCHER, weights.DOG, weights.QUEEN, weights.MUTATOR, weights.GIRAFFE, weights.ROOK),
    *(weights.BISHOP, weights.ANT, weights.VERTICAL, weights.HORIZONTAL),
)
"""By kind, in hundredths of an Ant."""
LEADER: Final = 50
"""How much, in hundredths, the standing of the best other seat counts against a seat: it is held back the more."""
OTHERS: Final = 50
"""How much, in hundredths, the average standing of the other seats counts against a seat."""
_CENTRAL: Final = tuple(14 - abs(n // SIDE - 7) - abs(n % SIDE - 7) for n in range(SQUARES))


_FIELD: Final = 16
_FIELD_BITS: Final = (1 << _FIELD) - 1


def evaluate(position: Position, seat: int) -> int:
    """Return the standing of ``seat`` against the best other player still in, in hundredths of an Ant."""
    board, side, eliminated = position.board, position.side, position.eliminated
    strength = 0
    for column in range(SIDE):
        strength += _column(column, board[SIDE * column : SIDE * column + SIDE])
    scores = scores_sharing_places(eliminated)
    total = []
    for player in range(4):
        standing = int(PLACE * scores[player])
        if player not in eliminated:
            standing += strength >> _FIELD * player & _FIELD_BITS
            king = board.find((player + 1) << 4 | KING)
            if king >= 0:
                standing += _safety(board, king, player, player == side, eliminated)
            # An army is worth the best one it can grow into, so that the first piece is bought with a view to the last.
            if position.setup and player >= side:
                standing += best_purchase(counts_of(board, player), WORTH)[0]
        total.append(standing)
    others = [total[player] for player in range(4) if player != seat]
    return total[seat] - LEADER * max(others) // 100 - OTHERS * sum(others) // 300


@lru_cache(maxsize=1 << 15)
def _column(column: int, codes: bytes) -> int:
    """Return the worth of the pieces on a column of the board, Kings excepted, in a field for each player.

    A move changes one or two columns of the board: the others are looked up.
    """
    worth = 0
    for square, code in enumerate(codes, SIDE * column):
        kind = code & 15
        if code and code != NEUTRON and kind != KING:
            worth += WORTH[kind] + CENTRE * _CENTRAL[square] << _FIELD * ((code >> 4) - 1)
    return worth


def _king_lines(king: int) -> tuple[tuple[tuple[int, ...], int, int], ...]:
    """Return the lines that end at a King: squares, the kinds that capture along them, the reach of an Archer."""
    lines = []
    for ray in QUEEN_RAYS[king]:
        step = abs(ray[0] - king)
        kinds = 1 << QUEEN | (1 << ROOK | 1 << VERTICAL if step == 1 else 1 << ROOK | 1 << HORIZONTAL)
        if step not in (1, SIDE):
            kinds = 1 << QUEEN | 1 << BISHOP
        lines.append((ray, kinds, 4 if step in (1, SIDE) else 3))
    return tuple(lines)


_KING_LINES: Final = tuple(map(_king_lines, range(SQUARES)))


def _safety(board: bytes, king: int, player: int, has_move: bool, eliminated: tuple[int, ...]) -> int:
    """Return the worth of the cover of a King, the nearer the better, and of being attacked.

    The attacks of Dogs, Mutators, Ants and Kings, and those of Queens over a piece, are disregarded.
    """
    open_squares = 0
    is_attacked = False
    for ray, kinds, archer_reach in _KING_LINES[king]:
        for distance, square in enumerate(ray):
            code = board[square]
            if code:
                open_squares += min(distance, 5)
                owner = (code >> 4) - 1
                if owner >= 0 and owner != player and owner not in eliminated:
                    kind = code & 15
                    if kinds >> kind & 1 or (kind == ARCHER and distance < archer_reach):
                        is_attacked = True
                break
        else:
            open_squares += min(len(ray), 5)
    if not is_attacked:
        for square in GIRAFFE_LEAPS[king]:
            code = board[square]
            owner = (code >> 4) - 1
            if code & 15 == GIRAFFE and owner != player and owner not in eliminated:
                is_attacked = True
    worth = OPEN_LINE * open_squares
    return worth + KING_ATTACKED[0 if has_move else 1] if is_attacked else worth


def gains(position: Position, moves: Iterable[str]) -> list[int]:
    """Return weights: captures of valuable pieces by cheap ones first, then promotions, the rest towards the centre."""
    if position.setup:
        return [-_placing_weight(position, move) for move in moves]
    return [_gain(position, move) for move in moves]


def _gain(position: Position, move: str) -> int:
    if move == PASS:
        return 0
    origin, mark, target, promotion = split_move(move)
    board = position.board
    gain = NOISY_GAIN + WORTH[promotion] if promotion else 0
    taken = board[target]
    # Nobody gains by the pieces of a player who is out.
    if mark in ("x", "*") and (taken >> 4) - 1 not in position.eliminated:
        value = 100_000 if taken & 15 == KING else WORTH[taken & 15]
        gain = max(gain, NOISY_GAIN) + value
        if mark == "x":
            gain -= WORTH[board[origin] & 15] // 10
    elif mark in ("-", "x"):
        gain += _CENTRAL[target] - _CENTRAL[origin]
    return gain


def _placing_weight(position: Position, move: str) -> int:
    """Rank placements: pieces of the best army first, dear ones before, near its corner for the King."""
    if move == DONE:
        return 500
    kind, square = draft.parse_placement(move)
    wanted = best_purchase(counts_of(position.board, position.side), WORTH)[1]
    distance = abs(_CENTRAL[square] - (3 if kind == KING else 9 if kind == ANT else 5))
    return distance + (0 if kind == KING or wanted[kind] else 200) - VALUES[kind]


def expected_move(position: Position, moves: Sequence[str], gains: Sequence[int]) -> str:
    """Return the capture that gains most and loses nothing of more worth, else the most promising quiet move."""
    best, expected = -1, ""
    quiet_gain, quiet = -NOISY_GAIN, moves[0]
    for move, gain in zip(moves, gains, strict=True):
        if gain < NOISY_GAIN:
            if gain > quiet_gain:
                quiet_gain, quiet = gain, move
        elif gain > best and not _loses_more(position, move):
            best, expected = gain, move
    return expected or quiet


def _loses_more(position: Position, capture: str) -> bool:
    """Return whether the piece that captures is worth more than the captured one and can be captured in turn."""
    board = position.board
    origin, mark, target, _ = split_move(capture)
    own, taken = board[origin] & 15, board[target] & 15
    if mark != "x" or taken == KING or (own != KING and WORTH[own] <= WORTH[taken]):
        return False
    return any(
        attacks(player_view, square, target)
        for player in range(4)
        if player != position.side and player not in position.eliminated
        for player_view in (PlayerView(position, player),)
        for square in own_squares(player_view)
        if square != target
    )


def noisy_moves(position: Position) -> Sequence[str]:
    """Return the captures of pieces that are not frozen."""
    if position.setup:
        return ()
    captures = [move for move in legal_moves(position) if "x" in move or "*" in move]
    frozen = position.eliminated
    if not frozen:
        return captures
    return [move for move in captures if (position.board[split_move(move)[2]] >> 4) - 1 not in frozen]
