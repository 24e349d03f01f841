"""Search terms: the evaluation of a position, the order of moves and the noisy moves for the quiescence search.

Everything is in hundredths of a lone piece. The weights come from games of a two-ply search against itself: castles
change hands often, so that tall towers within reach of castles count for more than a castle held early.
"""

from collections.abc import Iterable, Sequence
from operator import getitem

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

_FIELD = 20
_TOTAL = 4 * _FIELD
_FIELD_BITS = (1 << _FIELD) - 1

_TOWER = (0, 100, 230, 390, 560, 660)
"""A controlled tower, by height: in a tower every piece but the lowest can fall."""
_REACHES_CASTLE = 150
"""A tower that reaches a castle over empty ground, for every such castle; a third of it when one build is missing."""
_CASTLE = (0, 0, 350, 450, 550, 1000)
"""A controlled castle, by height: each piece makes it harder to fall on, and the crown is for good."""
_ENEMY_BELOW_TOP = 40
"""Lost on a castle whose top stands on an enemy piece: it comes back when the castle is pushed."""
_CASTLES_TOGETHER = {2: (0, 0, 150, 900, 9000, 9000), 4: (0, 150, 1200, 9000, 9000, 9000)}
"""On top of the castles themselves, by their number: the last one before the goal decides most games."""
_CROWNS_TOGETHER = {2: (0, 0, 500, 9000, 9000, 9000), 4: (0, 600, 9000, 9000, 9000, 9000)}
_GOAL = {2: (4, 3), 4: (3, 2)}
_MOBILITY = 25
"""A push that could be made."""
_TEMPO = 60
_THREAT_TO_MOVE = (0, 650, 850, 950, 1000, 1050)
"""The castles that the side to move can fall on: it gets one, and the others stay in its reach."""
_THREAT_WAITING = (0, 150, 450, 650, 750, 800)
"""The castles that others can fall on: one threat is easily answered, two hardly."""
_CAN_WIN = 4000
"""The side to move can fall on the castle, or crown the castle, that it lacks."""
_WINS = 1_000_000
_CASTLE_GAIN = 20_000
"""Added where castles change: together they are worth more than each alone."""

_CASTLE_RAYS: tuple[tuple[int, tuple[tuple[int, ...], ...]], ...] = tuple(
    (castle, tuple(RAYS[4 * castle + way][: MAX_HEIGHT - 1] for way in range(4))) for castle in CASTLES
)


def _worth(square: int, tower: int) -> int:
    """Return the worth of ``tower`` in the field of the seat that controls it, and once more in the last field."""
    seat = controller(square, tower)
    if seat < 0:
        return 0
    height = HEIGHT[tower]
    if square in CASTLES:
        worth = _CASTLE[height]
        if height > 2 and pieces_of(tower)[-2] != seat:
            worth -= _ENEMY_BELOW_TOP
    else:
        worth = _TOWER[height]
        for distance in _CASTLE_DISTANCES[square]:
            if height > distance:
                worth += _REACHES_CASTLE
            elif height == distance:
                worth += _REACHES_CASTLE // 3
    return worth << _FIELD * seat | worth << _TOTAL


_CASTLE_DISTANCES: tuple[tuple[int, ...], ...] = tuple(
    tuple(
        distance
        for way in range(4)
        for distance, there in enumerate(RAYS[4 * square + way][: MAX_HEIGHT - 1], start=1)
        if there in CASTLES
    )
    for square in range(len(SQUARES))
)
# Squares as far from as many castles share one table.
_ALIKE = [(square in CASTLES, tuple(sorted(_CASTLE_DISTANCES[square]))) for square in range(len(SQUARES))]
_WORTHS = {
    alike: tuple(_worth(square, tower) for tower in range(len(HEIGHT)))
    for alike, square in dict(zip(_ALIKE, range(len(SQUARES)), strict=True)).items()
}
_WORTH: tuple[tuple[int, ...], ...] = tuple(_WORTHS[alike] for alike in _ALIKE)

_CASTLE_PUSHES = sum(
    1 << FIRST_PUSH + number
    for number, ray in enumerate(RAYS)
    if number // 4 in CASTLES or any(there in CASTLES for there in ray[: MAX_HEIGHT - 1])
)
"""The pushes that may change a castle, as a set of bits."""


def evaluate(position: Position, seat: int) -> int:
    """Return the lead of ``seat`` over the best other seat in an unfinished game, in hundredths of a lone piece."""
    board, features, supplies, side, _ = position
    players = len(supplies)
    worth = sum(map(getitem, _WORTH, board))
    counts = castle_counts(features)
    pushes = possible_pushes(features)
    threats, crown_threats = _threats(board, players)
    together, crowns_together = _CASTLES_TOGETHER[players], _CROWNS_TOGETHER[players]
    views = []
    for player in range(players):
        castles, crowns = counts >> 4 * player & 15, counts >> 16 + 4 * player & 15
        view = worth >> _FIELD * player & _FIELD_BITS
        view += together[castles] + crowns_together[crowns]
        view += _MOBILITY * (pushes & pushers(features, player)).bit_count()
        if player == side:
            view += _TEMPO + _THREAT_TO_MOVE[threats[player]]
            castles_needed, crowns_needed = _GOAL[players]
            if (threats[player] and castles + 1 >= castles_needed) or (
                crown_threats[player] and crowns + 1 >= crowns_needed
            ):
                view += _CAN_WIN
        else:
            view += _THREAT_WAITING[threats[player]]
        views.append(view)
    return views[seat] - max(views[:seat] + views[seat + 1 :])


def _threats(board: tuple[int, ...], players: int) -> tuple[list[int], list[int]]:
    """Return by seat how many castles of others it can fall on in one push, and how many of any it can crown."""
    threats = [0] * players
    crown_threats = [0] * players
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
                # What a push leaves behind on the way: at least one piece, and all that the next tower blocks.
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
    return threats, crown_threats


def gains(position: Position, moves: Iterable[int]) -> list[int]:
    """Return what each move gains at once over the other seats, by towers and castles; wins gain the most."""
    board, _, _, side, _ = position

    def gain(move: int) -> int:
        if move < FIRST_PUSH:
            tower = board[move]
            return _gain(_WORTH[move][with_top(tower, side)] - _WORTH[move][tower], side)
        changed = topple(board, move)
        worth = 0
        for square, tower in changed:
            table = _WORTH[square]
            worth += table[tower] - table[board[square]]
        gained = _gain(worth, side)
        if _CASTLE_PUSHES >> move & 1:
            if _reaches_goal(position, changed):
                return _WINS
            if gained > 0 and any(square in CASTLES for square, _ in changed):
                gained += _CASTLE_GAIN
        return gained

    return [gain(move) for move in moves]


_BIAS = sum(1 << _FIELD * (field + 1) - 1 for field in range(4))


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
    found = [move for move in moves_in(pushes & _CASTLE_PUSHES) if _takes_castle(position, move)]
    opponents = [seat for seat in range(len(supplies)) if seat != side]
    if all(could_lose_all_builds(features, seat, supplies[seat]) for seat in opponents):
        found += [move for move in moves_in(pushes) if move not in found and _leaves_no_moves(position, move)]
    return found


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
