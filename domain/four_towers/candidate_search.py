"""Rearrangements and multi-moves that deserve a search: a promising few of very many.

Both are put together step by step. After every step only the few best are taken further (beam search): those that bring
pieces to better squares, out of reach of the enemy, or with check.
"""

from collections.abc import Iterator, Sequence
from math import isqrt

from domain.four_towers.attacks import BLACK, DRAGON, PAWN, WIZARD, in_check
from domain.four_towers.board import ARENAS, PAWN_CAPTURES
from domain.four_towers.compound_moves import (
    MOST_COMPONENTS,
    Line,
    TrialsExceededError,
    arenas_under,
    canonical,
    components_from,
    is_solution,
    rearrangement_fault,
)
from domain.four_towers.evaluate import PLACED, VALUES
from domain.four_towers.legal_moves import Turn
from domain.four_towers.moves import (
    CAPTURE,
    PLAIN,
    PROMOTED,
    Move,
    Rearrangement,
    head_of,
    rearranged,
    target_of,
)
from domain.four_towers.outcome import checked, unlisted_move
from domain.four_towers.position import NEVER, Position, occupied_by, sets_of

EXCHANGES = 2
"""Exchanges of squares by which a rearrangement is looked for."""
CHECK = 120
"""What a check is worth, in hundredths of a pawn, when moves are compared before any search."""
TRIALS = 300
"""Components that are tried to find an answer to a check."""


def candidates(position: Position, most: int) -> list[Move]:
    """Return at most ``most`` legal rearrangements and multi-moves, the most promising first."""
    if not arenas_under(position, WIZARD) and not arenas_under(position, DRAGON):
        return []
    sight = _Sight(position)
    breadth = isqrt(most) + 1
    weighed: list[tuple[int, Rearrangement | Line]] = [
        *_rearrangements(position, sight, breadth),
        *_multi_moves(position, sight, breadth),
    ]
    weighed.sort(key=lambda one: -one[0])
    found: dict[Move, None] = {}
    if checked(position):
        # The gains say nothing of how the check could be met.
        try:
            answer = unlisted_move(position, TRIALS)
        except TrialsExceededError:
            answer = None
        if answer is not None:
            found[answer] = None
    for _, move in weighed:
        if len(found) >= most:
            break
        if isinstance(move, Rearrangement):
            if rearrangement_fault(position, move) is None:
                found[move] = None
        elif is_solution(position, move):
            found[canonical(position, move.components)] = None
    return list(found)


class _Sight:
    """What the side to move can tell at a glance: squares that the enemy attacks, and what pieces are worth where."""

    def __init__(self, position: Position) -> None:
        self.side = position.side
        self.sign = 1 - 2 * position.side
        self.attacked = _attacked(position)

    def worth(self, code: int, square: int) -> int:
        """Return what the own piece ``code`` is worth on ``square``; half of it where the enemy attacks it."""
        fear = VALUES[code & 15] // 2 if self.attacked >> square & 1 else 0
        return self.sign * PLACED[code][square] - fear

    def step(self, board: Position, move: int) -> int:
        """Return what a plain move gains on ``board``."""
        origin, target = head_of(move).origin, target_of(move)
        code = board.board[origin]
        landing = code & BLACK | PROMOTED[move & 15] if move & 15 else code
        return self.worth(landing, target) - self.worth(code, origin)

    def check(self, board: Position, memory: int) -> int:
        """Return the worth of a check if the enemy is in check on ``board`` after moves that leave ``memory``."""
        imitated = (memory or board.memories[self.side]) | board.memories[1 - self.side]
        occupied = occupied_by(board.men, 0) | occupied_by(board.men, 1)
        return CHECK if in_check(board.men, 1 - self.side, imitated, occupied) else 0


def _attacked(position: Position) -> int:
    """Return the squares where the enemy could capture a piece, were it to move now."""
    enemy = Turn(position._replace(side=1 - position.side, passed=(), returning=NEVER), pseudo_legal=True)
    attacked = 0
    for move in enemy.moves():
        head = head_of(move)
        kind = head.part or position.board[head.origin] & 15
        if head.mark == CAPTURE or (head.mark == PLAIN and kind != PAWN):
            attacked |= 1 << target_of(move)
    for square, code in enumerate(position.board):
        if code == enemy.side * BLACK + PAWN:
            for target in PAWN_CAPTURES[enemy.side][square]:
                attacked |= 1 << target
    return attacked


def _rearrangements(position: Position, sight: _Sight, breadth: int) -> Iterator[tuple[int, Rearrangement]]:
    """Yield placements that one exchange leads to, and the best of these another one, with what they gain."""
    side = position.side
    for arena in sorted({arena for arenas in arenas_under(position, WIZARD) for arena in arenas}):
        present = [position.board[square] for square in ARENAS[arena]]
        free = [not code or code >> 4 == side for code in present]
        start = bytes(code if own else 0 for code, own in zip(present, free, strict=True))
        gains = {start: 0}
        lines = [start]
        for _ in range(EXCHANGES):
            following = []
            for placement in lines:
                for exchanged, gain in _exchanges(sight, arena, free, placement):
                    if exchanged not in gains:
                        gains[exchanged] = gains[placement] + gain
                        following.append(exchanged)
            lines = sorted(following, key=lambda placement: -gains[placement])[:breadth]
        del gains[start]
        for placement, gain in gains.items():
            move = Rearrangement(arena, placement)
            board = rearranged(position.board, side, move)
            yield gain + sight.check(position._replace(board=board, men=sets_of(board)), 0), move


def _exchanges(sight: _Sight, arena: int, free: Sequence[bool], placement: bytes) -> Iterator[tuple[bytes, int]]:
    """Yield the placements in which one piece stands elsewhere or two have changed places, and what that gains."""
    squares = ARENAS[arena]
    for here, code in enumerate(placement):
        for there, other in enumerate(placement):
            if not code or code == other or not free[there] or (other and there < here):
                continue
            exchanged = bytearray(placement)
            exchanged[here], exchanged[there] = other, code
            gain = sight.worth(code, squares[there]) - sight.worth(code, squares[here])
            if other:
                gain += sight.worth(other, squares[here]) - sight.worth(other, squares[there])
            yield bytes(exchanged), gain


def _multi_moves(position: Position, sight: _Sight, breadth: int) -> Iterator[tuple[int, Line]]:
    """Yield sequences of components that begin with the best ones, and what they gain."""
    for zone in arenas_under(position, DRAGON):
        lines = [(0, Line(position, zone, (), 0))]
        for number in range(1, MOST_COMPONENTS + 1):
            following: dict[tuple[bytes, tuple[int, ...]], tuple[int, Line]] = {}
            extended = 0
            for gained, line in lines:
                steps = list(components_from(Turn(line.board), line.arenas))
                for arena, move in steps:
                    longer = line.then(arena, move)
                    gain = gained + sight.step(line.board, move)
                    following.setdefault((longer.board.board, longer.arenas), (gain, longer))
                extended += bool(steps)
                if extended == breadth:
                    break
            if number > 1:
                for gain, line in following.values():
                    yield gain + sight.check(line.board, line.memory), line
            lines = sorted(following.values(), key=lambda weighed: -weighed[0])
