"""Search terms: the evaluation of a position, the order of moves and the noisy moves for the quiescence search.

Everything is in hundredths of a lone piece; ``weights`` has the features.
"""

from collections.abc import Iterable, Sequence
from operator import getitem
from typing import Final

from domain.towers.board import CASTLES, HEIGHT, MAX_HEIGHT, RAYS, SQUARES, controller, pieces_of, with_top
from domain.towers.features import (
    FEATURES,
    FIRST_PUSH,
    can_act,
    castle_counts,
    could_lose_all_builds,
    goals_reached_by,
    possible_pushes,
    pushers,
)
from domain.towers.moves import action_set, moves_in, play, topple
from domain.towers.position import Position
from domain.towers.weights import (
    CAN_WIN,
    CASTLE,
    CASTLES_OF_FOUR,
    CASTLES_OF_TWO,
    CROWNS_OF_FOUR,
    CROWNS_OF_TWO,
    ENEMY_BELOW_TOP,
    FADING_PUSHES,
    MOBILITY,
    REACHES_CASTLE,
    RETAKEN,
    SUPPLY,
    THREAT_TO_MOVE,
    THREAT_WAITING,
    TOWER,
    TURN,
)

_FIELD: Final = 20
_TOTAL: Final = 4 * _FIELD
_FIELD_BITS: Final = (1 << _FIELD) - 1

CASTLES_TOGETHER: Final = {2: CASTLES_OF_TWO, 4: CASTLES_OF_FOUR}
CROWNS_TOGETHER: Final = {2: CROWNS_OF_TWO, 4: CROWNS_OF_FOUR}
GOAL: Final = {2: (4, 3), 4: (3, 2)}
WINS: Final = 1_000_000
CASTLE_GAIN: Final = 20_000
"""Added where castles change: together they are worth more than each alone."""

_CASTLE_RAYS: Final[tuple[tuple[int, tuple[tuple[int, ...], ...]], ...]] = tuple(
    (castle, tuple(RAYS[4 * castle + way][: MAX_HEIGHT - 1] for way in range(4))) for castle in CASTLES
)


def _worth(square: int, tower: int) -> int:
    """Return the worth of ``tower`` in the field of the seat that controls it, and once more in the last field."""
    seat = controller(square, tower)
    if seat < 0:
        return 0
    height = HEIGHT[tower]
    if square in CASTLES:
        worth = CASTLE[height]
        if height > 2 and pieces_of(tower)[-2] != seat:
            worth -= ENEMY_BELOW_TOP
    else:
        worth = TOWER[height]
        for distance in _CASTLE_DISTANCES[square]:
            if height > distance:
                worth += REACHES_CASTLE
            elif height == distance:
                worth += REACHES_CASTLE // 3
    return worth << _FIELD * seat | worth << _TOTAL


_CASTLE_DISTANCES: Final[tuple[tuple[int, ...], ...]] = tuple(
    tuple(
        distance
        for way in range(4)
        for distance, there in enumerate(RAYS[4 * square + way][: MAX_HEIGHT - 1], start=1)
        if there in CASTLES
    )
    for square in range(len(SQUARES))
)
# Squares as far from as many castles share one table.
_ALIKE: Final = [(square in CASTLES, tuple(sorted(_CASTLE_DISTANCES[square]))) for square in range(len(SQUARES))]
_WORTHS: Final = {
    alike: tuple(_worth(square, tower) for tower in range(len(HEIGHT)))
    for alike, square in dict(zip(_ALIKE, range(len(SQUARES)), strict=True)).items()
}
WORTH: Final[tuple[tuple[int, ...], ...]] = tuple(_WORTHS[alike] for alike in _ALIKE)

CASTLE_PUSHES: Final = sum(
    1 << FIRST_PUSH + number
    for number, ray in enumerate(RAYS)
    if number // 4 in CASTLES or any(there in CASTLES for there in ray[: MAX_HEIGHT - 1])
)
"""The pushes that may change a castle, as a set of bits."""


def evaluate(position: Position, seat: int) -> int:
    """Return the lead of ``seat`` over the best other seat in an unfinished game, in hundredths of a lone piece."""
    board, features, supplies, side, pushes_made = position
    players = len(supplies)
    worth = sum(map(getitem, WORTH, board))
    counts = castle_counts(features)
    pushes = possible_pushes(features)
    threats, crown_threats, retaken = _threats(board, players, side)
    together, crowns_together = CASTLES_TOGETHER[players], CROWNS_TOGETHER[players]
    views = []
    for player in range(players):
        castles, crowns = counts >> 4 * player & 15, counts >> 16 + 4 * player & 15
        view = worth >> _FIELD * player & _FIELD_BITS
        view += together[castles] + crowns_together[crowns]
        view += MOBILITY * (pushes & pushers(features, player)).bit_count() + SUPPLY * supplies[player]
        if player == side:
            view += TURN + THREAT_TO_MOVE[threats[player]] + RETAKEN * retaken
            castles_needed, crowns_needed = GOAL[players]
            if (threats[player] and castles + 1 >= castles_needed) or (
                crown_threats[player] and crowns + 1 >= crowns_needed
            ):
                view += CAN_WIN
        else:
            view += THREAT_WAITING[threats[player]]
        views.append(view)
    lead = views[seat] - max(views[:seat] + views[seat + 1 :])
    # Rounded towards zero: the gain of one of two seats is the loss of the other.
    faded = abs(lead) * (FADING_PUSHES - pushes_made) // FADING_PUSHES
    return faded if lead > 0 else -faded


def _threats(board: tuple[int, ...], players: int, side: int) -> tuple[list[int], list[int], int]:
    """Return the castles that can change by one push.

    By seat, how many castles of others it can fall on, and how many of any it can crown; and how many of the castles of
    others that ``side`` can fall on another seat can fall on as well.
    """
    threats = [0] * players
    crown_threats = [0] * players
    retaken = 0
    for castle, rays in _CASTLE_RAYS:
        tower = board[castle]
        castle_height = HEIGHT[tower]
        if castle_height == MAX_HEIGHT:
            continue
        attackers = 0
        for ray in rays:
            ahead = castle_height
            lost = 0
            for square in ray:
                attacker = board[square]
                height = HEIGHT[attacker]
                # The pieces that a push leaves behind on the way: at least one, and all that the next tower blocks.
                if height > ahead + lost:
                    attackers |= 1 << (attacker >> 2 * height - 2 & 3)
                lost += ahead - height if ahead > height else 1
                ahead = height or 1
                if ahead + lost >= MAX_HEIGHT:
                    break
        if attackers:
            owner = tower >> 2 * castle_height - 2 & 3 if castle_height > 1 else -1
            for seat in range(players):
                if attackers >> seat & 1:
                    threats[seat] += seat != owner
                    crown_threats[seat] += castle_height == MAX_HEIGHT - 1
            if attackers >> side & 1 and attackers != 1 << side and owner != side:
                retaken += 1
    return threats, crown_threats, retaken


def gains(position: Position, moves: Iterable[int]) -> list[int]:
    """Return the gain of each move at once over the other seats, by towers and castles; wins gain the most."""
    board, _, _, side, _ = position

    def gain(move: int) -> int:
        if move < FIRST_PUSH:
            tower = board[move]
            return _gain(WORTH[move][with_top(tower, side)] - WORTH[move][tower], side)
        changed = topple(board, move)
        worth = 0
        for square, tower in changed:
            table = WORTH[square]
            worth += table[tower] - table[board[square]]
        gained = _gain(worth, side)
        if CASTLE_PUSHES >> move & 1:
            if _reaches_goal(position, changed):
                return WINS
            if gained > 0 and any(square in CASTLES for square, _ in changed):
                gained += CASTLE_GAIN
        return gained

    return [gain(move) for move in moves]


_BIAS: Final = sum(1 << _FIELD * (field + 1) - 1 for field in range(4))


def _gain(worth: int, side: int) -> int:
    """Return the gain of ``side`` over the others by a change of the packed worth, whose fields may be negative."""
    biased = worth + _BIAS
    own = (biased >> _FIELD * side & _FIELD_BITS) - (1 << _FIELD - 1)
    return 2 * own - (biased >> _TOTAL)


def _reaches_goal(position: Position, changed: list[tuple[int, int]]) -> bool:
    """Return whether the side to move wins by castles with these changes."""
    castles, crowned_castles = goals_reached_by(
        _features_after(position, changed), len(position.supplies), position.side
    )
    return castles or crowned_castles


def _features_after(position: Position, changed: list[tuple[int, int]]) -> int:
    board, features, _, _, _ = position
    for square, tower in changed:
        table = FEATURES[square]
        features += table[tower] - table[board[square]]
    return features


def noisy_moves(position: Position) -> Sequence[int]:
    """Return the pushes that win or take castles from others without loss."""
    _, features, supplies, side, _ = position
    pushes = action_set(position) >> FIRST_PUSH << FIRST_PUSH
    noisy = [move for move in moves_in(pushes & CASTLE_PUSHES) if _takes_castle(position, move)]
    opponents = [seat for seat in range(len(supplies)) if seat != side]
    if all(could_lose_all_builds(features, seat, supplies[seat]) for seat in opponents):
        noisy += [move for move in moves_in(pushes) if move not in noisy and _leaves_no_moves(position, move)]
    return noisy


def _takes_castle(position: Position, push: int) -> bool:
    """Return whether ``push`` wins, or changes the castles of the seats without fewer for the side to move."""
    changed = topple(position.board, push)
    after = _features_after(position, changed)
    old, new = castle_counts(position.features), castle_counts(after)
    shift = 4 * position.side
    if (new ^ old) & 0xFFFF and (new >> shift & 15) >= (old >> shift & 15):
        return True
    return new != old and _reaches_goal(position, changed)


def _leaves_no_moves(position: Position, push: int) -> bool:
    """Return whether no opponent can act after ``push`` (section 7, rule 2)."""
    after = play(position, push)
    return not can_act(after.features, after.side, after.supplies[after.side])
