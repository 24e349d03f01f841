"""The board as one player sees it, and which squares that player's pieces attack (rules, sections 3, 4 and 6)."""

from collections.abc import Iterable

from domain.fourplay.board import (
    ADJACENT,
    BETWEEN,
    DIAGONAL_STEPS,
    DOG_LEAPS,
    GIRAFFE_LEAPS,
    SIDE,
)
from domain.fourplay.position import (
    ANT,
    ARCHER,
    BISHOP,
    DOG,
    GIRAFFE,
    HORIZONTAL,
    KING,
    MUTATOR,
    NEUTRON,
    PLAYERS,
    QUEEN,
    ROOK,
    VERTICAL,
    Position,
)

OWN, ENEMY, BLOCK = 1, 2, 3
"""What stands on a square as a player sees it: an own piece, an enemy, or the Neutron."""
_LEAPS = {KING: ADJACENT, GIRAFFE: GIRAFFE_LEAPS, ANT: DIAGONAL_STEPS}
_COLUMN, _ROW, _DIAGONAL = 1, 2, 4
_WAYS = {ROOK: 3, BISHOP: 4, VERTICAL: 1, HORIZONTAL: 2, QUEEN: 7, ARCHER: 7}
"""By kind: the sorts of lines along which it captures."""


def _view(player: int) -> bytes:
    view = bytearray(256)
    for owner in range(4):
        for kind in range(1, 12):
            view[(owner + 1) << 4 | kind] = OWN if owner == player else ENEMY
    view[NEUTRON] = BLOCK
    return bytes(view)


_VIEWS = tuple(_view(player) for player in range(4))
"""By player: what stands on a square as that player sees it. Frozen pieces are enemies (section 1)."""


class Sight:
    """The board as one player sees it when it is his turn: all that the moves of a single piece depend on."""

    board: bytes
    view: bytes
    player: int
    hosts: dict[int, int]

    def __init__(self, position: Position, player: int) -> None:
        self.board = position.board
        self.view = position.board.translate(_VIEWS[player])
        self.player = player
        self.hosts = dict(position.dogs)


def own_squares(sight: Sight) -> list[int]:
    """Return the squares of the player's pieces."""
    squares = []
    square = sight.view.find(OWN)
    while square >= 0:
        squares.append(square)
        square = sight.view.find(OWN, square + 1)
    return squares


def attacks(sight: Sight, square: int, target: int) -> bool:
    """Tell whether the player's piece on ``square`` could capture an enemy on ``target`` by a move or a shot."""
    kind = sight.board[square] & 15
    if kind != MUTATOR:
        return _reaches(sight, square, square, kind, target)
    return any(
        _reaches(sight, square, neighbour, sight.board[neighbour] & 15, target)
        for neighbour in ADJACENT[square]
        if sight.view[neighbour] in (OWN, ENEMY)
    )


def _reaches(sight: Sight, square: int, model: int, kind: int, target: int) -> bool:
    """Tell whether a piece on ``square`` could capture on ``target`` as the piece of ``kind`` on ``model`` does."""
    leaps = _LEAPS.get(kind)
    if leaps is not None:
        return target in leaps[square]
    if kind == DOG:
        host = sight.hosts.get(model)
        return host is not None and target in DOG_LEAPS[host]
    between = BETWEEN.get((square, target))
    if between is None or kind == MUTATOR:
        return False
    way = _COLUMN if square // SIDE == target // SIDE else _ROW if square % SIDE == target % SIDE else _DIAGONAL
    if not _WAYS[kind] & way or (kind == ARCHER and len(between) >= (3 if way == _DIAGONAL else 4)):
        return False
    return sum(1 for passed in between if sight.view[passed]) <= (1 if kind == QUEEN else 0)


def in_check(position: Position, player: int) -> bool:
    """Tell whether another player, not eliminated, could capture the King of ``player`` if it were his turn now."""
    return any(
        threatened(position, other, (player,))
        for other in range(len(PLAYERS))
        if other != player and other not in position.out
    )


def threatened(position: Position, player: int, others: Iterable[int]) -> list[int]:
    """Return those of ``others`` whose King ``player`` could capture if it were his turn now."""
    sight = Sight(position, player)
    squares = own_squares(sight)
    kings = {other: king_of(position, other) for other in others if other != player and other not in position.out}
    return [other for other, king in kings.items() if any(attacks(sight, square, king) for square in squares)]


def checked(position: Position) -> list[int]:
    """Return the players whose King is in check."""
    safe = set() if position.setup else set(range(len(PLAYERS))).difference(position.out)
    players = sorted(safe)
    for player in players:
        safe.difference_update(threatened(position, player, safe))
    return [player for player in players if player not in safe]


def king_of(position: Position, player: int) -> int:
    """Return the square of the King of a ``player`` who is not eliminated."""
    return position.board.index((player + 1) << 4 | KING)
