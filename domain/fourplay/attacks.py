"""The board from the side of one player, and the attacks of that player's pieces (rules, sections 3, 4 and 6)."""

from collections.abc import Iterable
from typing import Final

from domain.fourplay.board import ADJACENT, BETWEEN, DIAGONAL_STEPS, DOG_LEAPS, GIRAFFE_LEAPS, SIDE
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

OWN: Final = 1
ENEMY: Final = 2
BLOCK: Final = 3
"""The occupant of a square as a player sees it: an own piece, an enemy, or the Neutron."""
_LEAPS: Final = {KING: ADJACENT, GIRAFFE: GIRAFFE_LEAPS, ANT: DIAGONAL_STEPS}
_COLUMN: Final = 1
_ROW: Final = 2
_DIAGONAL: Final = 4
_LINES_OF: Final = {ROOK: 3, BISHOP: 4, VERTICAL: 1, HORIZONTAL: 2, QUEEN: 7, ARCHER: 7}
"""By kind: the sorts of lines along which it captures."""


def _occupants_seen_by(player: int) -> bytes:
    occupants = bytearray(256)
    for owner in range(4):
        for kind in range(1, 12):
            occupants[(owner + 1) << 4 | kind] = OWN if owner == player else ENEMY
    occupants[NEUTRON] = BLOCK
    return bytes(occupants)


_OCCUPANTS: Final = tuple(_occupants_seen_by(player) for player in range(4))
"""By player: the occupant of a square as that player sees it. Frozen pieces are enemies (section 1)."""


class PlayerView:
    """The board from the side of one player: all that the moves of a single piece of that player depend on."""

    board: bytes
    occupants: bytes
    player: int
    hosts: dict[int, int]

    def __init__(self, position: Position, player: int) -> None:
        self.board = position.board
        self.occupants = position.board.translate(_OCCUPANTS[player])
        self.player = player
        self.hosts = dict(position.attachments)


def own_squares(player_view: PlayerView) -> list[int]:
    """Return the squares of the player's pieces."""
    squares = []
    square = player_view.occupants.find(OWN)
    while square >= 0:
        squares.append(square)
        square = player_view.occupants.find(OWN, square + 1)
    return squares


def attacks(player_view: PlayerView, square: int, target: int) -> bool:
    """Return whether the player's piece on ``square`` could capture an enemy on ``target`` by a move or a shot."""
    kind = player_view.board[square] & 15
    if kind != MUTATOR:
        return _reaches(player_view, square, square, kind, target)
    return any(
        _reaches(player_view, square, neighbour, player_view.board[neighbour] & 15, target)
        for neighbour in ADJACENT[square]
        if player_view.occupants[neighbour] in (OWN, ENEMY)
    )


def _reaches(player_view: PlayerView, square: int, model: int, kind: int, target: int) -> bool:
    """Return whether a piece on ``square`` could capture on ``target`` as the piece of ``kind`` on ``model`` does."""
    leaps = _LEAPS.get(kind)
    if leaps is not None:
        return target in leaps[square]
    if kind == DOG:
        host = player_view.hosts.get(model)
        return host is not None and target in DOG_LEAPS[host]
    between = BETWEEN.get((square, target))
    if between is None or kind == MUTATOR:
        return False
    direction = _COLUMN if square // SIDE == target // SIDE else _ROW if square % SIDE == target % SIDE else _DIAGONAL
    if not _LINES_OF[kind] & direction or (kind == ARCHER and len(between) >= (3 if direction == _DIAGONAL else 4)):
        return False
    return sum(1 for passed in between if player_view.occupants[passed]) <= (1 if kind == QUEEN else 0)


def in_check(position: Position, player: int) -> bool:
    """Return whether another player, not eliminated, could capture the King of ``player`` if it were to move."""
    return any(
        threatened_players(position, other, (player,))
        for other in range(len(PLAYERS))
        if other != player and other not in position.eliminated
    )


def threatened_players(position: Position, player: int, others: Iterable[int]) -> list[int]:
    """Return those of ``others`` whose King ``player`` could capture if ``player`` were to move."""
    player_view = PlayerView(position, player)
    squares = own_squares(player_view)
    kings = {
        other: king_of(position, other) for other in others if other != player and other not in position.eliminated
    }
    return [other for other, king in kings.items() if any(attacks(player_view, square, king) for square in squares)]


def players_in_check(position: Position) -> list[int]:
    """Return the players whose King is in check."""
    safe = set() if position.setup else set(range(len(PLAYERS))).difference(position.eliminated)
    players = sorted(safe)
    for player in players:
        safe.difference_update(threatened_players(position, player, safe))
    return [player for player in players if player not in safe]


def king_of(position: Position, player: int) -> int:
    """Return the square of the King of ``player``, who must not be eliminated."""
    return position.board.index((player + 1) << 4 | KING)
