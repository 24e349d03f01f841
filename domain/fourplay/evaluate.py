"""Search terms: the evaluation of a position, the order of moves and the noisy moves for the quiescence search."""

from collections.abc import Iterable, Sequence

from domain.fourplay import draft
from domain.fourplay.board import QUEEN_RAYS, SIDE, SQUARES
from domain.fourplay.moves import DONE, PASS, legal_moves, split_move
from domain.fourplay.outcome import scores_sharing_places
from domain.fourplay.position import ANT, KIND_CODES, KING, NEUTRON, Position
from domain.game import NOISY_GAIN

WORTH = (0, 0, 520, 330, 900, 420, 190, 500, 320, 100, 230, 230)
"""By kind, in hundredths of an Ant: what a piece does on this board (the prices of the set-up are not its strength)."""
_PLACE = 3000
"""What one whole point of the places already settled weighs."""


_CENTRAL = tuple(14 - abs(n // SIDE - 7) - abs(n % SIDE - 7) for n in range(SQUARES))


def evaluate(position: Position, seat: int) -> int:
    """Return the standing of ``seat`` against the best other player still in, in hundredths of an Ant."""
    strength = [0, 0, 0, 0]
    board = position.board
    for square, code in enumerate(board):
        if code and code != NEUTRON:
            kind = code & 15
            if kind == KING:
                strength[(code >> 4) - 1] += _shelter(board, square)
            else:
                strength[(code >> 4) - 1] += WORTH[kind] + _CENTRAL[square]
    scores = scores_sharing_places(position.eliminated)
    total = [
        int(_PLACE * scores[player]) + (0 if player in position.eliminated else strength[player]) for player in range(4)
    ]
    others = [total[player] for player in range(4) if player != seat]
    return total[seat] - max(others) // 2 - sum(others) // 6


def _shelter(board: bytes, king: int) -> int:
    """Return a penalty for every open line that ends at the King: the nearer the cover, the smaller."""
    malus = 0
    for ray in QUEEN_RAYS[king]:
        for distance, square in enumerate(ray):
            if board[square]:
                malus += min(distance, 5)
                break
        else:
            malus += min(len(ray), 5)
    return -4 * malus


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
    if mark in ("x", "*"):
        taken = board[target]
        owner = (taken >> 4) - 1
        frozen = owner in position.eliminated
        value = 100_000 if taken & 15 == KING else WORTH[taken & 15]
        gain = max(gain, NOISY_GAIN) + value // (4 if frozen else 1)
        if mark == "x":
            gain -= WORTH[board[origin] & 15] // 100
    elif mark == "-":
        gain += _CENTRAL[target] - _CENTRAL[origin]
    return gain


_ARMY = ("K", "Q", "R", "R", "A", "Mu", "B", "B", "Dg", "G", "G", "VM", "HM", ",", ",", ",", ",")
"""The order in which the opponents buy their armies: 60 points in all; the King costs nothing."""


def _placing_weight(position: Position, move: str) -> int:
    """Rank placements: the next piece of the army first, near its corner for the King, inwards for the others."""
    if move == DONE:
        return 500
    kind, square = draft.parse_placement(move)
    present = sum(1 for piece in position.board if piece >> 4 == position.side + 1)
    wanted = _ARMY[present] if present < len(_ARMY) else ","
    distance = abs(_CENTRAL[square] - (3 if kind == KING else 9 if kind == ANT else 5))
    return distance + (0 if KIND_CODES[kind] == wanted else 100)


def noisy_moves(position: Position) -> Sequence[str]:
    """Return the captures of pieces that are not frozen."""
    if position.setup:
        return ()
    frozen = position.eliminated
    captures = []
    for move in legal_moves(position):
        if move == PASS:
            continue
        _, mark, target, _ = split_move(move)
        if mark in ("x", "*") and (position.board[target] >> 4) - 1 not in frozen:
            captures.append(move)
    return captures
